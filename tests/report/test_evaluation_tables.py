"""The tables of an evaluation that was made by hand."""

from dataclasses import replace
from typing import Any

from lrlm.backbones import BACKBONES
from lrlm.evaluation import (
    Counts,
    Evaluation,
    GoldMentions,
    GoldQuality,
    Level,
    RunResult,
    Significance,
    Spelling,
    Way,
    annotation_quality,
    relation_bins,
)
from lrlm.evaluation.gold import ContestedMentions, LevelCounts
from lrlm.models import MODELS
from lrlm.report.evaluation_tables import (
    contested_sheet,
    evaluation_sheets,
    gold_sheet,
    labels,
    perplexity_sheet,
    threshold_sheet,
)
from lrlm.report.sheet import Sheet
from tests.evaluation.made import document_score, place


def result(kind: str, nats: float, **more: Any) -> RunResult:
    scores = [
        document_score(
            nats + number,
            id_=f"article {number}",
            relations=number,
            inside_nats=nats / 2,
            inside_words=4,
        )
        for number in range(20)
    ]
    values: dict[str, Any] = {
        "name": f"{kind}-run",
        "kind": kind,
        "backbone": "lstm",
        "model_label": MODELS[kind].label,
        "footnote": MODELS[kind].footnote,
        "unknown_words": 1234,
        "scores": tuple(scores),
        "is_joint": False,
        "significance": {},
        "annotation": None,
        **more,
    }
    values["backbone_label"] = BACKBONES[values["backbone"]].label
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
    assert "(</s>) is counted" in notes
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
    titles = [sheet.title for sheet in evaluation_sheets(FOUR)]
    assert [title.split(",")[0] for title in titles] == [
        "Perplexity on towns",
        "Mean log-probability of a word by number of relations",
        "The most probable explanation is the true one",
        "Reliability of LRLM",
    ]
    assert len(evaluation_sheets(evaluation(JOINT))) == 2
    _, bins, annotation, reliability = evaluation_sheets(FOUR)
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
    assert "2 true mentions without a candidate" in " ".join(annotation.notes)
    assert [[cell.text for cell in row] for row in reliability.rows] == [
        ["0.5–0.6", "1", "0.550", "0.000"],
        ["0.8–0.9", "2", "0.900", "1.000"],
    ]


def counts(claimed: int, right: int, gold: int = 1000) -> LevelCounts:
    return {level: Counts(claimed, right, gold) for level in Level}


def mentions(*, typed: int = 1000, right: int = 900, without_fact: int = 0) -> GoldMentions:
    return GoldMentions(
        documents=1200,
        mentions={Level.SPAN: 1000, Level.OBJECT: 1000, Level.RELATION: typed},
        without_fact=without_fact,
        every_candidate=counts(1800, right),
        longest_match=counts(1000, 800),
        contested=ContestedMentions(
            dict.fromkeys(Level, 200), counts(180, 120, 200), counts(190, 190, 200)
        ),
    )


QUALITY = GoldQuality(
    best_path=counts(900, 850),
    by_threshold={0.3: counts(950, 850), 0.6: counts(0, 0)},
    contested=counts(180, 150, 200),
)


def texts(sheet: Sheet) -> list[list[str]]:
    return [[cell.text for cell in row] for row in sheet.rows]


def test_all_methods_stand_side_by_side() -> None:
    sheet = gold_sheet(mentions(), {"LRLM": QUALITY}, [], "towns, test")
    rows = texts(sheet)
    assert [row[:2] for row in rows] == [
        [level.value, name]
        for level in Level
        for name in ("every candidate", "longest match", "LRLM")
    ]
    assert rows[1] == ["span", "longest match", "1,000", "1,000", "800", "0.800", "0.800", "0.800"]
    assert [row[1].text for row in sheet.rows if row[-1].is_best] == ["LRLM"] * 3


def test_claims_with_the_odds_for_names_stand_before_those_of_the_posterior() -> None:
    quality = replace(QUALITY, names=counts(900, 880), names_contested=counts(180, 170, 200))
    rows = texts(gold_sheet(mentions(), {"LRLM": quality}, [], "towns, test"))
    assert [row[1] for row in rows[2:4]] == ["LRLM", "LRLM, posterior"]
    assert [row[4] for row in rows[2:4]] == ["880", "850"]
    rows = texts(contested_sheet(mentions().contested, {"LRLM": quality}, "towns, test"))
    assert [row[4] for row in rows[1:3]] == ["170", "150"]


def test_contested_mentions_have_a_ceiling_that_is_not_among_the_best() -> None:
    sheet = contested_sheet(mentions().contested, {"LRLM": QUALITY}, "towns, test")
    rows = texts(sheet)
    assert [row[1] for row in rows] == ["longest match", "LRLM", "the ceiling"] * 3
    assert rows[1] == ["span", "LRLM", "200", "180", "150", "0.833", "0.750", "0.789"]
    assert [row[1].text for row in sheet.rows if row[-1].is_best] == ["LRLM"] * 3
    assert "several candidates compete" in " ".join(sheet.notes)


def test_the_notes_say_what_is_not_found_and_not_counted() -> None:
    notes = " ".join(gold_sheet(mentions(), {"LRLM": QUALITY}, [], "x").notes)
    assert "no method can find them: 100 (span), 100 (object), 100 (relation)." in notes
    assert "facts lack" not in notes
    assert "type is unknown" not in notes
    assert "do not annotate" not in notes
    notes = " ".join(gold_sheet(mentions(typed=990, without_fact=7), {}, ["NKLM"], "x").notes)
    assert "7 gold mentions of objects" in notes
    assert "type is unknown" in notes
    assert "Models that do not annotate: NKLM." in notes
    assert "most probable path" not in notes
    assert "no method" not in " ".join(gold_sheet(mentions(right=1000), {}, [], "x").notes)


def test_the_curve_has_a_row_for_each_threshold() -> None:
    sheet = threshold_sheet("LRLM", QUALITY, "towns, test")
    assert texts(sheet) == [
        ["0.30", *["0.895", "0.850", "0.872"] * 3],
        ["0.60", *["–", "0.000", "0.000"] * 3],
    ]
    assert [cell.is_best for cell in sheet.rows[0]].count(True) == 3
    assert not any(cell.is_best for cell in sheet.rows[1])


def test_they_are_among_the_tables_of_an_evaluation() -> None:
    runs = result("vanilla", 12), result("lrlm", 10, gold=QUALITY)
    titles = [sheet.title for sheet in evaluation_sheets(evaluation(*runs, gold=mentions()))]
    assert titles[-3:] == [
        "Gold mentions of towns, test",
        "Contested gold mentions of towns, test",
        "Gold mentions by the least probability of a claim, LRLM, LSTM, towns, test",
    ]
    assert not any("Gold" in sheet.title for sheet in evaluation_sheets(evaluation(*runs)))
