"""The original WikiFacts: tagged texts, facts of Freebase with compound values, the split."""

import time
from pathlib import Path

import pytest

from lrlm.corpora import LinkedDocument
from lrlm.corpora.importers import WikiFacts, import_corpus
from lrlm.corpora.importers.wikifacts import TaggedMention, parse_facts, plain_text
from lrlm.errors import FormatError, InputError
from lrlm.text_files import BadLineError
from tests.corpora.small_world import digests
from tests.generators.archives import pack, wikifacts


def documents(tmp_path: Path, name: str = "out", **options: bool) -> dict[str, LinkedDocument]:
    archive = pack(tmp_path / "facts.tar.gz", wikifacts())
    corpus = import_corpus(tmp_path / name, WikiFacts(archive, **options))
    return {each.topic: each for split in corpus.splits for each in corpus.documents(split)}


def test_tags_become_mentions() -> None:
    tagged = "@@fred_rogers/f/ns/m.01@@ (born 1928) was a @@host/a/ns/g.2_x@@, not @@ or a@@b."
    text, mentions = plain_text(tagged)
    assert text == "fred rogers (born 1928) was a host, not @@ or a@@b."
    assert mentions == [TaggedMention(0, 11, "m.01", False), TaggedMention(30, 34, "g.2_x", True)]
    assert [text[start:end] for start, end, *_ in mentions] == ["fred rogers", "host"]


def test_compound_values_are_dropped_as_subjects_and_flattened_as_objects() -> None:
    assert list(parse_facts("/ns/m.1\t/ns/a.b\t/ns/m.2")) == [("m.1", "a.b", "m.2", False)]
    assert list(parse_facts("[/ns/m.9 /ns/a.b /ns/m.2] /ns/c /ns/m.3")) == []
    assert list(parse_facts("/ns/m.1 /ns/c [/ns/m.9 /ns/a.b /ns/m.2 /ns/a.c /ns/m.3]")) == [
        ("m.1", "a.b", "m.2", False),
        ("m.1", "a.c", "m.3", False),
    ]
    assert list(parse_facts('/ns/m.1 /ns/born "4 August 1961"@en')) == [
        ("m.1", "born", "4 August 1961", True)
    ]


@pytest.mark.parametrize("line", ["/ns/m.1 /ns/a", "a b c d", "/ns/m.1 /ns/a []", "x y [a b]"])
def test_lines_that_are_no_facts(line: str) -> None:
    with pytest.raises(BadLineError):
        list(parse_facts(line))


def test_an_article_with_its_facts_and_gold_mentions(tmp_path: Path) -> None:
    document = documents(tmp_path)["m.0a1"]
    assert document.id == "1.m.0a1"
    assert document.title == "actor 1"
    assert document.text.startswith("actor 1 (born 4 august 1961) was an american singer. actor 1")
    assert [(each.type, each.texts[0]) for each in document.relations] == [
        ("@title", "actor 1"),
        ("film.performance.character", "hamlet"),
        ("film.performance.film", "the play"),
        ("people.person.date_of_birth", "4 August 1961"),
        ("people.person.profession", "singer"),
        ("people.person.profession", "sailor"),
    ]
    words = document.tokens.words
    assert document.gold is not None
    assert [(" ".join(words[each.start : each.end]), each.type) for each in document.gold] == [
        ("actor 1", "@title"),
        ("singer", "people.person.profession"),
        ("actor 1", "@title"),
        ("hamlet", "film.performance.character"),
        ("the play", "film.performance.film"),
    ]


def test_anchors_are_kept_on_request(tmp_path: Path) -> None:
    document = documents(tmp_path, anchors=True)["m.0a1"]
    assert ("@anchor", "m.09c7w0") in [(each.type, each.object) for each in document.relations]
    assert "@anchor" in [each.type for each in document.gold or ()]


def test_topics_are_split_by_their_id_alone(tmp_path: Path) -> None:
    few = pack(tmp_path / "few.tar", wikifacts(range(300)))
    corpus = import_corpus(tmp_path / "few", WikiFacts(few))
    sizes = [corpus.statistics(split)["documents"] for split in corpus.splits]
    assert sum(sizes) == 300
    assert 215 < sizes[0] < 265
    homes = {each.topic: split for split in corpus.splits for each in corpus.documents(split)}
    more = pack(tmp_path / "more.tar", wikifacts(reversed(range(250, 350))))
    other = import_corpus(tmp_path / "more", WikiFacts(more))
    for split in other.splits:
        for document in other.documents(split):
            assert homes.get(document.topic, split) == split


def test_folder_and_archive_give_the_same(tmp_path: Path) -> None:
    (tmp_path / "unpacked/tagged").mkdir(parents=True)
    files = wikifacts()
    for name, content in files.items():
        (tmp_path / "unpacked" / name).write_bytes(content)
    archive = pack(tmp_path / "a.tar", dict(sorted(files.items())))
    packed = import_corpus(tmp_path / "a", WikiFacts(archive))
    folder = import_corpus(tmp_path / "b", WikiFacts(tmp_path / "unpacked"), workers=1)
    assert digests(packed.folder)["train.parquet"] == digests(folder.folder)["train.parquet"]
    assert folder.manifest["inputs"][0]["files"] == 120


def test_bad_files_are_counted(tmp_path: Path) -> None:
    files = wikifacts()
    files["tagged/900.m.0b.sm"] = b"   "
    files["tagged/901.m.0c.sm"] = b"an article with \xff in it"
    files["tagged/901.m.0c.fb"] = b"not a fact\n/ns/m.0c /ns/a\n"
    files["readme.txt"] = b"hello"
    archive = pack(tmp_path / "a.tar", files)
    corpus = import_corpus(tmp_path / "out", WikiFacts(archive), max_bad=0.1)
    assert corpus.report.bad_lines == 2
    assert "901.m.0c.sm: not UTF-8" in corpus.report.examples[0]
    assert corpus.report.left_out["articles without text"] == 1
    assert corpus.document("901.m.0c").text == "an article with \ufffd in it"
    with pytest.raises(FormatError, match="lines are bad"):
        import_corpus(tmp_path / "other", WikiFacts(archive))


def test_what_is_no_wikifacts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no article that can be used"):
        import_corpus(tmp_path / "out", WikiFacts(pack(tmp_path / "a.tar", {"a.txt": b"x"})))
    with pytest.raises(InputError, match="no such file or folder"):
        WikiFacts(tmp_path / "none")


def test_brackets_without_end_take_no_time() -> None:
    start = time.process_time()
    for line in ("[ " * 500_000, "a b [" + "[ " * 500_000 + "]", 'a b "' + '\\ "' * 300_000):
        with pytest.raises(BadLineError):
            list(parse_facts(line))
    assert time.process_time() - start < 5
