"""Documents through Parquet and back, and folders that are no corpus."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.artifacts import MANIFEST, fingerprint, rewrite_manifests
from lrlm.corpora import (
    GoldMention,
    LetterCase,
    LinkableRelation,
    LinkedDocument,
    LinkOptions,
    Mention,
)
from lrlm.corpora.build import build_from
from lrlm.corpora.columns import SCHEMA, from_table, to_table
from lrlm.corpora.corpus import WORDS, Corpus, CorpusWriter
from lrlm.corpora.statistics import SplitStatistics
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import Relation, Topic
from lrlm.text import Profile, Tokens, tokenise
from tests.corpora import small_world
from tests.corpora.small_world import TEST, TRAIN

OPTIONS = LinkOptions(Profile.RAW, LetterCase.VARIANTS, stop_words=True)


def document(article: str = "sorry", text: str = "Madonna sang Sorry.") -> LinkedDocument:
    return LinkedDocument(
        id=article,
        topic="Q1",
        title="Sorry (song)",
        text=text,
        tokens=tokenise(text),
        relations=(
            LinkableRelation("@title", "Q1", (("Sorry",),), ("Sorry",)),
            LinkableRelation(
                "performer", "Q2", (("Madonna",), ("Madonna", "C.")), ("Madonna", "Madonna C.")
            ),
        ),
        mentions=(Mention(0, 1, 1, 0), Mention(2, 3, 0, 0)),
        gold=(GoldMention(0, 1, "performer", "Q2"), GoldMention(2, 3, None, None)),
    )


BARE = LinkedDocument("b", "b", "B", "?", Tokens(["?"], [0], [1]), (), ())


def write(folder: Path, **splits: list[LinkedDocument]) -> Corpus:
    with CorpusWriter(folder) as writer:
        for split, documents in splits.items():
            for one in documents:
                writer.add(split, to_table([one]), SplitStatistics.of([one]))
        writer.close(made_by="a test", options=OPTIONS)
    return Corpus.open(folder)


def test_documents_come_back_as_they_were(tmp_path: Path) -> None:
    train = [document("one"), BARE, document("two", "No Madonna?")]
    corpus = write(tmp_path, train=train, test=[document("three")])
    assert corpus.splits == ("train", "test")
    assert list(corpus.documents("train")) == train
    assert list(corpus.documents("test")) == [document("three")]
    assert corpus.document("three") == document("three")
    assert corpus.document("b") == BARE


def test_options_and_words_come_back(tmp_path: Path) -> None:
    corpus = write(tmp_path, train=[document(), document("again")])
    assert corpus.options == OPTIONS
    assert dict(zip(corpus.words.words, corpus.words.counts, strict=True)) == {
        "Madonna": 2, "sang": 2, "Sorry": 2, ".": 2, "</s>": 2, "<unk>": 0,
    }  # fmt: skip


def test_known_and_unknown_gold_differ(tmp_path: Path) -> None:
    """No mention at all is knowledge; not knowing the mentions is not."""
    empty = LinkedDocument("e", "e", "E", "?", Tokens(["?"], [0], [1]), (), (), gold=())
    read = list(write(tmp_path, train=[empty, BARE]).documents("train"))
    assert [each.gold for each in read] == [(), None]


def test_other_tools_can_read_the_columns(tmp_path: Path) -> None:
    corpus = write(tmp_path, train=[document()])
    table = pq.read_table(corpus.path("train"))
    assert table.schema.equals(SCHEMA)
    assert table["relations"].to_pylist()[0][1]["forms"] == [["Madonna"], ["Madonna", "C."]]


NAME = st.text(max_size=4)
NUMBER = st.integers(0, 2**31 - 1)
NAMES, NUMBERS = st.lists(NAME, max_size=3), st.lists(NUMBER, max_size=3)
RELATION = st.builds(
    LinkableRelation,
    NAME,
    NAME,
    st.lists(NAMES.map(tuple), max_size=3).map(tuple),
    NAMES.map(tuple),
)
DOCUMENT = st.builds(
    LinkedDocument,
    NAME,
    NAME,
    NAME,
    NAME,
    st.builds(Tokens, NAMES, NUMBERS, NUMBERS),
    st.lists(RELATION, max_size=3).map(tuple),
    st.lists(st.builds(Mention, NUMBER, NUMBER, NUMBER, NUMBER), max_size=3).map(tuple),
    st.none()
    | st.lists(
        st.builds(GoldMention, NUMBER, NUMBER, st.none() | NAME, st.none() | NAME), max_size=3
    ).map(tuple),
)


@given(st.lists(DOCUMENT, max_size=3))
def test_every_document_survives_its_columns(documents: list[LinkedDocument]) -> None:
    table = to_table(documents)
    assert table.schema.equals(SCHEMA)
    table.validate(full=True)
    assert list(from_table(table)) == documents


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    corpus = write(tmp_path, train=[document()])
    with pytest.raises(InputError, match="no article 'nobody'"):
        corpus.document("nobody")
    for ask in (corpus.path, corpus.statistics, lambda split: next(corpus.documents(split))):
        with pytest.raises(InputError, match="no split 'dev'; it has: train"):
            ask("dev")


def test_a_folder_without_a_manifest_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="lrlm corpus build"):
        Corpus.open(tmp_path)
    with pytest.raises(FormatError, match="lrlm corpus build"):
        Corpus.open(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "lrlm run"}, "is not an? lrlm corpus"),
        ({"version": 2}, "version 2 of its format, this lrlm reads version 1"),
        ({"splits": None}, "statistics of splits are damaged"),
        ({"options": {}}, "options: the field 'profile' is missing"),
    ],
)
def test_another_manifest_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    write(tmp_path, train=[document()])
    manifest = json.loads((tmp_path / MANIFEST).read_text(encoding="utf-8"))
    (tmp_path / MANIFEST).write_text(json.dumps({**manifest, **change}), encoding="utf-8")
    rewrite_manifests(tmp_path)
    with pytest.raises(FormatError, match=message):
        Corpus.open(tmp_path)


@pytest.mark.parametrize("count", ["-1", "1e999", "0.5", '"1"', "true"])
def test_statistics_are_counts(tmp_path: Path, count: str) -> None:
    write(tmp_path, train=[document()])
    text = (tmp_path / MANIFEST).read_text(encoding="utf-8")
    changed = text.replace('"documents": 1', f'"documents": {count}')
    assert changed != text
    (tmp_path / MANIFEST).write_text(changed, encoding="utf-8")
    rewrite_manifests(tmp_path)
    with pytest.raises(FormatError):
        Corpus.open(tmp_path)


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    corpus = write(tmp_path, train=[document()])
    whole = corpus.path("train").read_bytes()
    corpus.path("train").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"train\.parquet: cannot be read"):
        list(corpus.documents("train"))
    with pytest.raises(FormatError, match=r"train\.parquet: cannot be read"):
        corpus.document("sorry")
    corpus.path("train").unlink()
    with pytest.raises(FormatError, match=r"train\.parquet: cannot be read"):
        list(corpus.documents("train"))
    (tmp_path / "words.json").write_text("{}", encoding="utf-8")
    with pytest.raises(FormatError, match=r"words\.json: cannot be read \(it has 2 bytes, not"):
        _ = corpus.words
    rewrite_manifests(tmp_path)
    corpus = Corpus.open(tmp_path)
    with pytest.raises(FormatError, match=r"words\.json: not a vocabulary"):
        _ = corpus.words


# What a corpus knows


def test_topics_are_found_with_what_was_known(tmp_path: Path) -> None:
    corpus = write(tmp_path, train=[document(), document("again")], test=[BARE])
    song = Topic("Q1", ["Sorry"], [Relation("performer", "Q2", ["Madonna", "Madonna C."])])
    assert corpus.topic("Q1") == song
    assert list(corpus.topics()) == [song, Topic("b", ["B"])]
    with pytest.raises(InputError, match="has no topic 'Q3'; did you mean 'Q1'"):
        corpus.topic("Q3")


def test_distinct_words(tmp_path: Path) -> None:
    corpus = write(tmp_path, train=[document()], test=[BARE])
    assert corpus.distinct_words(["train"]) == {"Madonna", "sang", "Sorry", "."}
    assert corpus.distinct_words() == {"Madonna", "sang", "Sorry", ".", "?"}


def test_splits_can_be_required(tmp_path: Path) -> None:
    corpus = write(tmp_path, train=[document()])
    corpus.require(["train"])
    with pytest.raises(InputError, match="no split 'valid'; it has: train"):
        corpus.require(["train", "valid"])
    (tmp_path / "none").mkdir()
    with CorpusWriter(tmp_path / "none") as writer:
        writer.add("train", to_table([]), SplitStatistics())
        writer.close(made_by="a test", options=OPTIONS)
    with pytest.raises(InputError, match="the split 'train' has no documents"):
        Corpus.open(tmp_path / "none").require(["train"])


def test_a_fingerprint_is_of_the_content_alone(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    one = write(tmp_path / "one", train=[document()])
    two = write(tmp_path / "two", train=[document()])
    other = write(tmp_path / "three", train=[document("other")])
    (tmp_path / "two" / "notes.txt").write_text("mine")
    assert one.fingerprint == two.fingerprint != other.fingerprint


def test_a_corpus_says_what_it_is(tmp_path: Path) -> None:
    corpus = write(tmp_path, train=[document(), BARE], test=[document("three")])
    assert repr(corpus) == f"Corpus({str(tmp_path)!r}, train=2, test=1)"
    assert corpus.report.facts == {"used": 2, "whose_object_has_no_form": 0}


# A corpus that version 0.1 has built

OF_VERSION_0_1 = Path(__file__).parent / "version_0_1"


def test_a_corpus_of_version_0_1_is_what_would_be_built_today(tmp_path: Path) -> None:
    gold = [
        {"start": 4, "end": 9, "object": "Rhine"},
        {"start": 16, "end": 24, "type": "length", "object": "1230 km"},
        {"start": 5, "end": 9},
    ]
    inputs = small_world.write(
        tmp_path / "in", train=[{**TRAIN[0], "gold": gold}, TRAIN[1]], test=TEST
    )
    options = LinkOptions(letter_case=LetterCase.VARIANTS)
    old, new = Corpus.open(OF_VERSION_0_1), build_from(tmp_path / "out", inputs, options=options)
    for split in ("train", "test"):
        assert list(old.documents(split)) == list(new.documents(split))
    assert (new.folder / WORDS).read_bytes() == (OF_VERSION_0_1 / WORDS).read_bytes()
    assert {**new.manifest, "files": None} == {**old.manifest, "files": None}
    assert new._manifest_fingerprint() == fingerprint(OF_VERSION_0_1 / MANIFEST)
    assert old.report == Corpus.open(new.folder).report
    assert old.report.misplaced_gold == 1
    assert old.fingerprint == "016bb0cf17a1805421eca0219fe5d9bc7d86f3654db487ed033483d5fef8a8b3"


def test_other_columns_are_no_corpus(tmp_path: Path) -> None:
    """Version 0.1 kept no checksums: what its files hold must be seen when they are read."""
    shutil.copytree(OF_VERSION_0_1, tmp_path / "corpus")
    path = tmp_path / "corpus" / "test.parquet"
    table = pq.read_table(path)
    corpus = Corpus.open(tmp_path / "corpus")
    pq.write_table(table.rename_columns([*table.column_names[:-1], "golf"]), path)
    for read in (
        lambda: list(corpus.documents("test")),
        lambda: list(corpus.batches("test", ["id"])),
        lambda: corpus.topic("no such topic"),
    ):
        with pytest.raises(FormatError, match=r"test\.parquet: its columns .* build the corpus"):
            read()
    columns = dict(zip(table.column_names, table.columns, strict=True))
    broken = pa.StringArray.from_buffers(
        len(table), *pa.array([b"Osl\xff"] * len(table), pa.binary()).buffers()[1:]
    )
    columns["text"] = broken
    pq.write_table(pa.table(columns, schema=table.schema), path)
    with pytest.raises(FormatError, match=r"test\.parquet: not as it should be, or damaged"):
        list(corpus.documents("test"))
