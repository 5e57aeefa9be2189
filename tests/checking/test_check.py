"""Texts checked by the model that comes with the package, and by one on subwords."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import lrlm
from lrlm import BadText, CheckedText, Model, Relation, Topic
from lrlm.checking.calibration import CALIBRATION, Calibration, calibration_of
from lrlm.checking.check import Checker
from lrlm.checking.fitting import fit_calibration, save_calibration
from lrlm.checking.fitting_texts import TrainingTexts
from lrlm.checking.hypotheses import KnowledgeOfTypes, with_hypotheses
from lrlm.checking.judging import calibrated, stated
from lrlm.corpora import link
from lrlm.corpora.miniworld.corpus import generate
from lrlm.corpora.miniworld.facts import topics as miniworld_topics
from lrlm.errors import FormatError, InputError
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.schema import Schema
from lrlm.models import read_documents
from lrlm.text.document import GoldSpan
from tests.models.subword_world import TOPIC as SUBWORD_TOPIC
from tests.models.subword_world import subword_run
from tests.oracles.statements import statements
from tests.toy_run import toy_run

TEXT = (
    "Norway is a country in Asia. Its capital is Oslo and the largest city is Bergen. The currency"
    " is the euro. Films from India fill the cinemas. It borders Germany and Sweden."
)


@pytest.fixture(scope="module")
def model() -> Model:
    return lrlm.load()


@pytest.fixture(scope="module")
def norway(model: Model) -> Topic:
    return model.topic("Norway")


def said(checked: CheckedText) -> list[tuple[str, str, str]]:
    return [(each.text, str(each.verdict), each.fact.type) for each in checked.findings]


def test_what_the_graph_says_of_a_text(model: Model, norway: Topic) -> None:
    checked = model.check(TEXT, norway)
    assert said(checked) == [
        ("Asia", "contradicted", "continent"),
        ("Oslo", "supported", "capital"),
        ("Bergen", "contradicted", "largest city"),
        ("euro", "contradicted", "currency"),
        ("Germany", "new", "borders"),
        ("Sweden", "supported", "borders"),
    ]
    for finding in checked.findings:
        assert TEXT[finding.start : finding.end] == finding.text
        assert 0.5 <= finding.probability <= 1
    euro = checked.findings[3]
    assert euro.triple == ("Norway", "currency", "Euro")
    assert [fact.object for fact in euro.instead] == ["Norwegian_krone"]
    assert checked.of("new") == (checked.findings[4],)


def test_who_is_trusted(model: Model, norway: Topic) -> None:
    text = f"{TEXT} Its president is Carl Dahl."
    trusted_graph = model.check(text, norway, trust="graph")
    # A trusted graph has all neighbours, so another one is an error; it has no gaps to look for.
    assert ("Germany", "contradicted", "borders") in said(trusted_graph)
    assert not trusted_graph.of("new")
    borders = next(each for each in trusted_graph.findings if each.text == "Germany")
    assert "Sweden" in [fact.object for fact in borders.instead]
    trusted_text = model.check(text, norway, trust="text")
    assert ("Germany", "new", "borders") in said(trusted_text)
    (many,) = model.check_many([(text, norway)], trust="graph", bad_texts="raise")
    assert many == trusted_graph


def test_a_result_can_be_written_and_shown(model: Model, norway: Topic) -> None:
    checked = model.check(TEXT, norway)
    content = json.loads(checked.to_json())
    assert content == checked.to_dict()
    assert content["findings"][0] == {
        "start": 23,
        "end": 27,
        "text": "Asia",
        "verdict": "contradicted",
        "probability": checked.findings[0].probability,
        "type": "continent",
        "object": "Asia",
        "triple": ["Norway", "continent", "Asia"],
        "instead": [{"object": "Europe", "name": "Europe"}],
    }
    assert repr(checked).startswith("CheckedText('Norway is a country in Asia. Its capital")
    assert "Asia (continent: contradicted)" in repr(checked)
    assert "contradicted" in checked._repr_html_()


def test_many_texts_say_what_each_says_alone(model: Model, norway: Topic) -> None:
    texts = [(TEXT, norway), ("", norway), ("Norway is a country.", norway)]
    first, bad, last = model.check_many(texts, batch_size=1)
    assert isinstance(first, CheckedText)
    assert said(first) == said(model.check(TEXT, norway))
    assert isinstance(bad, BadText)
    assert isinstance(last, CheckedText)
    assert last.findings == ()
    with pytest.raises(InputError, match="empty"):
        list(model.check_many(texts, bad_texts="raise"))
    with pytest.raises(InputError, match="bad_texts"):
        model.check_many(texts, bad_texts="ignore")  # type: ignore[call-overload]


def test_a_text_without_names_and_a_topic_without_facts(model: Model, norway: Topic) -> None:
    assert model.check("it rains and rains.", norway).findings == ()
    unknown = Topic("Ruritania")
    checked = model.check("Ruritania is a country. Its capital is Strelsau.", unknown)
    assert all(finding.verdict == "new" for finding in checked.findings)


def test_what_is_known_of_types_may_come_from_a_graph(tmp_path: Path, model: Model) -> None:
    facts = [(f"Land {n}", "capital", f"City {n}") for n in range(30)]
    graph = KnowledgeGraph.from_triples(facts, out=tmp_path / "kg")
    topic = graph.topic("Land 3")
    checked = model.check("Land 3 is a country. Its capital is City 4.", topic, graph=graph)
    assert ("City 4", "contradicted", "capital") in said(checked)


def test_a_graph_without_names_supports_nothing(tmp_path: Path, model: Model) -> None:
    graph = KnowledgeGraph.from_triples([("Q1", "P1", "Q2")], out=tmp_path / "kg")
    checked = model.check("Oslo is the capital.", graph.topic("Q1"), graph=graph)
    assert checked.of("supported") == ()


def test_bad_values_are_refused(model: Model, norway: Topic) -> None:
    with pytest.raises(InputError, match="threshold"):
        model.check(TEXT, norway, threshold=2)
    with pytest.raises(InputError, match="trust must be 'neither', 'graph' or 'text'"):
        model.check(TEXT, norway, trust="me")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="log_odds"):
        Calibration(log_odds=float("nan"))
    with pytest.raises(InputError, match=r"lrlm\.Topic"):
        model.check(TEXT, "Norway")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="sums over segmentations"):
        Model(toy_run("vanilla")).check("a b", norway)


def test_higher_odds_against_hypotheses_find_less(model: Model, norway: Topic) -> None:
    text = "Norway is a country. Its capital is Trondheim."
    assert len(model.check(text, norway).findings) == 1
    assert not model.check(text, norway, calibration=Calibration(log_odds=200.0)).findings


def test_most_articles_are_supported_by_their_facts(model: Model) -> None:
    known = miniworld_topics()
    articles = [(each.text, known[each.topic]) for each in generate("test", 30, seed=3)]
    alarms = [
        finding
        for checked in model.check_many(articles, bad_texts="raise")
        for finding in checked.findings
        if finding.verdict != "supported"
    ]
    assert len(alarms) <= 1


def test_the_calibration_of_a_run_is_fitted_and_kept(tmp_path: Path, model: Model) -> None:
    known = KnowledgeOfTypes.of(Schema.of(miniworld_topics().values()))
    topics = miniworld_topics()
    documents = [
        link(
            each.text,
            topics[each.topic],
            gold=[GoldSpan(span.start, span.end, span.type, span.object) for span in each.gold],
        )
        for each in generate("valid", 20, seed=4)
    ]
    fitted = fit_calibration(model.run, known, documents)
    largest = 23  # 24 is the end of what is tried; twenty texts hardly tell how far one may go
    assert 0 < fitted.log_odds < largest
    without_gold = [replace(document, gold=None) for document in documents]
    assert 0 < fit_calibration(model.run, known, without_gold).log_odds < largest
    elsewhere = replace(model.run, folder=tmp_path)
    assert calibration_of(elsewhere) == Calibration()
    save_calibration(elsewhere, fitted)
    assert calibration_of(elsewhere) == fitted
    (tmp_path / CALIBRATION).write_text('{"log_odds": "many"}')
    with pytest.raises(FormatError, match=CALIBRATION):
        calibration_of(elsewhere)
    for training in (None, TrainingTexts(documents, ())):  # those of training do not suffice
        with pytest.raises(InputError, match="nothing can be fitted"):
            fit_calibration(model.run, known, [link("it rains", Topic("T"))], training=training)


def test_open_relations_on_subwords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names stand where the tokens do, and statements are those of all segmentations."""
    run = subword_run(tmp_path, monkeypatch)
    facts = [Relation("first", "ab"), Relation("new", "b a")]
    schema = Schema.of([Topic("other", relations=facts)])
    known = KnowledgeOfTypes.of(schema)
    for text in ("a b a ab", "ab (ab b", "b a-ab a"):
        document = with_hypotheses(link(text, SUBWORD_TOPIC), known)
        encoded = run.encoder.encode_one(document)
        places = run.space.places(document)
        is_open = [document.relations[number].is_open for number in encoded.edges_E4[:, 2]]
        assert any(is_open)
        for (start, end, _, _), mention in zip(
            encoded.edges_E4.tolist(), encoded.mention_E.tolist(), strict=True
        ):
            if mention >= 0:
                there = document.mentions[mention]
                assert places.starts[start] == document.tokens.starts[there.start]
                assert places.ends[end - 1] == document.tokens.ends[there.end - 1]
        (scored,) = read_documents(run.model, run.collator, [encoded])
        weighed = calibrated(document, places, scored, schema, Calibration())
        (found,) = stated([document], [places], [weighed])
        theirs = statements(document, places, scored, schema, Calibration())
        ours = {tuple(key): value for key, value in found.probabilities.items()}
        for key, probability in theirs.items():
            assert ours.get(key, 0.0) == pytest.approx(probability, abs=1e-5)


def test_a_checker_reads_linked_documents(model: Model, norway: Topic) -> None:
    known = KnowledgeOfTypes.of(Schema.of(miniworld_topics().values()))
    checker = Checker(model.run, known, calibration=Calibration())
    (checked,) = checker.check([model.run.link(TEXT, norway)])
    assert said(checked) == said(model.check(TEXT, norway))
