"""What to try next follows from how training went."""

from pathlib import Path

import pytest

from lrlm.corpora import Corpus
from lrlm.runs.config import RunConfig
from lrlm.runs.sizes import change, load_size
from lrlm.training.advice import Advice, Course, advise
from tests.training import tiny


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus.open(tiny.write_corpus(tmp_path_factory.mktemp("tiny")))


def config(*settings: str) -> RunConfig:
    return change(load_size("mini", "lstm"), ("vocabulary.min_count=2", *settings))


def course(*perplexities: float, updates: int = 500) -> Course:
    return Course(updates, len(perplexities), perplexities)


def test_few_updates_are_a_warning_that_names_the_settings(corpus: Corpus) -> None:
    (advice,) = advise(config(), course(30, 20, 15, 12, updates=8), corpus)
    assert advice.is_warning
    assert str(advice) == (
        "only 8 updates were made, and some hundred are needed: training.epochs=30 and"
        " training.batch_size=2"
    )


def test_a_batch_that_is_small_already_is_not_named(corpus: Corpus) -> None:
    (advice,) = advise(config("training.batch_size=1"), course(9, updates=1), corpus)
    assert advice.text.startswith("only 1 update was made")
    assert advice.text.endswith(": training.epochs=15")


def test_a_short_time_is_told(corpus: Corpus) -> None:
    (advice,) = advise(config("training.minutes=0.5"), course(9, updates=3), corpus)
    assert advice.is_warning
    assert "in 0.5 minutes" in advice.text
    (later,) = advise(config("training.minutes=0.5"), course(30, 20), corpus)
    assert "allow more time (training.minutes)" in later.text


def test_a_model_that_still_improves_should_read_on(corpus: Corpus) -> None:
    (advice,) = advise(config(), course(30, 20, 15, 12), corpus)
    assert not advice.is_warning
    assert advice.text == "the model was still improving at the end: training.epochs=8"


def test_a_model_that_learned_by_heart_wants_more_text(corpus: Corpus) -> None:
    (advice,) = advise(config(), course(30, 20, 15, 19), corpus)
    assert "validation was best after epoch 3 of 4" in advice.text
    assert "20 training texts" in advice.text
    assert "pretrained" in advice.text


def test_rare_words_are_told(corpus: Corpus) -> None:
    chosen = change(load_size("mini", "lstm"), ("vocabulary.min_count=25",))
    (advice,) = advise(chosen, course(15, 15), corpus)
    assert "unknown to the model" in advice.text
    assert "vocabulary.min_count=2" in advice.text


@pytest.mark.parametrize(("kind", "other"), [("lrlm", "vanilla"), ("vanilla", "lrlm")])
def test_a_run_that_went_well_is_compared(corpus: Corpus, kind: str, other: str) -> None:
    (advice,) = advise(config(f"model.kind={kind}"), course(15, 15), corpus)
    assert f"({other})" in advice.text


def test_metrics_are_read(tmp_path: Path) -> None:
    lines = '{"kind":"train","update":1,"loss":3}\n{"kind":"valid","update":2,"perplexity":7.5}\n'
    (tmp_path / "metrics.jsonl").write_text(lines)
    assert Course.read(tmp_path / "metrics.jsonl", updates=2, epochs=1) == course(7.5, updates=2)
    assert Advice("x").is_warning is False
