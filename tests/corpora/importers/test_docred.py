"""DocRED: which entity a document is about, its facts, and where they are mentioned."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from lrlm.corpora.importers import DocRed, SplitPolicy, import_corpus
from lrlm.corpora.importers.docred import _documents_in, parse_document, topic_of
from lrlm.errors import FormatError, InputError
from lrlm.text_files import BadLineError

SENTENCES = [
    ["Ross", "Patterson", "Alger", "(", "1920", ")", "was", " ", "mayor", "of", "Calgary", "."],
    ["Alger", "died", "in", "Calgary", ",", "Canada", "."],
]


def mention(sentence: int, start: int, end: int, name: str = "x") -> dict[str, Any]:
    return {"name": name, "sent_id": sentence, "pos": [start, end], "type": "PER"}


def document(title: str = "Ross Alger", **fields: Any) -> dict[str, Any]:
    return {
        "title": title,
        "sents": SENTENCES,
        "vertexSet": [
            [mention(1, 0, 1), mention(0, 0, 3)],
            [mention(0, 4, 5)],
            [mention(0, 10, 11), mention(1, 3, 4)],
            [mention(1, 5, 6)],
        ],
        "labels": [
            {"h": 0, "t": 1, "r": "P569", "evidence": []},
            {"h": 0, "t": 2, "r": "P39"},
            {"h": 0, "t": 2, "r": "P20"},
            {"h": 2, "t": 3, "r": "P17"},
        ],
        **fields,
    }


def write(folder: Path, **files: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_facts_forms_and_gold_mentions(tmp_path: Path) -> None:
    names = {"P39": ["position held", "of a person"], "P20": "place of death"}
    folder = write(tmp_path / "in", dev=[document()], pid2name=names)
    corpus = import_corpus(tmp_path / "out", DocRed(folder))
    assert corpus.splits == ("valid",)
    found = corpus.document("valid-1")
    assert found.text.startswith("Ross Patterson Alger ( 1920 ) was mayor of Calgary . Alger died")
    assert [(each.type, each.object, each.texts) for each in found.relations] == [
        ("@title", "Ross Alger", ("Ross Patterson Alger", "Alger", "Ross Alger")),
        ("date of birth", "1920", ("1920",)),
        ("place of death", "Calgary", ("Calgary",)),
        ("position held", "Calgary", ("Calgary",)),
    ]
    assert found.gold is not None
    words = found.tokens.words
    assert [(" ".join(words[each.start : each.end]), each.type) for each in found.gold] == [
        ("Ross Patterson Alger", "@title"),
        ("1920", "date of birth"),
        ("Calgary", None),  # two relations lead to it
        ("Alger", "@title"),
        ("Calgary", None),
    ]


def test_without_names_relations_keep_their_ids(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", dev=[document()])
    found = import_corpus(tmp_path / "out", DocRed(folder / "dev.json")).document("valid-1")
    assert [each.type for each in found.relations] == ["@title", "P20", "P39", "P569"]


@pytest.mark.parametrize(
    ("title", "topic"),
    [
        ("Ross Alger", 0),
        ("Alger", 0),
        ("ross patterson álger (mayor)", 0),
        ("Calgary, Alberta", 2),
        ("Canada (country)", 3),
        ("History of Canada", None),
        ("List of mayors", None),
    ],
)
def test_the_topic_is_the_entity_of_the_title(title: str, topic: int | None) -> None:
    assert topic_of(parse_document(document(title))) == topic


def test_documents_without_a_topic_are_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", dev=[document(), document("List of mayors")])
    corpus = import_corpus(tmp_path / "out", DocRed(folder))
    assert corpus.report.left_out["documents whose title names none of their entities"] == 1


def test_splits_share_no_topic(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", train=[document(), document("Canada")], dev=[document()])
    corpus = import_corpus(tmp_path / "out", DocRed(folder))
    assert corpus.report.left_out["articles whose topic is in a later split"] == 1
    assert [each.topic for each in corpus.documents("train")] == ["Canada"]
    again = import_corpus(tmp_path / "b", DocRed(folder, split=SplitPolicy.TOPIC))
    assert sum(again.statistics(split)["documents"] for split in again.splits) == 3


@pytest.mark.parametrize(
    "fields",
    [
        {"title": " "},
        {"title": None},
        {"sents": [["a", 3]]},
        {"vertexSet": [[mention(0, 0, 99)]]},
        {"vertexSet": [[mention(7, 0, 1)]]},
        {"vertexSet": [[]]},
        {"vertexSet": [[mention(0, 7, 8)]]},  # only white space
        {"labels": [{"h": 0, "t": 9, "r": "P1"}]},
        {"labels": [{"h": 0}]},
    ],
)
def test_bad_documents_are_counted(tmp_path: Path, fields: dict[str, Any]) -> None:
    bad = document(**fields)
    with pytest.raises(BadLineError):
        parse_document(bad)
    corpus = import_corpus(
        tmp_path / "out", DocRed(write(tmp_path / "in", dev=[document(), bad])), max_bad=0.5
    )
    assert corpus.report.bad_lines == 1
    assert "dev.json, document 2" in corpus.report.examples[0]


def test_half_characters_are_bad(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", dev=[document(), document("\ud800 Alger")])
    assert import_corpus(tmp_path / "out", DocRed(folder), max_bad=0.5).report.bad_lines == 1


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        DocRed(tmp_path / "none")
    folder = write(tmp_path / "in", readme=[])
    with pytest.raises(FormatError, match=r"holds no train\*\.json"):
        import_corpus(tmp_path / "out", DocRed(folder))
    write(folder, dev={"a": 1})
    with pytest.raises(FormatError, match="expected a list of documents"):
        import_corpus(tmp_path / "out", DocRed(folder))
    (folder / "dev.json").write_text("[{")
    with pytest.raises(FormatError, match="not JSON, or truncated"):
        import_corpus(tmp_path / "out", DocRed(folder))
    write(folder, dev=[document()], dev_revised=[document()])
    with pytest.raises(InputError, match=r"dev\.json or dev_revised\.json"):
        import_corpus(tmp_path / "out", DocRed(folder))
    names = write(tmp_path / "names", pid2name=["a"]) / "pid2name.json"
    with pytest.raises(FormatError, match="names of relations"):
        import_corpus(tmp_path / "out", DocRed(folder / "dev.json", names=names))
    assert not (tmp_path / "out").exists()


def test_documents_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    records = [document(f"Ross Alger {'x' * n * 30_000}") for n in range(8)]
    for encoding, indent in (("utf-8", None), ("utf-8-sig", 1), ("utf-16", 2), ("utf-32", None)):
        path.write_bytes(json.dumps(records, indent=indent).encode(encoding))
        assert list(_documents_in(path)) == records
    for text, items in (("[]", []), (" [ 1 , 23 ] ", [1, 23]), ('["a"]\n', ["a"])):
        path.write_text(text)
        assert list(_documents_in(path)) == items


@pytest.mark.parametrize(
    "text",
    ["", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1}", "[" * 99_999, "[" + "9" * 5000],
)
def test_what_is_not_json_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "train.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"train\.json: (not JSON|nested too deep)"):
        list(_documents_in(path))


def test_a_document_beyond_measure_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.json.gz"
    path.write_bytes(gzip.compress(b"[[" + b"[]," * (2 << 20) + b"1]]", compresslevel=1))
    with pytest.raises(FormatError, match="one document of more than 4 MiB"):
        list(_documents_in(path))


def test_many_mentions_take_no_time() -> None:
    words = ["Ross"] * 20_000
    mentions = [mention(0, n, n + 1) for n in range(20_000)]
    start = time.process_time()
    parsed = parse_document(
        {"title": "Ross " * 20_000, "sents": [words], "vertexSet": [[each] for each in mentions]}
    )
    assert topic_of(parsed) is None
    assert time.process_time() - start < 10
