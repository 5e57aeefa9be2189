"""What could be a name: runs of capitals, numbers with units, dates, and names that are known."""

from collections.abc import Sequence

import pytest

from lrlm.checking.name_spans import KnownNames, is_doubtful, name_spans, span_text
from lrlm.corpora import link
from lrlm.knowledge import Relation, Topic


def found(text: str, *names: str) -> set[str]:
    document = link(text, Topic("Nothing of this"))
    return {
        span_text(document, span.start, span.end)
        for span in name_spans(document, KnownNames(names))
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The capital is Oslo.", {"Oslo"}),
        ("It lies in New York City, in the east.", {"New York City"}),
        ("He led the Bank of Norway then.", {"Bank", "Norway", "Bank of Norway"}),
        ("It borders Germany and Sweden.", {"Germany", "Sweden"}),
        ("It flew on Apollo 11 once.", {"Apollo 11", "11"}),
        ("It was built by TRW Inc. Software was late.", {"TRW Inc.", "Software"}),
        ("there is nothing here", set()),
    ],
)
def test_runs_of_capitals(text: str, names: set[str]) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It has 5,550,000 people.", {"5,550,000"}),
        ("It has 385,207 km² of land.", {"385,207 km²"}),
        ("It has 12 square kilometres.", {"12", "12 square kilometres"}),
        ("Heated to -38.8 °C it melts.", {"-38.8 °C"}),
        ("About 5 million live there.", {"5 million"}),
        ("On 7 June 1905 it ended.", {"7 June 1905", "7 June", "June 1905", "1905"}),
        ("On June 7, 1905, it ended.", {"June 7, 1905", "1905"}),
        ("Dial +47 first.", {"+47"}),
    ],
)
def test_numbers_and_dates(text: str, wanted: set[str]) -> None:
    assert wanted <= found(text)


@pytest.mark.parametrize(
    ("known", "facts"),
    [(["14,035 square miles", "12 boats"], ()), ((), ["14,035 square miles"])],
    ids=["of the graph", "of the topic's own facts"],
)
def test_units_are_those_of_quantities_that_are_known(
    known: Sequence[str], facts: Sequence[str]
) -> None:
    topic = Topic("T", relations=[Relation("area", fact) for fact in facts])
    document = link("Its 30,843 square miles have 22 lakes.", topic)
    names = KnownNames((), quantities=known)
    assert {span_text(document, span.start, span.end) for span in name_spans(document, names)} >= {
        "30,843 square miles",
        "30,843",
        "22",
    }
    assert "30,843 square miles" not in found(document.text)


def test_names_that_are_known_are_found_in_any_case() -> None:
    assert found("they pay in euro or in gold dust", "euro", "gold dust", "the") == {
        "euro", "gold dust",
    }  # fmt: skip


def test_mentions_of_known_facts_are_names() -> None:
    document = link("made of water", Topic("T", relations=[Relation("of", "water")]))
    (span,) = name_spans(document, KnownNames(()))
    assert span_text(document, span.start, span.end) == "water"


def test_spans_grow_with_the_text_and_no_faster() -> None:
    piece = "The Bank of New York and the City of Oslo had 12 million km² on 7 June 1905. "
    ones, tens = (
        len(name_spans(link(piece * n, Topic("T")), KnownNames(["Oslo"]))) for n in (1, 10)
    )
    assert tens == 10 * ones


def test_a_word_that_begins_a_sentence_may_be_no_name() -> None:
    text = "Weirs were built. Oslo grew. In Bergen, Weirs too."
    assert is_doubtful(text, 0, 5, {})
    assert not is_doubtful(text, 18, 22, {"Oslo": "Q585"})
    assert not is_doubtful(text, 32, 38, {})
