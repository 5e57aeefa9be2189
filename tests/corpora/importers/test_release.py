"""The published archives: what their numbers become, and what is refused."""

import io
import pickle
import pickletools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.release import PickleWriter, Shape, World
from lrlm.corpora import LinkedDocument
from lrlm.corpora.corpus import Corpus
from lrlm.corpora.importers import import_release
from lrlm.errors import FormatError, InputError
from lrlm.features.openke import read_openke
from lrlm.knowledge import TITLE
from lrlm.text import Profile
from tests.corpora.small_world import digests
from tests.generators.archives import (
    ENTITIES,
    TEST,
    TRAIN,
    TRAIN_SPANS,
    contents,
    pack,
    write_release,
)


def run(tmp_path: Path, name: str = "out", source: Path | None = None, **options: Any) -> Corpus:
    source = source or write_release(tmp_path / "release")
    return import_release(tmp_path / name, source, **options)


def mentions(document: LinkedDocument) -> list[tuple[str, str, str]]:
    return [
        (
            " ".join(document.tokens.words[each.start : each.end]),
            document.relations[each.relation].type,
            document.relations[each.relation].texts[each.form],
        )
        for each in document.mentions
    ]


def test_spans_are_kept_as_published_where_they_are_true(tmp_path: Path) -> None:
    corpus = run(tmp_path)
    assert corpus.splits == ("train", "test")
    assert mentions(corpus.document("train-1")) == [
        ("Sorry", TITLE, "Sorry"),
        ("Madonna", "performer", "Madonna"),
        ("Madonna Ciccone", "performer", "Madonna Ciccone"),
        ("Hung Up", "follows", "Hung Up"),
    ]
    assert corpus.report.left_out == {
        "relations without a form": 1,
        "spans of relations that are left out": 2,
        "spans whose tokens are not the form they name": 5,
        "unknown words without a probability": 1,
    }
    assert corpus.manifest["counts"]["left_out"] == corpus.report.left_out


def test_forms_are_cut_as_the_text_is(tmp_path: Path) -> None:
    corpus = run(tmp_path)
    assert corpus.options.profile is Profile.WIKITEXT
    assert mentions(corpus.document("train-2"))[-1] == ("co @-@ pop", "genre", "co-pop")
    source = write_release(tmp_path / "spaces", train=[*TRAIN[:1]], train_span=[*TRAIN_SPANS[:1]])
    assert run(tmp_path, "second", source).options.profile is Profile.SPACES


def test_relations_get_names_and_order(tmp_path: Path) -> None:
    document = run(tmp_path).document("train-1")
    assert [(each.type, each.object) for each in document.relations] == [
        (TITLE, "Q1"),
        ("follows", "entity-4"),
        ("genre", "name:co-pop"),
        ("performer", "entity-3"),
    ]
    assert (document.topic, document.title) == ("Q1", "Sorry")
    assert document.text == " ".join(TRAIN[0][0])
    for word, start, end in zip(
        document.tokens.words, document.tokens.starts, document.tokens.ends, strict=True
    ):
        assert document.text[start:end] == word


def test_anchors_are_kept_on_request(tmp_path: Path) -> None:
    document = run(tmp_path, anchors=True).document("train-1")
    assert ("song", "@anchor", "song") in mentions(document)


def test_equal_facts_become_one(tmp_path: Path) -> None:
    relations = [(0, 3, ["Madonna"]), (0, 3, ["Ciccone", "Madonna"]), (0, -1, ["Madonna"])]
    article = (["Madonna", "Ciccone"], 7, relations)
    spans = [(0, 1, 0, 0, 0), (0, 1, 0, 1, 1), (1, 2, 0, 1, 0), (0, 1, 0, 2, 0)]
    source = write_release(tmp_path / "release", train=[article], train_span=[spans])
    document = run(tmp_path, source=source).document("train-1")
    assert document.topic == "entity-7"
    assert [(each.object, each.texts) for each in document.relations] == [
        ("entity-3", ("Madonna", "Ciccone")),
        ("name:Madonna", ("Madonna",)),
    ]
    assert [tuple(each) for each in document.mentions] == [(0, 1, 0, 0), (0, 1, 1, 0), (1, 2, 0, 1)]


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("protocol", [2, 4])
def test_archive_and_folder_give_the_same(tmp_path: Path, legacy: bool, protocol: int) -> None:
    folder = write_release(tmp_path / "release", legacy=legacy, protocol=protocol)
    archive = pack(tmp_path / "release.tar.bz2", contents(folder, "wikitext/"))
    first, second = run(tmp_path, "a", folder), run(tmp_path, "b", archive)
    files, others = digests(first.folder), digests(second.folder)
    del files["manifest.json"], others["manifest.json"]  # they name different inputs
    assert files == others
    assert "vectors/entity2vec.bin" in files
    assert second.manifest["inputs"][0]["name"] == "release.tar.bz2"
    assert digests(run(tmp_path, "c", archive).folder) == digests(second.folder)


