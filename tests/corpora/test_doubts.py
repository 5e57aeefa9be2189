"""Articles and knowledge that do not belong together are told before anything is linked."""

from pathlib import Path
from typing import Any

import pytest

from lrlm.cli import main
from lrlm.corpora import build_corpus
from lrlm.corpora.build import build_from
from lrlm.errors import KnowledgeWarning, TooMuchUnknownError
from lrlm.knowledge.build import build_graph
from tests.corpora.small_world import FORMS, TRAIN, TRIPLES, as_arguments, write

UNKNOWN = [
    {"id": "The_Rhine", "text": "The Rhine is a river."},
    {"id": "Danube_river", "text": "The Danube is a river."},
    {"id": "xyz", "text": "Nothing is known."},
]


def test_what_fits_raises_no_doubt(tmp_path: Path) -> None:
    triples = [line for line in TRIPLES if "Liechtenstein" not in line]
    corpus = build_from(tmp_path / "corpus", write(tmp_path, triples=triples, train=TRAIN))
    assert corpus.report.warnings == ()


@pytest.mark.parametrize("with_graph", [False, True])
def test_unknown_topics_are_refused_with_the_nearest_name(tmp_path: Path, with_graph: bool) -> None:
    inputs = write(tmp_path, train=[*TRAIN, *UNKNOWN])
    knowledge: dict[str, Any] = {"triples": inputs.triples, "forms": inputs.forms}
    if with_graph:
        build_graph(tmp_path / "graph", list(knowledge.values()))
        knowledge = {"graph": tmp_path / "graph"}
    with pytest.raises(TooMuchUnknownError) as caught:
        build_corpus(tmp_path / "corpus", **knowledge, train=tmp_path / "train.jsonl")
    message = str(caught.value)
    where = "the graph does" if with_graph else "triples and forms do"
    assert message.startswith(
        f"3 of 5 articles name a topic that {where} not have:"
        " 'The_Rhine', 'Danube_river', 'xyz'; the nearest name to 'The_Rhine' is 'Rhine'"
    )
    assert not (tmp_path / "corpus").exists()
    with pytest.warns(KnowledgeWarning, match="3 of 5 articles name a topic"):
        corpus = build_corpus(
            tmp_path / "corpus", **knowledge, train=tmp_path / "train.jsonl", max_unknown=0.6
        )
    assert any("3 of 5 articles" in each for each in corpus.report.warnings)


def test_topics_without_facts(tmp_path: Path) -> None:
    inputs = write(
        tmp_path,
        forms=[*FORMS, "Oder\tOder", "Spree\tSpree"],
        train=[{"id": id_, "text": f"The {id_}."} for id_ in ("Rhine", "Oder", "Spree")],
    )
    with pytest.raises(TooMuchUnknownError) as caught:
        build_from(tmp_path / "corpus", inputs)
    assert str(caught.value).startswith(
        "2 of 3 articles are about a topic without facts: 'Oder', 'Spree' (more than"
    )


def test_triples_the_wrong_way_round(tmp_path: Path) -> None:
    reversed_ = ["North_Sea\tmouth\tRhine", "Black_Sea\tmouth\tDanube"]
    with pytest.raises(TooMuchUnknownError) as caught:
        build_from(tmp_path / "corpus", write(tmp_path, triples=reversed_, train=TRAIN))
    assert "2 of these topics are objects of facts" in str(caught.value)
    assert "in the order subject, relation, object?" in str(caught.value)


def test_relations_that_are_entities(tmp_path: Path) -> None:
    mixed = ["\t".join((*line.split("\t")[1::-1], line.split("\t")[2])) for line in TRIPLES]
    forms = [*FORMS, "Elbe\tElbe"]
    with pytest.raises(TooMuchUnknownError, match="relation types are entities that have names"):
        build_from(tmp_path / "corpus", write(tmp_path, triples=mixed, forms=forms, train=TRAIN))


def test_forms_with_their_columns_swapped(tmp_path: Path) -> None:
    triples = [line.replace("_Sea", "_sea") for line in TRIPLES if "literal" not in line]
    forms = [f"{name}\t{id_}" for name, id_ in (("North Sea", "North_sea"), ("Sea", "Black_sea"))]
    with pytest.raises(TooMuchUnknownError, match="'Black_sea' is given as a name of 'Sea'"):
        build_from(tmp_path / "corpus", write(tmp_path, triples=triples, forms=forms, train=TRAIN))


def test_texts_that_mention_no_fact_are_told(tmp_path: Path) -> None:
    articles = [{"id": id_, "text": "A river in Europe."} for id_ in ("Rhine", "Danube")]
    corpus = build_from(tmp_path / "corpus", write(tmp_path, train=articles))
    *_, warning = corpus.report.warnings
    assert warning.startswith("in 2 of 2 articles no name of a fact's object was found")


def test_the_command_tells_and_names_the_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = as_arguments(write(tmp_path, train=[*TRAIN, UNKNOWN[0]]), tmp_path / "corpus")
    assert main([*arguments, "--workers", "1", "--max-unknown", "0.1"]) == 2
    assert "(allow more with --max-unknown)" in capsys.readouterr().err
    assert main([*arguments, "--workers", "1"]) == 0
    output, errors = capsys.readouterr()
    assert output.startswith("Wrote")
    assert "warning: 1 of 3 articles names a topic that triples and forms do not have" in errors
