"""The tables and the plot of an evaluation made by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lrlm.errors import InputError, MissingExtraError
from lrlm.evaluation import (
    Evaluation,
    RunResult,
    Significance,
    Spelling,
    Way,
    annotation_quality,
    relation_bins,
)
from lrlm.report import relation_plot
from lrlm.report.evaluation_sheets import labels, perplexity_sheet, sheets
from lrlm.report.relation_plot import check_plot, draw_relation_plot
from tests.evaluation.made import document_score, place


def result(kind: str, nats: float, **more: Any) -> RunResult:
    scores = [
        document_score(
            nats + number,
            id_=f"article {number}",
            relations=number,
            inside_nats=nats / 2,
            inside_tokens=4,
        )
        for number in range(20)
    ]
    values: dict[str, Any] = {
        "name": f"{kind}-run",
        "kind": kind,
        "backbone": "lstm",
        "scores": tuple(scores),
        "is_joint": False,
        "significance": {},
        "annotation": None,
        **more,
    }
    return RunResult(**values)


def evaluation(*runs: RunResult, **more: Any) -> Evaluation:
    values: dict[str, Any] = {
        "corpus": "towns",
        "split": "test",
        "is_training_corpus": True,
        "count_end": False,
        "unknown_words": 1234,
        "runs": runs,
        "bins": tuple(relation_bins(runs[0].scores)),
        **more,
    }
    return Evaluation(**values)


LATENT = result(
    "lrlm",
    10.0,
    significance={
        Spelling.OPEN: Significance("nklm-run", 0.00001, is_better=True),
        Spelling.UPP: Significance("nklm-run", 0.03, is_better=True),
        Spelling.ORACLE: Significance("nklm-run", 0.5, is_better=True),
    },
    annotation=annotation_quality(
        [place(), place(0.55, candidates=2, is_right=False), place(truth=Way.WORDS)], unlinked=2
    ),
)
JOINT = result("nklm", 12.0, is_joint=True)
FOUR = evaluation(result("vanilla", 20.0), result("alias", 19.0), JOINT, LATENT)


def test_the_table_of_perplexities() -> None:
    sheet = perplexity_sheet(FOUR)
    assert sheet.title == "Perplexity on towns, test"
    assert sheet.columns == (
        "model", "backbone", "perplexity", "UPP", "oracle", "inside", "outside", "p",
    )  # fmt: skip
    texts = [[cell.text + cell.mark for cell in row] for row in sheet.rows]
    assert [row[0] for row in texts] == ["Vanilla LM", "Alias LM‡", "NKLM†", "LRLM"]
    assert texts[3] == ["LRLM", "LSTM", "7.03**", "6.36*", "5.75", "3.49", "11.21", "< 0.0001"]
    assert [row[-1] for row in texts] == ["–", "–", "–", "< 0.0001"]
    assert [[cell.is_best for cell in row] for row in sheet.rows] == [
        *[[False] * 8] * 3,
        [False, False, True, True, True, True, True, False],
    ]
    notes = " ".join(sheet.notes)
    assert "1,234 unknown words" in notes
    assert "† joint probability of the text and one given annotation." in notes
    assert "‡ is told which names occur" in notes
    assert "another corpus" not in notes


def test_notes_say_what_is_not_as_usual() -> None:
    notes = " ".join(
        perplexity_sheet(evaluation(LATENT, is_training_corpus=False, count_end=True)).notes
    )
    assert "trained on another corpus" in notes
    assert "</s> is paid for and counted" in notes
    assert "†" not in notes
    assert "‡" not in notes


def test_the_best_is_looked_for_on_each_backbone_and_needs_a_rival() -> None:
    other = replace(JOINT, backbone="transformer-xl")
    sheet = perplexity_sheet(evaluation(result("vanilla", 20.0), LATENT, other))
    assert [row[2].is_best for row in sheet.rows] == [False, True, False]


def test_runs_are_named_where_model_and_backbone_are_not_enough() -> None:
    twins = [LATENT, replace(LATENT, name="again"), JOINT]
    assert labels(twins) == ["LRLM, LSTM (lrlm-run)", "LRLM, LSTM (again)", "NKLM†, LSTM"]
    sheet = perplexity_sheet(evaluation(*twins))
    assert sheet.columns[2] == "run"
    assert [row[2].text for row in sheet.rows] == ["lrlm-run", "again", "nklm-run"]


def test_all_tables() -> None:
    titles = [sheet.title for sheet in sheets(FOUR)]
    assert [title.split(",")[0] for title in titles] == [
        "Perplexity on towns",
        "Mean log-probability of a word by number of relations",
        "The most probable explanation is the true one",
        "Reliability of LRLM",
    ]
    assert len(sheets(evaluation(JOINT))) == 2
    _, bins, annotation, reliability = sheets(FOUR)
    assert list(bins.columns[2:]) == [
        "Vanilla LM, LSTM", "Alias LM‡, LSTM", "NKLM†, LSTM", "LRLM, LSTM",
    ]  # fmt: skip
    assert [note[0] for note in bins.notes] == ["†", "‡"]
    assert [cell.text for cell in bins.rows[0]] == [
        "0–1", "2", "−2.050", "−1.950", "−1.250", "−1.050",
    ]  # fmt: skip
    assert [[cell.text for cell in row[1:4]] for row in annotation.rows] == [
        ["all candidate spans", "5", "40.00%"],
        ["contested", "3", "66.67%"],
        ["in truth a relation", "4", "25.00%"],
        ["in truth words", "1", "100.00%"],
        ["in truth no segment", "0", "–"],
    ]
    assert "2 true mentions have no candidate" in " ".join(annotation.notes)
    assert [[cell.text for cell in row] for row in reliability.rows] == [
        ["0.5–0.6", "1", "0.550", "0.000"],
        ["0.8–0.9", "2", "0.900", "1.000"],
    ]


@pytest.mark.parametrize(
    ("format_", "beginning"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_the_plot_is_a_file_of_its_format_and_always_the_same(
    format_: str, beginning: bytes
) -> None:
    drawn = draw_relation_plot(FOUR, format_)
    assert drawn.startswith(beginning)
    assert draw_relation_plot(FOUR, format_) == drawn


def test_a_plot_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match=r"bins.doc: a plot is a .png, .svg, .pdf file"):
        check_plot(Path("bins.doc"))


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lrlm\[plots\]'"):
        relation_plot.check_plot(Path("bins.png"))