def test_vectors_are_as_training_reads_them(tmp_path: Path) -> None:
    folder = run(tmp_path).folder / "vectors"
    nodes = {"entity-3", "name:co-pop"}
    types = {"performer", "nickname"}
    entities, relations = read_openke(folder, nodes=nodes, types=types, width=5)
    rows = np.arange(ENTITIES * 5, dtype=np.float32).reshape(ENTITIES, 5) / 7
    assert list(entities) == ["entity-3"]
    np.testing.assert_array_equal(entities["entity-3"], rows[3])
    assert list(relations) == ["performer"]


def test_unknown_words_are_kept(tmp_path: Path) -> None:
    table = run(tmp_path).folder / "unknown_words.tsv"
    assert table.read_text() == "Goscinny\t-12.5\nUderzo\t-9.25\n"


def test_topics_of_the_test_are_not_trained_on(tmp_path: Path) -> None:
    source = write_release(
        tmp_path / "release", train=[*TRAIN, *TEST], train_span=[*TRAIN_SPANS, []]
    )
    corpus = run(tmp_path, source=source)
    assert corpus.report.left_out["articles whose topic is in a later split"] == 1
    assert corpus.statistics("train")["documents"] == 2


def test_relation_names_that_are_alike_are_told_apart(tmp_path: Path) -> None:
    source = write_release(tmp_path / "release", rel_names={0: "by", 1: "by", 2: "@title"})
    document = run(tmp_path, source=source).document("train-1")
    assert {each.type for each in document.relations} == {
        TITLE,
        "by (0)",
        "by (1)",
        "@title (2)",
    }


def test_names_are_cleaned(tmp_path: Path) -> None:
    relations = [(-3, -1, ["Sub\u00adtitle"]), (0, -1, ["North\u00a0Holland ", "\u200b"])]
    article = (["Subtitle", "of", "North", "Holland", "Sub\u00adtitle"], "Q1", relations)
    spans = [(0, 1, -3, 0, 0), (2, 4, 0, 1, 0)]
    source = write_release(
        tmp_path / "release",
        rel_names={0: "sub\u00addivisions", 1: "in\u00a0 country"},
        train=[article],
        train_span=[spans],
    )
    document = run(tmp_path, source=source).document("train-1")
    assert document.title == "Subtitle"
    assert [(each.type, each.object, each.texts) for each in document.relations] == [
        (TITLE, "Q1", ("Subtitle",)),
        ("subdivisions", "name:North Holland", ("North Holland",)),
    ]
    assert [tuple(each) for each in document.mentions] == [(0, 1, 0, 0), (2, 4, 1, 0)]


def test_a_span_may_hold_the_form_as_it_was_published(tmp_path: Path) -> None:
    article = (["Sub\u00adtitle"], "Q1", [(-3, -1, ["Sub\u00adtitle"])])
    source = write_release(tmp_path / "r", train=[article], train_span=[[(0, 1, -3, 0, 0)]])
    document = run(tmp_path, source=source).document("train-1")
    assert document.relations[0].forms == (("Sub\u00adtitle",),)
    assert len(document.mentions) == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({0: "by", 7: "\u00ad"}, r"rel_names\.pkl: .* is not a name for the relation 7"),
        ({0: "by", 7: 3}, r"rel_names\.pkl: 3 is not a name for the relation 7"),
        ({7: "a\ud800"}, r"name of the relation 7 holds the lone surrogate U\+D800"),
    ],
)
def test_a_name_that_is_none_is_named(tmp_path: Path, names: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(tmp_path, source=write_release(tmp_path / "release", rel_names=names))


@pytest.mark.parametrize(
    ("article", "reason"),
    [
        ("text", "not a tuple"),
        ((["a"], 1.5, []), "not a tuple"),
        (([], "Q1", []), "tokens"),
        ((["a", 3], "Q1", []), "tokens"),
        ((["a", " "], "Q1", []), "tokens"),
        ((["a\ud800"], "Q1", []), "surrogate"),
        ((["a"], "Q1", [(1, "x", ["a"])]), "relation"),
        ((["a"], "Q1", [(1, 2, [7])]), "relation"),
        ((["a"], " ", []), "topic"),
    ],
)
def test_bad_articles_are_counted(tmp_path: Path, article: Any, reason: str) -> None:
    source = write_release(tmp_path / "r", train=[*TRAIN, article], train_span=[*TRAIN_SPANS, []])
    corpus = run(tmp_path, source=source, max_bad=0.5)
    assert corpus.report.bad_lines == 1
    assert re.search(rf"train\.pkl:3: .*{reason}", corpus.report.examples[0])
    with pytest.raises(FormatError, match=r"1 of 3 lines are bad"):
        run(tmp_path, "other", source)


def test_knowledge_beyond_measure_is_refused(tmp_path: Path) -> None:
    forms = ["a"] * 1100
    article = (["a"], "Q9", [(0, 1, forms)] * 1100)  # small on disk: all are the same list
    source = write_release(tmp_path / "r", train=[*TRAIN, article], train_span=[*TRAIN_SPANS, []])
    corpus = run(tmp_path, source=source, max_bad=0.5)
    assert "more than 1,000,000 forms" in corpus.report.examples[0]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"rel_names": None}, r"holds no rel_names\.pkl"),
        ({"test_span": None}, r"holds no test\.span\.pkl"),
        ({"train": None, "test": None}, "is no release"),
        ({"rel_names": ["a"]}, "which number stands for which relation"),
        ({"train_span": [[]]}, "not of the same length"),
        ({"train": {"a": 1}}, "holds no list"),
        ({"train": [Path("x")]}, "would load pathlib"),
        ({"test": [], "test_span": []}, "no article that can be used"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, files: dict[str, Any], reason: str) -> None:
    source = write_release(tmp_path / "release", **files)
    with pytest.raises(FormatError, match=reason):
        run(tmp_path, source=source)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_class_in_an_archive_is_named_as_the_user_knows_it(tmp_path: Path) -> None:
    files = contents(write_release(tmp_path / "release"))
    files["valid.pkl"] = files["valid.span.pkl"] = pickle.dumps([Path("x")])
    archive = pack(tmp_path / "r.tar.bz2", files)
    with pytest.raises(FormatError, match=r"r\.tar\.bz2: valid\.pkl, byte \d+: the pickle would"):
        run(tmp_path, source=archive)
    assert not (tmp_path / "out").exists()


