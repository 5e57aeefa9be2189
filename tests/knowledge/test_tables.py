"""Tables in all the ways that people write them: the same knowledge gives the same graph."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.cli import main
from lrlm.corpora import build_corpus
from lrlm.errors import FormatError, InputError, TooManyBadLinesError
from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.knowledge.build import BuildEngine, build_graph
from lrlm.knowledge.sources.tables import (
    CellSyntax,
    TableKind,
    TableLayout,
    entity_columns,
    recognise_table,
    split_quoted,
)
from lrlm.knowledge.sources.triples import parse_fact
from lrlm.text_files import BadLineError, raw_lines

TRIPLES = [
    ("Q1", "country", "Q3", "entity"),
    ("Q1", "climbed", "1953-05-29", "literal"),
    ("Q2", "country", "Q4", "entity"),
    ("Q2", "height", "8611 m", "literal"),
]
FORMS = [("Q1", "Everest"), ("Q1", "Mount Everest, the"), ("Q2", "K2"), ("Q3", "Nepal")]
FORMS += [("Q4", "Pakistan")]
WIDE = """\
id,name,country,climbed,height
Q1,"Everest|Mount Everest, the",Q3,1953-05-29,
Q2,K2,Q4,,8611 m
Q3,Nepal,,,
Q4,Pakistan,,,
"""


def cells(row: tuple[str, ...], separator: str) -> str:
    if separator == "\t":
        return "\t".join(row)
    return separator.join(f'"{cell}"' if separator in cell else cell for cell in row)


def topics(*sources: Path, wide: tuple[Path, ...] = (), ids_as_names: bool = False) -> list[Topic]:
    out = sources[0].parent / "graph" if sources else wide[0].parent / "graph"
    build_graph(out, sources, wide=wide, ids_as_names=ids_as_names, overwrite=True)
    with KnowledgeGraph.open(out) as graph:
        return list(graph.topics())


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Topic]:
    folder = tmp_path_factory.mktemp("plain")
    for name, rows in (("triples", TRIPLES), ("forms", FORMS)):
        (folder / name).write_text("".join(cells(row, "\t") + "\n" for row in rows))
    return topics(folder / "triples", folder / "forms")


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("header", [False, True])
def test_separators_and_headers_do_not_matter(
    tmp_path: Path, expected: list[Topic], separator: str, header: bool
) -> None:
    heads = {"triples": ("Subject", "Predicate", "Object", "kind"), "forms": ("id", "name")}
    for name, rows in (("triples", TRIPLES), ("forms", FORMS)):
        lines = [*([heads[name]] if header else []), *rows]
        text = "\r\n".join(cells(row, separator) for row in lines)
        (tmp_path / name).write_text(f"\ufeff{text}\r\n", encoding="utf-8", newline="")
    assert topics(tmp_path / "triples", tmp_path / "forms") == expected


def test_a_header_gives_the_order_of_columns(tmp_path: Path, expected: list[Topic]) -> None:
    head = ("kind", "object", "note", "relation", "subject")
    rows = [(kind, object_, "n", type_, subject) for subject, type_, object_, kind in TRIPLES]
    lines = "".join(cells(row, ",") + "\n" for row in [head, *rows])
    (tmp_path / "triples.csv").write_text(lines)
    forms = [("name", "entity"), *((name, id_) for id_, name in FORMS)]
    (tmp_path / "forms.csv").write_text("".join(cells(row, ",") + "\n" for row in forms))
    assert topics(tmp_path / "triples.csv", tmp_path / "forms.csv") == expected


def test_wide_tables(tmp_path: Path, expected: list[Topic]) -> None:
    (tmp_path / "wide.csv").write_text(WIDE)
    assert topics(tmp_path / "wide.csv") == expected
    (tmp_path / "other.csv").write_text(WIDE.replace("id,name", "mountain,name"))
    assert topics(wide=(tmp_path / "other.csv",)) == expected


def test_parquet(tmp_path: Path, expected: list[Topic]) -> None:
    names = ("subject", "relation", "object", "kind")
    columns = dict(zip(names, zip(*TRIPLES, strict=True), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "triples")
    columns = dict(zip(("entity", "form"), zip(*FORMS, strict=True), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "forms")
    assert topics(tmp_path / "triples", tmp_path / "forms") == expected
    wide = {
        "id": ["Q1", "Q2", "Q3", "Q4"],
        "name": [["Everest", "Mount Everest, the"], ["K2"], ["Nepal"], ["Pakistan"]],
        "country": ["Q3", "Q4", None, None],
        "climbed": [date(1953, 5, 29), None, None, None],
        "height": [None, "8611 m", None, None],
    }
    pq.write_table(pa.table(wide), tmp_path / "wide", row_group_size=2)
    assert topics(tmp_path / "wide") == expected


def test_numbers_of_parquet_are_values(tmp_path: Path) -> None:
    wide = {
        "name": ["Everest", "K2"],
        "height": [8849.0, None],
        "rank": [1, 2],
        "dry": [True, None],
    }
    pq.write_table(pa.table(wide), tmp_path / "wide.parquet")
    everest, k2 = topics(tmp_path / "wide.parquet")
    assert [fact.forms for fact in everest.relations] == [("8,849", "8849"), ("1",)]
    assert [fact.type for fact in k2.relations] == ["rank"]


def test_ids_as_names(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("Mt_Everest\tcountry\tNepal\nMt_Everest\tclimbed\t29 May 1953\n")
    (tmp_path / "f").write_text("Nepal\tFederal Republic of Nepal\n")
    (everest,) = topics(tmp_path / "t", tmp_path / "f", ids_as_names=True)
    assert everest.names == ("Mt Everest",)
    climbed, country = everest.relations
    assert climbed.forms[:2] == ("29 May 1953", "May 29, 1953")
    assert country.forms == ("Federal Republic of Nepal",)


def test_articles_may_be_parquet(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("subject,relation,object\nK2,country,Pakistan\n")
    (tmp_path / "f.csv").write_text("entity,form\nK2,K2\nPakistan,Pakistan\n")
    articles = {"id": ["K2"], "text": ["K2 is in Pakistan."], "gold": [None]}
    pq.write_table(pa.table(articles), tmp_path / "train.parquet")
    corpus = build_corpus(
        tmp_path / "corpus",
        triples=tmp_path / "t.csv",
        forms=tmp_path / "f.csv",
        train=tmp_path / "train.parquet",
    )
    assert corpus.report.facts["used"] == 1
    assert len(corpus.document("K2").mentions) == 2


def test_swapped_and_wide_files_are_refused_by_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("K2\tcountry\tPakistan\n")
    (tmp_path / "f.tsv").write_text("K2\tK2\n")
    (tmp_path / "wide.csv").write_text(WIDE)
    articles = [{"id": "K2", "text": "K2"}]
    with pytest.raises(FormatError, match=r"f\.tsv: expected triples .* are the two files swapped"):
        build_corpus(
            tmp_path / "c", triples=tmp_path / "f.tsv", forms=tmp_path / "t.tsv", train=articles
        )
    with pytest.raises(FormatError, match=r"wide\.csv: .* make a graph of it"):
        build_corpus(
            tmp_path / "c", triples=tmp_path / "wide.csv", forms=tmp_path / "f.tsv", train=articles
        )


def test_bad_rows_are_told_with_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wide.csv").write_text(WIDE + "Q5,five\n" + 'Q6,"six,,,\n' + ",seven,,,\n")
    command = ["kg", "build", str(tmp_path / "wide.csv"), "--out", str(tmp_path / "graph")]
    assert main([*command, "--workers", "1"]) == 2
    assert "wide.csv:6: expected 5 columns as in the header, found 2" in capsys.readouterr().err
    assert main([*command, "--workers", "1", "--max-bad", "0.5"]) == 0
    told = capsys.readouterr().err
    assert "wide.csv:7: a cell in quotes does not end on its line" in told
    assert "wide.csv:8: the column 'id' is empty" in told


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"name": ["K2"] * 5000, "country": ["Pakistan"] * 5000}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(FormatError, match=r"t\.parquet: not Parquet, or damaged"):
        build_graph(tmp_path / "graph", path)
    path.write_bytes(whole[:8] + bytes(40) + whole[48:])
    with pytest.raises((FormatError, TooManyBadLinesError)):
        build_graph(tmp_path / "graph", path)
    pq.write_table(pa.table({"name": ["K2"], "photo": [b"\x00"]}), path)
    with pytest.raises(FormatError, match="'photo' holds bytes"):
        build_graph(tmp_path / "graph", path)


def test_spark_does_not_read_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"name": ["K2"], "country": ["Pakistan"]}), tmp_path / "t.parquet")
    pytest.importorskip("pyspark")
    with pytest.raises(InputError, match="not as Parquet"):
        build_graph(tmp_path / "graph", tmp_path / "t.parquet", engine=BuildEngine.SPARK)


def test_parquet_is_read_as_lines(tmp_path: Path) -> None:
    columns = {"id": ["a", "b"], "text": ["x\ny", None], "number": [1.5, 2.0]}
    pq.write_table(pa.table(columns), tmp_path / "rows")
    assert list(raw_lines(tmp_path / "rows")) == [
        b'{"id": "a", "text": "x\\ny", "number": 1.5}',
        b'{"id": "b", "number": 2}',
    ]


@pytest.mark.parametrize(
    ("lines", "kind", "has_header"),
    [
        ("a\tb\tc", TableKind.TRIPLES, False),
        ("a\tb", TableKind.FORMS, False),
        ("head\trelation\ttail", TableKind.TRIPLES, True),
        ("subject\tpredicate\tobject\nsubject\tpredicate\tobject", TableKind.TRIPLES, True),
        ("name,country\nK2,Pakistan", TableKind.WIDE, True),
        ("id,name\nQ1,K2", TableKind.FORMS, True),
        ("peak,country,height,climbed\nK2,Pakistan,8611,1954", TableKind.WIDE, True),
        ("K2,height,8611,literal", TableKind.TRIPLES, False),
        ("broken\na\tb\tc\na\tb\td", TableKind.TRIPLES, False),
        ("a,b,c,d,e\n1,2,3,4,5", TableKind.WIDE, True),
    ],
)
def test_recognition(lines: str, kind: TableKind, has_header: bool) -> None:
    layout = recognise_table(lines.encode())
    assert layout is not None
    assert (layout.kind, layout.header is not None) == (kind, has_header)


@pytest.mark.parametrize("text", ["", "one", "one\ntwo", "1,2,3,4,5\n1,2,3,4,5", "a,a,a,a,a\n"])
def test_what_is_no_table(text: str) -> None:
    assert recognise_table(text.encode()) is None


@given(st.binary(max_size=300))
def test_whatever_is_looked_at_is_a_table_or_not(beginning: bytes) -> None:
    assert isinstance(recognise_table(beginning), TableLayout | None)


TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)


@given(st.lists(TEXT, min_size=2, max_size=5), st.sampled_from([",", ";"]))
def test_quoted_cells_come_back(row: list[str], separator: str) -> None:
    line = separator.join('"{}"'.format(cell.replace('"', '""')) for cell in row)
    assert split_quoted(line, CellSyntax(separator)) == row


def test_control_characters_make_a_bad_line() -> None:
    with pytest.raises(BadLineError, match="column 2 holds the control character U\\+0007"):
        parse_fact("a\tb\x07\tc")


def test_columns_of_entities() -> None:
    assert entity_columns(["name", "country"]) == (0, ())
    assert entity_columns(["mountain", "country"]) == (0, ())
    assert entity_columns(["mountain", "name"], is_first=True) == (0, (1,))
    assert entity_columns(["height", "__index_level_0__"]) == (1, ())
