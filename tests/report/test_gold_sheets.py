"""The tables of gold mentions, made by hand."""

from lrlm.evaluation import Counts, GoldMentions, GoldQuality, Level
from lrlm.evaluation.gold import LevelCounts
from lrlm.report.evaluation_sheets import sheets
from lrlm.report.gold_sheets import gold_sheet, threshold_sheet
from lrlm.report.sheet import Sheet
from tests.report.test_evaluation_sheets import evaluation, result


def counts(claimed: int, right: int, gold: int = 1000) -> LevelCounts:
    return {level: Counts(claimed, right, gold) for level in Level}


def mentions(*, typed: int = 1000, right: int = 900, without_fact: int = 0) -> GoldMentions:
    return GoldMentions(
        documents=1200,
        mentions={Level.SPAN: 1000, Level.OBJECT: 1000, Level.RELATION: typed},
        without_fact=without_fact,
        every_candidate=counts(1800, right),
        longest_match=counts(1000, 800),
    )


QUALITY = GoldQuality(
    best_path=counts(900, 850), by_threshold={0.3: counts(950, 850), 0.6: counts(0, 0)}
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


def test_the_notes_say_what_is_not_found_and_not_counted() -> None:
    notes = " ".join(gold_sheet(mentions(), {"LRLM": QUALITY}, [], "x").notes)
    assert "no method finds them: 100 (span), 100 (object), 100 (relation)." in notes
    assert "graph lacks" not in notes
    assert "type is not known" not in notes
    assert "posterior" not in notes
    notes = " ".join(gold_sheet(mentions(typed=990, without_fact=7), {}, ["NKLM"], "x").notes)
    assert "7 gold mentions name an object that the topic's graph lacks." in notes
    assert "type is not known" in notes
    assert "Without a posterior, so without annotations: NKLM." in notes
    assert "best path" not in notes
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
    titles = [sheet.title for sheet in sheets(evaluation(*runs, gold=mentions()))]
    assert titles[-2:] == [
        "Gold mentions of towns, test",
        "Gold mentions by the least probability of a claim, LRLM, LSTM, towns, test",
    ]
    assert not any("Gold" in sheet.title for sheet in sheets(evaluation(*runs)))