def test_two_releases_in_one_folder_are_refused(tmp_path: Path) -> None:
    write_release(tmp_path / "both" / "one")
    write_release(tmp_path / "both" / "two")
    with pytest.raises(FormatError, match="more than one"):
        run(tmp_path, source=tmp_path / "both")


def test_the_first_articles_can_be_taken(tmp_path: Path) -> None:
    assert run(tmp_path, limit=1).statistics("train")["documents"] == 1


DOUBLED = b")" + b"q\x00h\x00\x86" * 34


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rel_names.pkl", b"}K\x07" + DOUBLED + b"s."),
        ("rel_names.pkl", b"}" + DOUBLED + b"K\x07s."),
        ("rel_names.pkl", b"}K\x07]" + b"q\x00]h\x00a" * 90 + b"s."),
        ("rel_names.pkl", b"}\x8a\xff" + b"\x7f" * 255 + b"\x8c\x01as."),
        ("train.pkl", b"](" + DOUBLED + b"e."),
        ("train.pkl", b"](I" + b"9" * 5000 + b"\ne."),
        ("train.span.pkl", b"](" + b")" + b"\x85" * 100_000 + b"e."),
    ],
)
def test_small_files_that_stand_for_much_are_refused(
    tmp_path: Path, name: str, content: bytes
) -> None:
    source = write_release(tmp_path / "release")
    (source / name).write_bytes(b"\x80\x04" + content)
    with pytest.raises(FormatError) as caught:
        run(tmp_path, source=source)
    assert name in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_many_long_spans_take_no_time(tmp_path: Path) -> None:
    words = ["a"] * 20_000
    article = (words, "Q1", [(-3, -1, [" ".join(words)])])
    spans = [(0, 20_000, -3, 0, 0)] * 5_000
    source = write_release(tmp_path / "release", train=[article], train_span=[spans])
    corpus = run(tmp_path, source=source)
    assert corpus.report.left_out["spans whose tokens are not the form they name"] == 5_000


def test_the_benchmark_writes_what_python_pickles() -> None:
    world = World(Shape(3, 1, tokens=1500, relations=30, mentions=5, entities=50, words=200))
    articles = [world.article(number) for number in range(3)]
    written = io.BytesIO()
    writer = PickleWriter(written)
    writer.begin_list()
    writer.begin_batch(len(articles))
    for tokens, topic, relations, _ in articles:
        writer.article(tokens, topic, relations)
    writer.end_batch(len(articles))
    writer.close()
    content = written.getvalue()
    whole = [tuple(article[:3]) for article in articles]
    assert pickle.loads(content) == whole
    # The words of a text that was read are objects of their own, but for single characters.
    apart = [(" ".join(tokens).split(), topic, relations) for tokens, topic, relations in whole]
    theirs = pickle.dumps(apart, protocol=3)
    assert [each.name for each, *_ in pickletools.genops(content)] == [
        each.name for each, *_ in pickletools.genops(theirs)
    ]
