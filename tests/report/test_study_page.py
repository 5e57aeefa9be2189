"""The page of a study that was made by hand: complete, and safe to show."""

from dataclasses import replace
from typing import Any

from lrlm.corpora import link
from lrlm.evaluation.annotation_quality import Way
from lrlm.evaluation.examples import AnnotatedExample
from lrlm.evaluation.mentions import MentionCounts, MentionStatistics
from lrlm.knowledge import Relation, Topic
from lrlm.report.sheet import Cell, Sheet
from lrlm.report.study import BestAndWorst, RunSummary, Study, TopicSamples
from lrlm.report.study_page import study_page
from lrlm.runs.learning_curve import LearningCurve, LossPoint, ValidationPoint
from tests.annotation.made import annotation
from tests.evaluation.made import place
from tests.generation.test_html import generated
from tests.report.pages import check_page
from tests.report.test_evaluation_tables import FOUR, JOINT, LATENT, evaluation, result

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
CURVE = LearningCurve(
    (LossPoint(50, 60.0, 6.5), LossPoint(100, 120.0, 4.5)),
    (
        ValidationPoint(60, 90.0, 1, 30.0, is_best=True),
        ValidationPoint(120, 150.0, 2, 20.0, is_best=True),
    ),
)
DOCUMENT = link(
    "Oslo is the capital of Norway.",
    Topic("Q1", names=["Oslo"], relations=[Relation('ca<p> "x"', "Norway")]),
    id="article 3",
)


def study(**more: Any) -> Study:
    values: dict[str, Any] = {
        "corpus": Sheet("Corpus towns", ("", "test"), [[Cell("documents"), Cell("20")]]),
        "evaluation": FOUR,
        "summaries": tuple(RunSummary("mini", 1000 * n, 500, CURVE) for n in range(1, 5)),
        "mentions": MentionStatistics(
            "test", 4, 5, {"lrlm-run": MentionCounts(20, 0.0, 6.5, 1.5)}, MentionCounts(4, 0, 8, 1)
        ),
        "samples": (TopicSamples(DOCUMENT, (generated(),) * 4),),
        "examples": BestAndWorst(
            replace(LATENT, truth_probabilities={"article 3": 0.75}),
            best=(AnnotatedExample(DOCUMENT, annotation(), ()),),
            worst=(
                AnnotatedExample(
                    DOCUMENT,
                    annotation(),
                    (place(0.55, is_right=False, truth=Way.WORDS, words=HOSTILE),),
                ),
            ),
        ),
        **more,
    }
    return Study(**values)


EMPTY = study(
    evaluation=evaluation(result("vanilla", 20.0)),
    summaries=(RunSummary("mini", 1000, 500, None),),
    corpus=Sheet("Corpus towns", ("",), []),
    mentions=None,
    samples=(),
    examples=None,
)


def test_everything_is_there() -> None:
    read = check_page(study_page(study()))
    for heading in (
        "The corpus", "The models", "Perplexity", "Learning curves", "By number of relations",
        "Annotation and calibration", "Mentions in generated texts", "Samples side by side",
        "Annotated examples",
    ):  # fmt: skip
        assert heading in read.text
    assert "4 language models compared" in read.text
    assert read.values("class").count("figure") == 4
    assert "nothing" not in read.values("class")
    for figure in ("7.03", "6.36", "−1.050", "66.67%", "0.550", "20.00", "4.500", "6.50", "75.0 %"):
        assert figure in read.text
    assert "the mean probability of the true explanation" in read.text
    assert "It was <Oslo> & krones." in " ".join(read.text.split())
    assert "Oslo is the capital of Norway." in read.text
    assert "prefers-color-scheme: dark" in read.page
    assert "@media print" in read.page


def test_what_came_out_stands_first() -> None:
    before, _, _ = check_page(study_page(study())).text.partition("The corpus")
    assert "7.0" in before
    assert "LRLM, LSTM" in before
    assert "against NKLM†, LSTM" in before
    assert "p < 0.0001" in before
    assert "66.7 %" in before


def test_sections_without_data_say_so_in_one_line() -> None:
    read = check_page(study_page(EMPTY))
    assert read.values("class").count("nothing") == 6
    for said in (
        "The corpus has no documents.",
        "No run has kept the metrics of its training",
        "No run can be judged",
        "No mentions were counted",
        "No texts were written",
        "No run annotates",
    ):
        assert said in read.text
    assert "Vanilla LM, LSTM" in read.text


def test_without_truth_the_measure_is_another_one() -> None:
    examples = BestAndWorst(LATENT, (AnnotatedExample(DOCUMENT, annotation(), ()),), ())
    read = check_page(study_page(study(examples=examples)))
    assert "the perplexity of the text, since the true mentions are not known" in read.text
    assert "probability of the truth" not in read.text


def test_names_stay_names() -> None:
    runs = [
        replace(run, name=HOSTILE + str(number), model_label=f"a$b_{HOSTILE}$")
        for number, run in enumerate(
            (result("vanilla", 20.0), JOINT, replace(LATENT, significance={}))
        )
    ]
    document = replace(DOCUMENT, title=HOSTILE, text=HOSTILE + DOCUMENT.text)
    page = study_page(
        study(
            evaluation=evaluation(*runs, corpus=HOSTILE, split="\u202etest"),
            summaries=(RunSummary(HOSTILE, 1, 1, CURVE),) * 3,
            samples=(TopicSamples(document, (generated(),) * 3),),
        ),
        title=HOSTILE,
    )
    read = check_page(page)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert HOSTILE in read.text


def test_the_same_study_gives_the_same_page() -> None:
    assert study_page(study()) == study_page(study())


def test_many_runs_of_all_backbones_stand_on_one_page() -> None:
    runs = [
        replace(result(kind, nats, backbone=backbone), name=f"{kind}-{backbone}-{number}")
        for number, (kind, nats, backbone) in enumerate(
            [
                ("vanilla", 20.0, "lstm"),
                ("lrlm", 12.0, "lstm"),
                ("lrlm", 11.0, "lstm"),
                ("vanilla", 18.0, "transformer-xl"),
                ("lrlm", 10.0, "transformer-xl"),
                ("prompted", 13.0, "pretrained"),
                ("lrlm", 9.0, "pretrained"),
            ]
        )
    ]
    read = check_page(
        study_page(
            study(
                evaluation=evaluation(*runs),
                summaries=(RunSummary("mini", 1, 1, CURVE), *[RunSummary("mini", 1, 1, None)] * 6),
                samples=(TopicSamples(DOCUMENT, (generated(),) * 7),),
            )
        )
    )
    assert "7 language models compared" in read.text
    assert "LRLM, LSTM (lrlm-lstm-2)" in read.text
    assert "LRLM, Transformer-XL" in read.text
