"""New facts of many texts: put together, with their evidence, in formats that others read."""

import json

import pytest

from lrlm.annotation.annotation import Fact
from lrlm.checking.findings import CheckedText, Finding, GraphVerdict
from lrlm.checking.suggesting import MOST_EVIDENCE, Suggestion, suggestions

TEXT = "First. It borders Germany. Last."
PLACE = TEXT.index("Germany")


def text(id_: str, *probabilities: float, verdict: GraphVerdict = GraphVerdict.NEW) -> CheckedText:
    fact = Fact("borders", "Q183", "Germany", "borders")
    findings = tuple(
        Finding(PLACE, PLACE + 7, "Germany", verdict, each, "Q20", fact) for each in probabilities
    )
    return CheckedText(id_, "Q20", "Norway", TEXT, findings)


def test_texts_count_as_independent_and_places_of_a_text_do_not() -> None:
    (found,) = suggestions([text("one", 0.5, 0.8), text("two", 0.5)])
    assert (found.topic, found.type, found.object) == ("Q20", "borders", "Q183")
    assert found.probability == pytest.approx(1 - 0.2 * 0.5)
    assert found.texts == 2
    assert [each.probability for each in found.evidence] == [0.8, 0.5, 0.5]
    best = found.evidence[0]
    assert (best.document, best.sentence) == ("one", "It borders Germany.")
    assert TEXT[best.start : best.end] == "Germany"


def test_only_new_facts_are_suggested() -> None:
    others = (GraphVerdict.SUPPORTED, GraphVerdict.CONTRADICTED)
    texts = [text("one", 0.9, verdict=each) for each in others]
    assert suggestions(texts) == []


def test_evidence_is_bounded() -> None:
    (found,) = suggestions(text(str(n), 0.6) for n in range(100))
    assert len(found.evidence) == MOST_EVIDENCE
    assert found.texts == 100


def test_formats() -> None:
    (found,) = suggestions([text("one", 0.75)])
    content = json.loads(found.to_json())
    assert content["triple"] == ["Q20", "borders", "Q183"]
    assert content["evidence"][0]["document"] == "one"
    assert found.to_ntriples() == "<urn:lrlm:Q20> <urn:lrlm:borders> <urn:lrlm:Q183> ."


def line(object_: str, topic: str = "http://example.org/Norway") -> str:
    return Suggestion(topic, "largest city", object_, "x", 1.0, 1, ()).to_ntriples()


def test_ntriples_keep_addresses_and_write_values_as_literals() -> None:
    assert line("7 June 1905") == (
        '<http://example.org/Norway> <urn:lrlm:largest%20city> "7 June 1905" .'
    )
    assert line('a "b" <c>').endswith("<urn:lrlm:a%20%22b%22%20%3Cc%3E> .")
    assert line("x", topic="no > address").startswith("<urn:lrlm:no%20%3E%20address> ")
