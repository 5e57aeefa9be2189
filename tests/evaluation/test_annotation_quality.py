"""Accuracy and calibration of places made by hand, against plain numpy."""

import random
from dataclasses import replace

import numpy as np
import pytest

from lrlm.errors import InputError
from lrlm.evaluation import (
    Place,
    Way,
    annotation_quality,
    calibration_error,
    contested,
    reliability,
)
from lrlm.evaluation.annotation_quality import truth_by_document
from lrlm.text import GoldMention
from tests.evaluation.made import place


def expected_calibration_error(places: list[Place]) -> float:
    """The definition, one bin after the other."""
    confidences = np.array([each.confidence for each in places])
    right = np.array([each.is_right for each in places])
    error = 0.0
    for number in range(10):
        here = (confidences > number / 10) & (confidences <= (number + 1) / 10)
        if number == 0:
            here |= confidences == 0
        if here.any():
            error += here.mean() * abs(confidences[here].mean() - right[here].mean())
    return float(error)


def random_places(seed: int, count: int = 200) -> list[Place]:
    rng = random.Random(seed)
    confidences = [rng.choice([rng.random(), rng.randint(0, 10) / 10]) for _ in range(count)]
    return [place(each, is_right=rng.random() < each) for each in confidences]


@pytest.mark.parametrize("seed", range(5))
def test_calibration_error_is_its_definition(seed: int) -> None:
    places = random_places(seed)
    assert calibration_error(places) == pytest.approx(expected_calibration_error(places))
    assert sum(each.places for each in reliability(places)) == len(places)


def test_calibration_of_known_cases() -> None:
    assert calibration_error([]) == 0
    assert calibration_error([place(1.0)] * 3) == 0
    assert calibration_error([place(1.0, is_right=False)] * 3) == 1
    half = [place(0.5, is_right=number % 2 == 0) for number in range(4)]
    assert calibration_error(half) == 0
    assert calibration_error([place(0.75), place(0.75, is_right=False)]) == pytest.approx(0.25)


def test_a_reliability_table() -> None:
    table = reliability([place(0.9), place(0.95), place(1.0, is_right=False), place(0.0)])
    assert [(each.low, each.high) for each in table] == [(n / 10, (n + 1) / 10) for n in range(10)]
    assert [each.places for each in table] == [1, 0, 0, 0, 0, 0, 0, 0, 1, 2]
    assert table[9].confidence == pytest.approx(0.975)
    assert table[9].accuracy == 0.5
    assert (table[1].confidence, table[1].accuracy) == (0.0, 0.0)
    with pytest.raises(InputError, match="bins must be at least 1"):
        reliability([], 0)


def test_contested_places() -> None:
    sure = place(words="sure")
    several = place(words="several", candidates=2)
    overlapped = place(words="overlapped", is_overlapped=True)
    plain, also_plain = place(words="football", truth=Way.WORDS), place(words="football")
    within = place(words="within", candidates=2, truth=Way.OTHERWISE)
    everything = [sure, several, overlapped, plain, also_plain, within]
    assert contested(everything) == [several, overlapped, plain, also_plain]


def test_the_quality_of_all_places() -> None:
    places = [
        place(0.9),
        place(0.8, is_right=False, candidates=2),
        place(0.7, truth=Way.WORDS, words="w"),
        place(0.6, truth=Way.OTHERWISE),
    ]
    quality = annotation_quality(places, unlinked=1)
    assert (quality.overall.places, quality.overall.right) == (5, 3)
    assert quality.overall.accuracy == pytest.approx(3 / 5)
    assert quality.overall.calibration_error == pytest.approx(expected_calibration_error(places))
    assert (quality.contested.places, quality.contested.right) == (2, 1)
    counts = {way: (each.places, each.right) for way, each in quality.by_truth.items()}
    assert counts == {Way.RELATION: (3, 1), Way.WORDS: (1, 1), Way.OTHERWISE: (1, 1)}
    assert quality.unlinked == 1


def test_without_places_there_is_no_accuracy() -> None:
    quality = annotation_quality([])
    assert quality.overall.accuracy is None
    assert quality.overall.calibration_error == 0


def test_the_truth_has_the_probability_of_all_that_agrees_with_it() -> None:
    typed = replace(place(0.7, candidates=2), gold=GoldMention(0, 2, "type 0", "object"))
    assert typed.truth_probability == 0.7
    assert replace(typed, gold=GoldMention(0, 2, "type 1", "object")).truth_probability == 0.0
    assert replace(typed, gold=GoldMention(0, 2, None, "object")).truth_probability == 0.7
    assert place(0.7, truth=Way.WORDS).truth_probability == 0.0


def test_the_truth_of_a_document_is_the_mean_over_its_places() -> None:
    gold = GoldMention(0, 2, "type 0", None)
    places = [
        replace(place(confidence), gold=gold, document=document)
        for confidence, document in ((0.5, "a"), (1.0, "a"), (0.25, "b"))
    ]
    assert truth_by_document(places) == {"a": 0.75, "b": 0.25}
    assert truth_by_document([]) == {}
