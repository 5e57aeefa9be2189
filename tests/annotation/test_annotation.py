"""What an annotation gives beside its values."""

import json
import math
from dataclasses import replace

import pytest

from lrlm.annotation.annotation import ExplanationKind, Fact, Segment
from lrlm.text import Profile, tokenise
from tests.annotation.made import COUNTRY, TEXT, annotation


def test_the_best_path_has_all_words() -> None:
    made = annotation()
    best = made.best
    assert best[:2] == (Segment(0, 3), Segment(4, 17, COUNTRY))
    words = [(start, end) for start, end, fact in best if fact is None]
    tokens = list(zip(made.tokens.starts, made.tokens.ends, strict=True))
    assert words == [token for token in tokens if token not in ((4, 10), (11, 17))]


def test_spans_know_their_best_explanation() -> None:
    whole, part, name = annotation().spans
    assert whole.best.kind is ExplanationKind.MIXTURE
    assert whole.best.fact is None
    assert whole.relation.probability == whole.probability == 0.3
    assert part.best is part.relation
    assert part.best.fact == COUNTRY
    assert name.probability == 0.45
    assert [span.text for span in annotation().mentions()] == ["United States"]
    assert [span.text for span in annotation().mentions(0.4)] == ["United States", "Bo\u0308b"]


def test_perplexity() -> None:
    made = annotation()
    assert made.perplexity == math.exp(12 / len(made.tokens))


def test_json_says_everything() -> None:
    made = annotation()
    content = json.loads(made.to_json())
    assert content["format"] == "lrlm annotation"
    assert content["version"] == 1
    assert (content["id"], content["topic"], content["text"]) == ("first one", "To<pic>", TEXT)
    assert content["tokens"][1] == [4, 10]
    assert content["nats"] == 12.0
    assert content["end_nats"] == 0.5
    assert content["perplexity"] == made.perplexity
    assert content["best"] == [
        {"start": 4, "end": 17, "text": "United States", "type": "country", "object": "Q30",
         "form": "United States"},
    ]  # fmt: skip
    assert len(content["spans"]) == 3
    first = content["spans"][0]
    assert (first["start"], first["end"], first["text"]) == (0, 17, "The United States")
    assert [each["kind"] for each in first["explanations"]] == ["mixture", "relation", "words"]
    mixture = first["explanations"][0]
    assert mixture["probability"] == 0.6
    assert mixture["steps"][0] == {"start": 0, "end": 3, "text": "The"}
    assert mixture["steps"][1]["text"] == "United States"
    assert content["spans"][1]["explanations"][1] == {
        "kind": "crossing", "probability": 0.3, "steps": [],
    }  # fmt: skip
    for span in content["spans"]:
        assert sum(each["probability"] for each in span["explanations"]) == pytest.approx(1)
        for each in span["explanations"]:
            for step in each["steps"]:
                assert TEXT[step["start"] : step["end"]] == step["text"]


def test_json_can_have_a_threshold() -> None:
    content = annotation().to_dict(threshold=0.5)
    assert content["threshold"] == 0.5
    assert [span["text"] for span in content["spans"]] == ["United States"]


def test_a_name_may_be_a_part_of_a_word() -> None:
    """Where the model's tokens are smaller than words."""
    text = "The (Oslo-based) club-Oslo, Oslo"
    tokens = tokenise(text, Profile.SPACES)
    oslo = Fact("city", "Q585", "Oslo", "city")
    copied = tuple(Segment(start, start + 4, oslo) for start in (5, 22, 28))
    made = replace(annotation(text.replace("Oslo,", "Bo\u0308b,")), text=text, tokens=tokens)
    best = [
        (text[start:end], fact is not None)
        for start, end, fact in replace(made, copied=copied).best
    ]
    assert best == [
        ("The", False), ("(", False), ("Oslo", True), ("-based)", False),
        ("club-", False), ("Oslo", True), (",", False), ("Oslo", True),
    ]  # fmt: skip
