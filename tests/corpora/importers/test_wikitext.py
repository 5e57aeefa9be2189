"""WikiText-103: cutting it into articles, and finding out what they are about."""

import time
from pathlib import Path
from typing import Any

import pytest

from lrlm.corpora.corpus import Corpus
from lrlm.corpora.importers import WikiText, WikiTextForm, import_corpus
from lrlm.corpora.importers.wikitext import TitleTable, WikiTextArticle, split_articles, text_of
from lrlm.errors import FormatError, InputError
from lrlm.knowledge.build import build_graph
from lrlm.text_files import BadLines
from tests.corpora.small_world import digests

REAL = Path(__file__).parents[4] / "shared/data/wikitext"

TOKENS = """\x20
 = M @-@ 82 ( Michigan highway ) =\x20
\x20
 M @-@ 82 is a highway in <unk> .\x20
 = = a line of this text , not a title = =
 It is 12 @.@ 5 miles long .\x20
\x20
 = = History = =\x20
\x20
 It was built by the <unk> .\x20
 = 12 + 3 =\x20
\x20
 = = = E = m c = = =\x20
\x20
 The end .\x20
\x20
 = E = MC ² =\x20
\x20
 E = MC ² is an album .\x20
\x20
 = <unk> <unk> =\x20
\x20
 Nothing is left of its name .\x20
\x20
 = Frank <unk> =\x20
\x20
 = = Life = =\x20
\x20
 Born in 1914 .\x20
"""
IDS = "M-82 (Michigan highway)\tQ1\nE=MC²\tQ2\nAnna Karenina\tQ3\nFrank Headlam\tQ4\n"
TRIPLES = (
    "Q1\tnameless\tQ6\nQ1\tstate\tQ9\tentity\nQ1\tlength\t12.5 miles\tliteral\n"
    "Q2\tkind\tQ8\nQ7\tx\tQ8\n"
)
FORMS = "Q1\tM-82\nQ9\tMichigan\nQ9\thighway\nQ8\talbum\nQ8\trecord\nQ7\tno article\n"


def write(
    folder: Path, *, tokens: str = TOKENS, ids: str = IDS, name: str = "wiki.valid.tokens"
) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(tokens, encoding="utf-8")
    (folder / "ids.tsv").write_text(ids, encoding="utf-8")
    (folder / "triples.tsv").write_text(TRIPLES, encoding="utf-8")
    (folder / "forms.tsv").write_text(FORMS, encoding="utf-8")
    return folder


def source(folder: Path, **options: Any) -> WikiText:
    tables = {"triples": folder / "triples.tsv", "forms": folder / "forms.tsv"}
    given = (options if "graph" in options else tables | options) | {"ids": folder / "ids.tsv"}
    return WikiText(folder, **given)


def articles(text: str) -> list[WikiTextArticle]:
    return list(split_articles(iter(text.splitlines())))


def test_articles_open_with_their_titles() -> None:
    found = articles(TOKENS)
    assert [each.title for each in found] == [
        "M @-@ 82 ( Michigan highway )",
        "E = MC ²",
        "<unk> <unk>",
        "Frank <unk>",
    ]
    assert [TOKENS.splitlines()[each.line - 1].strip(" =") for each in found] == [
        each.title for each in found
    ]
    assert found[0].lines[-1] == "The end ."
    assert "= 12 + 3 =" in found[0].lines


def test_text_before_the_first_title_and_an_empty_file_have_no_articles() -> None:
    assert articles("") == []
    assert articles(" Only text .\n \n more\n") == []
    assert [each.lines for each in articles(" lost\n \n = A = \n \n kept")] == [["kept"]]


def test_the_short_form_ends_at_the_first_section() -> None:
    article = articles(TOKENS)[0]
    short, full = (text_of(article, form) for form in WikiTextForm)
    assert short == "M @-@ 82 is a highway in <unk> ."  # a heading needs no blank lines around it
    assert full.startswith(short)
    assert "= = History = =" in full
    assert len(full.splitlines()) == 8


def test_titles_with_unknown_words_are_found_where_that_is_certain() -> None:
    table = TitleTable([("Alpha Beta", "1"), ("Gamma Delta", "2"), ("Epsilon", "3"), ("Zeta", "4")])

    def ids(*titles: str) -> list[str | None]:
        return [each and each[1] for each in table.find_all(titles)]

    assert ids("Gamma <unk>", "Epsilon") == ["2", "3"]
    assert ids("<unk> <unk>", "Gamma Delta", "<unk>", "Zeta") == ["1", "2", "3", "4"]  # by order
    assert ids("<unk> <unk>", "<unk>", "Epsilon") == [None, None, "3"]  # not all fit
    assert ids("Zeta", "<unk> <unk>", "Epsilon") == ["4", None, "3"]  # another order
    assert ids("Eta", "<unk> <unk> <unk>") == [None, None]


