"""Statements against a list of all segmentations, and verdicts from what the graph says."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lrlm.annotation.annotation import Fact
from lrlm.checking.calibration import Calibration
from lrlm.checking.findings import GraphVerdict
from lrlm.checking.hypotheses import KnowledgeOfTypes, with_hypotheses
from lrlm.checking.judging import calibrated, judge, stated
from lrlm.checking.statements import StatedDocument, Statement
from lrlm.corpora import link
from lrlm.corpora.open_relations import MOST_TYPES
from lrlm.knowledge import TITLE, Relation, Topic
from lrlm.knowledge.schema import Schema
from lrlm.models import read_documents
from lrlm.text import LinkedDocument, TokenPlaces
from tests.annotation.test_annotate import GenerousSpeller, toy_run
from tests.models.contract import make_model
from tests.oracles.statements import statements

TOPIC = Topic(
    "topic",
    names=["a b"],
    relations=[Relation("likes", "first", ["b"]), Relation("likes", "second", ["Anna"])],
)
SCHEMA = Schema.of(
    [
        Topic("one", relations=[Relation("likes", "Berta"), Relation("age", 12)]),
        Topic("two", relations=[Relation("likes", "u"), Relation("age", 7)]),
    ]
)
KNOWN = KnowledgeOfTypes.of(SCHEMA)
RICHER = Schema.of(
    [
        Topic("one", relations=[Relation("likes", "Berta"), Relation("age", 12)]),
        Topic("two", relations=[Relation("likes", "Carla"), Relation("knows", "Carla")]),
        Topic("three", relations=[Relation("knows", "u"), Relation("town", "Berta")]),
    ]
)
"""Its types have some names in common, and some not."""
TEXTS = ["Anna b Berta 12 a", "u Berta Anna", "a b", "12 u 7", "Carla Berta a Anna b"]


def supposed(text: str) -> LinkedDocument:
    return with_hypotheses(link(text, TOPIC), KNOWN)


def test_open_relations_stand_behind_the_known_ones() -> None:
    document = supposed(TEXTS[0])
    known = link(TEXTS[0], TOPIC)
    assert document.relations[: len(known.relations)] == known.relations
    added = document.relations[len(known.relations) :]
    assert all(relation.is_open and len(relation.forms) == 1 for relation in added)
    assert {relation.type for relation in added} == {"likes", "age"}
    assert list(document.mentions) == sorted(document.mentions)
    assert set(known.mentions) <= set(document.mentions)


def test_no_hypothesis_about_what_is_known_or_of_another_kind() -> None:
    document = supposed(TEXTS[0])
    stated_types = {
        (mention.start, document.relations[mention.relation].type)
        for mention in document.mentions
        if document.relations[mention.relation].is_open
    }
    assert (0, "likes") not in stated_types, "Anna is liked, as is known"
    assert (2, "likes") in stated_types
    assert (2, "age") not in stated_types, "no age has a capital letter"
    assert (3, "age") in stated_types


def test_a_text_without_names_stays_as_it_is() -> None:
    document = link("a a b b", Topic("T"))
    assert with_hypotheses(document, KNOWN).mentions == ()


@pytest.mark.parametrize("kind", ["lrlm", "lrlm+summary"])
@pytest.mark.parametrize("calibration", [Calibration(), Calibration(-2.0, 1.0, 0.7)])
@pytest.mark.parametrize("schema", [SCHEMA, RICHER])
def test_statements_are_those_of_all_segmentations(
    kind: str, calibration: Calibration, schema: Schema
) -> None:
    run = toy_run(speller=GenerousSpeller())
    if "+" in kind:
        run = replace(run, model=make_model(kind, "lstm"))
    known = KnowledgeOfTypes.of(schema)
    documents = [with_hypotheses(link(text, TOPIC), known) for text in TEXTS]
    places = [run.space.places(document) for document in documents]
    scored = read_documents(run.model, run.collator, list(run.encoder.encode(documents)))
    weighed = [
        calibrated(document, where, each, schema, calibration)
        for document, where, each in zip(documents, places, scored, strict=True)
    ]
    found = stated(documents, places, weighed)
    for document, where, each, ours in zip(documents, places, scored, found, strict=True):
        theirs = statements(document, where, each, schema, calibration)
        assert ours.is_possible
        for key, probability in theirs.items():
            assert ours.probabilities.get(Statement(*key), 0.0) == pytest.approx(
                probability, abs=1e-5
            )


def test_known_and_open_relations_share_one_softmax() -> None:
    """At a place where all relations have an edge with a lone form, they sum to P(relation)."""
    run = toy_run(speller=GenerousSpeller())
    facts = [Relation("likes", "first", ["b"])]
    many = with_hypotheses(link("u Berta", Topic("a", ["Berta"], facts)), KNOWN)
    one = link("u Berta", Topic("a", ["Berta"]))
    assert len(many.relations) > 4
    assert len(one.relations) == 1
    sums = []
    for document in (many, one):
        count = len(document.relations)
        encoded = replace(
            run.encoder.encode_one(document),
            edges_E4=np.array([(1, 2, number, 0) for number in range(count)]),
            mention_E=np.full(count, -1, dtype=np.int64),
        )
        (scored,) = read_documents(run.model, run.collator, [encoded])
        sums.append(float(scored.score_E.exp().sum()))
    assert sums[0] == pytest.approx(sums[1], rel=1e-6)


def test_hypotheses_do_not_change_what_a_model_reads_of_the_topic() -> None:
    run = replace(toy_run(speller=GenerousSpeller()), model=make_model("lrlm+summary", "lstm"))
    plain, more = (
        read_documents(run.model, run.collator, [run.encoder.encode_one(document)])[0]
        for document in (link(TEXTS[0], TOPIC), supposed(TEXTS[0]))
    )
    assert plain.words_N().tolist() == pytest.approx(more.words_N().tolist(), abs=1e-6)


def judged(topic: Topic, statement: Statement, schema: Schema, text: str) -> tuple[str, list[str]]:
    document = with_hypotheses(link(text, topic), KnowledgeOfTypes.of(schema))
    tokens = document.tokens
    places = TokenPlaces(tokens.starts, tokens.ends, range(len(tokens)))
    given = StatedDocument(document, places, {statement: 0.9}, True)
    checked = judge(given, schema, threshold=0.5)
    (finding,) = checked.findings
    return str(finding.verdict), [fact.object for fact in finding.instead]


COUNTRIES = Schema.of(
    [
        Topic(f"L{n}", relations=[Relation("capital", f"C{n}"), Relation("borders", "X"),
              Relation("borders", f"L{n + 1}")])
        for n in range(30)
    ]
)  # fmt: skip
NORWAY = Topic("Norway", relations=[Relation("capital", "Oslo"), Relation("borders", "Sweden")])


def test_verdicts() -> None:
    text = "Oslo and Bergen"
    assert judged(NORWAY, Statement(0, 1, "capital", "Oslo"), COUNTRIES, text) == ("supported", [])
    assert judged(NORWAY, Statement(2, 3, "capital", None), COUNTRIES, text) == (
        "contradicted",
        ["Oslo"],
    )
    assert judged(NORWAY, Statement(2, 3, "borders", None), COUNTRIES, text) == ("new", [])
    nothing = Topic("Norway")
    assert judged(nothing, Statement(2, 3, "capital", None), COUNTRIES, text) == ("new", [])


def test_a_graph_that_contradicts_itself_is_told() -> None:
    twice = NORWAY.add(Relation("capital", "Kristiania"))
    assert judged(twice, Statement(2, 3, "capital", None), COUNTRIES, "Oslo and Bergen") == (
        "contradicted",
        ["Oslo", "Kristiania"],
    )
    document = link("Oslo", twice)
    places = TokenPlaces(document.tokens.starts, document.tokens.ends, [0])
    supported = StatedDocument(document, places, {Statement(0, 1, "capital", "Oslo"): 1.0}, True)
    checked = judge(supported, COUNTRIES, threshold=0.5)
    assert checked.findings[0].verdict is GraphVerdict.SUPPORTED
    (conflict,) = checked.conflicts
    assert conflict.facts == (
        Fact("capital", "Oslo", "Oslo", "capital"),
        Fact("capital", "Kristiania", "Kristiania", "capital"),
    )


def test_titles_and_improbable_statements_are_no_findings() -> None:
    document = link("Oslo", NORWAY)
    places = TokenPlaces(document.tokens.starts, document.tokens.ends, [0])
    sums = {Statement(0, 1, TITLE, "Norway"): 0.9, Statement(0, 1, "capital", "Oslo"): 0.1}
    assert not judge(
        StatedDocument(document, places, sums, True), COUNTRIES, threshold=0.05
    ).findings


def test_candidates_are_bounded_whatever_the_topic() -> None:
    many = Topic("T", relations=[Relation(f"type {n}", f"Name {n}") for n in range(500)])
    crowd = Topic("C", relations=[Relation("member", f"Person {n}") for n in range(10_000)])
    for topic in (many, crowd):
        document = with_hypotheses(link("Alice met Bob.", topic), KNOWN)
        added = [relation for relation in document.relations if relation.is_open]
        assert len(added) <= 2 * MOST_TYPES
        assert len(document.mentions) <= 2 * len(added)


def test_findings_never_overlap_and_the_more_probable_stays() -> None:
    document = with_hypotheses(link("Oslo and Bergen", NORWAY), KnowledgeOfTypes.of(COUNTRIES))
    tokens = document.tokens
    places = TokenPlaces(tokens.starts, tokens.ends, range(len(tokens)))
    sums = {
        Statement(0, 3, "capital", None): 0.2,
        Statement(2, 3, "borders", None): 0.3,
        Statement(0, 1, "capital", "Oslo"): 0.25,
    }
    checked = judge(StatedDocument(document, places, sums, True), COUNTRIES, threshold=0.1)
    assert [(each.text, each.probability) for each in checked.findings] == [
        ("Oslo", 0.25),
        ("Bergen", 0.3),
    ]


def test_a_hypothesis_is_believed_by_what_is_known_of_its_name() -> None:
    document = with_hypotheses(link("C1 and X and Bergen", NORWAY), KnowledgeOfTypes.of(COUNTRIES))
    tokens = document.tokens
    places = TokenPlaces(tokens.starts, tokens.ends, range(len(tokens)))
    sums = {Statement(place, place + 1, "capital", None): 0.5 for place in (0, 2, 4)}
    calibration = Calibration(slope=2.0, usual=1.0, elsewhere=-1.0, unknown=-2.0)
    given = StatedDocument(document, places, sums, True)
    checked = judge(given, COUNTRIES, threshold=0.0, calibration=calibration)
    expected = [1 / (1 + math.exp(-added)) for added in (1.0, -1.0, -2.0)]
    assert [each.probability for each in checked.findings] == pytest.approx(expected)


def test_a_supported_statement_keeps_its_posterior() -> None:
    document = link("Oslo", NORWAY)
    places = TokenPlaces(document.tokens.starts, document.tokens.ends, [0])
    given = StatedDocument(document, places, {Statement(0, 1, "capital", "Oslo"): 0.7}, True)
    checked = judge(given, COUNTRIES, threshold=0.0, calibration=Calibration(slope=0.1, usual=-9.0))
    assert [each.probability for each in checked.findings] == [0.7]
