"""Knowledge that cannot be what was meant: what is refused, what is a warning, what is said."""

from pathlib import Path

import pytest

from lrlm.cli import main
from lrlm.errors import InputError, KnowledgeWarning, TooMuchUnknownError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.build import Selection, build_graph
from lrlm.knowledge.doubts import Doubts, nearest_name, some
from tests.knowledge.worlds import write_example_graph

MOUNTAINS = [
    ("Q1", "Everest", "Q2", "Nepal"),
    ("Q3", "K2", "Q4", "Pakistan"),
    ("Q5", "Elbrus", "Q6", "Russia"),
    ("Q7", "Aconcagua", "Q8", "Argentina"),
]
TRIPLES = [f"{id_}\tcountry\t{country}" for id_, _, country, _ in MOUNTAINS]
FORMS = [f"{id_}\t{name}" for *pair, c, n in MOUNTAINS for id_, name in (pair, (c, n))]


def write(folder: Path, **tables: list[str]) -> list[Path]:
    for name, lines in tables.items():
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [folder / f"{name}.tsv" for name in tables]


def refusal(folder: Path, **tables: list[str]) -> str:
    with pytest.raises(TooMuchUnknownError) as caught:
        build_graph(folder / "graph", write(folder, **tables))
    assert not (folder / "graph").exists()
    return str(caught.value)


def test_good_tables_raise_no_doubt(tmp_path: Path) -> None:
    report = build_graph(tmp_path / "graph", write(tmp_path, triples=TRIPLES, forms=FORMS))
    assert report.warnings == ()


def test_names_without_facts(tmp_path: Path) -> None:
    assert "names only" in refusal(tmp_path, forms=FORMS)


def test_facts_without_names(tmp_path: Path) -> None:
    message = refusal(tmp_path, triples=TRIPLES)
    assert message.startswith("4 of 4 facts lead to an object without a name and are left out:")
    assert "'Q2', 'Q4', 'Q6', …" in message
    assert "literal" in message


def test_forms_with_their_columns_swapped(tmp_path: Path) -> None:
    swapped = ["\t".join(reversed(line.split("\t"))) for line in FORMS]
    message = refusal(tmp_path, triples=TRIPLES, forms=swapped)
    assert "'Q2' is given as a name of 'Nepal'" in message
    assert "in the order entity, name" in message


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (2, 0, 1)])
def test_triples_with_columns_in_another_order(tmp_path: Path, order: tuple[int, ...]) -> None:
    mixed = ["\t".join(line.split("\t")[place] for place in order) for line in TRIPLES]
    message = refusal(tmp_path, triples=mixed, forms=FORMS)
    assert message.startswith("4 of 4 relation types are entities that have names: 'Q")
    assert "subject, relation, object" in message


def test_many_relation_types_are_told(tmp_path: Path) -> None:
    triples = [f"Q{number % 6 + 1}\tkind {number}\t{number}\tliteral" for number in range(12)]
    report = build_graph(tmp_path / "graph", write(tmp_path, triples=triples, forms=FORMS))
    assert len(report.warnings) == 1
    assert report.warnings[0].startswith("the 12 facts have 12 different relation types: 'kind 0'")


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ((0, 1, 2), None),
        ((1, 0, 2), "the 3 subjects are not: 'country', 'height', 'range'"),
        ((0, 2, 1), "the 3 objects are not: 'country', 'height', 'range'"),
    ],
)
def test_relation_types_that_are_written_as_names_are_told(
    tmp_path: Path, order: tuple[int, ...], told: str | None
) -> None:
    """No name is given, and mountains stand in several facts each."""
    triples = [
        [f"Mount {n}", type_, f"{type_.title()} {n % 3}"]
        for n in range(8)
        for type_ in ("range", "country", "height")
    ]
    mixed = ["\t".join(fact[place] for place in order) for fact in triples]
    sources = write(tmp_path, triples=mixed)
    report = build_graph(tmp_path / "graph", sources, ids_as_names=True)
    assert len(report.warnings) == (told is not None)
    if told is not None:
        assert told in report.warnings[0]
        assert "relation types are written as names are: '" in report.warnings[0]
        assert "subject, relation, object?" in report.warnings[0]


def test_topics_without_names_are_told(tmp_path: Path) -> None:
    names_of_objects = [line for line in FORMS if line[1] in "2468"]
    with pytest.warns(KnowledgeWarning, match="4 of 4 topics have no name"):
        build_graph(tmp_path / "graph", write(tmp_path, triples=TRIPLES, forms=names_of_objects))


def test_a_selection_that_keeps_nothing(tmp_path: Path) -> None:
    sources = write(tmp_path, triples=TRIPLES, forms=FORMS)
    with pytest.raises(TooMuchUnknownError, match="none of the 4 is about a topic"):
        build_graph(tmp_path / "graph", sources, selection=Selection(types=("Q99",)))


def test_the_threshold_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = write(tmp_path, triples=TRIPLES, forms=FORMS[:4])
    command = ["kg", "build", *map(str, sources), "--out", str(tmp_path / "graph")]
    command += ["--workers", "1"]
    assert main([*command, "--max-unknown", "0.4"]) == 2
    told = capsys.readouterr().err
    assert "2 of 4 facts lead to an object without a name" in told
    assert "(more than the allowed 40%) (or call entities by their ids with --ids" in told
    assert main(["kg", "build", str(sources[1]), "--out", str(tmp_path / "graph")]) == 2
    assert "(allow more with --max-unknown)" in capsys.readouterr().err
    assert main(command) == 0
    told = capsys.readouterr().err
    assert "warning: 2 of 4 facts lead to an object without a name" in told


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_threshold_is_a_share(share: float) -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        Doubts(share)


def test_nearest_names(tmp_path: Path) -> None:
    write_example_graph(tmp_path)
    graph = KnowledgeGraph.open(tmp_path / "kg")
    assert nearest_name(graph, "City_of_Oslo") == "'Oslo' (Q585)"
    assert nearest_name(graph, "norwey") == "'Norway' (Q20)"
    assert nearest_name(graph, "Zanzibar") is None
    assert nearest_name(graph, "___") is None


def test_three_examples_are_enough() -> None:
    assert some(["a"], 1) == "'a'"
    assert some(["a", "b", "c", "d"], 4) == "'a', 'b', 'c', …"