def test_columns_of_the_table_may_be_swapped(tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("Q12\tAlpha\nBeta\tQ7\nQ8\tQ9\n")
    table = TitleTable.read(tmp_path / "ids", BadLines())
    assert table.find_all(["Alpha", "Beta", "Q8"]) == [
        ("Alpha", "Q12"),
        ("Beta", "Q7"),
        ("Q8", "Q9"),
    ]


def test_a_corpus_of_first_sections(tmp_path: Path) -> None:
    corpus = import_corpus(tmp_path / "out", source(write(tmp_path / "in")))
    assert [(d.title, d.topic) for d in corpus.documents("valid")] == [
        ("M-82 (Michigan highway)", "Q1"),
        ("E=MC²", "Q2"),
        ("Anna Karenina", "Q3"),
    ]
    assert (
        corpus.report.left_out["articles without text"] == 1
    )  # Frank Headlam begins with a section
    first = next(corpus.documents("valid"))
    assert first.tokens.words[:4] == ["M", "@-@", "82", "is"]
    assert "<unk>" in first.tokens.words
    found = {first.relations[each.relation].type for each in first.mentions}
    assert found == {"@title", "state"}
    assert [each.type for each in first.relations] == ["@title", "length", "state"]


def test_a_graph_on_disk_gives_the_same_as_its_tables(tmp_path: Path) -> None:
    folder = write(tmp_path / "in")
    graph = tmp_path / "graph"
    build_graph(graph, [folder / "triples.tsv", folder / "forms.tsv"])
    full = {"form": WikiTextForm.F}
    tables = import_corpus(tmp_path / "a", source(folder, **full))
    stored = import_corpus(tmp_path / "b", source(folder, graph=graph, **full))
    assert digests(stored.folder)["valid.parquet"] == digests(tables.folder)["valid.parquet"]
    assert stored.report.left_out["topics that the graph does not have"] == 2


def test_articles_without_an_id_are_left_out_and_splits_share_no_topic(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", ids=IDS.replace("Anna Karenina\tQ3\n", ""))
    write(
        folder,
        tokens=" \n = E = MC ² = \n \n Again .\n \n = M @-@ 82 = \n \n Yes .\n",
        name="wiki.train.raw",
        ids=IDS.replace("Anna Karenina\tQ3", "M-82\tQ5"),
    )
    corpus = import_corpus(tmp_path / "out", source(folder))
    assert corpus.statistics("train")["documents"] == 1
    assert corpus.report.left_out["articles whose topic is in a later split"] == 1
    assert corpus.report.left_out["articles whose title has no id"] == 1


def test_one_file_alone_is_training_text(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", name="some.txt")
    one = WikiText(folder / "some.txt", folder / "ids.tsv", triples=folder / "triples.tsv",
                   forms=folder / "forms.tsv")  # fmt: skip
    assert import_corpus(tmp_path / "out", one, limit=2).splits == ("train",)
    assert Corpus.open(tmp_path / "out").statistics("train")["documents"] == 2


def test_broken_characters_are_reported_with_their_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "in")
    path = folder / "wiki.valid.tokens"
    path.write_bytes(path.read_bytes().replace(b"12 @.@ 5", b"12 \xff 5"))
    with pytest.raises(FormatError, match=r":6: not UTF-8"):
        import_corpus(tmp_path / "out", source(folder))
    corpus = import_corpus(tmp_path / "out", source(folder), max_bad=0.5)
    assert corpus.report.bad_lines == 1


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "in")
    with pytest.raises(InputError, match="a graph is needed"):
        WikiText(folder, folder / "ids.tsv")
    with pytest.raises(InputError, match="a graph is needed"):
        WikiText(folder, folder / "ids.tsv", triples=folder / "triples.tsv")
    with pytest.raises(InputError, match="no such file"):
        WikiText(folder, folder / "none.tsv", graph=folder)
    (folder / "wiki.valid.raw").touch()
    with pytest.raises(InputError, match=r"wiki\.valid\.raw and wiki\.valid\.tokens"):
        import_corpus(tmp_path / "out", source(folder))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match=r"holds no wiki\.train\.raw"):
        _ = source(write(tmp_path / "other", name="readme.txt")).files


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.exists(), reason="../shared/data/wikitext is not there")
def test_the_sixty_validation_articles(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", name="unused.txt")
    real = WikiText(REAL, REAL / "valid.ids.txt", triples=folder / "triples.tsv",
                    forms=folder / "forms.tsv")  # fmt: skip
    corpus = import_corpus(tmp_path / "out", real, max_unknown=1)
    lines = (REAL / "valid.ids.txt").read_text(encoding="utf-8").splitlines()
    expected = [tuple(line.split("\t")) for line in lines]
    assert len(expected) == 60
    assert [(each.title, each.topic) for each in corpus.documents("valid")] == expected


@pytest.mark.parametrize("line", ["= " * 20_000 + "x", " = " + "= " * 20_000, "=" * 50_000])
def test_odd_headings_take_no_time(line: str) -> None:
    start = time.process_time()
    text_of(WikiTextArticle("A", [line] * 3, 1), WikiTextForm.S)
    list(split_articles(iter(["\n", f" = {line} = \n", "\n", line])))
    assert time.process_time() - start < 2


def test_sections_are_what_they_were() -> None:
    for line, is_section in {
        " = = History = = ": True, "= = a = =": True, " = = = E = m c = = = ": True,
        "= = = =": False, "= = =  = = =": True, " = History = ": False, "= = a =": False,
        " = = a = = b": False, "  = = a = =": False,
    }.items():  # fmt: skip
        kept = text_of(WikiTextArticle("A", ["x", line], 1), WikiTextForm.S)
        assert (kept == "x") is is_section, line
