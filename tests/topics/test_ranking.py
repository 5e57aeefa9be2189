"""Topics are ranked by exactly what the model says of the text about each of them."""

from pathlib import Path
from typing import Any

import pytest

import lrlm
from lrlm.annotation.score import score
from lrlm.backbones import Backbone
from lrlm.corpora.miniworld.facts import topics as miniworld_topics
from lrlm.errors import InputError
from lrlm.knowledge import Relation, Topic
from lrlm.model import Model
from lrlm.runs.run import Run
from lrlm.topics.ranking import log_probs_of
from tests.models.subword_world import TOPIC as SUBWORD_TOPIC
from tests.models.subword_world import subword_run
from tests.toy import LONELY, TOPIC
from tests.toy_run import toy_run

OTHER = Topic("other", names=["b"], relations=[Relation("likes", "second", ["u", "v a"])])
TEXT = "a b u a-b v a b a b u a b v v a b a u"


@pytest.fixture(scope="module")
def model() -> Model:
    return lrlm.load()


def log_probs_one_by_one(run: Run, text: str, topics: list[Topic]) -> list[float]:
    return [-score(run, run.link(text, topic)).nats for topic in topics]


@pytest.mark.parametrize("window", [150, 3])
@pytest.mark.parametrize(
    ("kind", "backbone"),
    [
        ("lrlm", "lstm"),
        ("lrlm", "transformer-xl"),
        ("lrlm+summary", "lstm"),
        ("nklm", "lstm"),
        ("alias", "lstm"),
    ],
)
def test_every_topic_gets_what_its_score_says(kind: str, backbone: str, window: int) -> None:
    run = toy_run(kind, backbone, window=window)
    topics = [TOPIC, OTHER, LONELY, Topic("third", names=["a", "u a b"])]
    text = TEXT.replace("-", " ")
    documents = [run.link(text, topic) for topic in topics]
    expected = log_probs_one_by_one(run, text, topics)
    assert log_probs_of(run, documents) == pytest.approx(expected, abs=1e-4)
    assert len({round(each, 3) for each in expected}) > 1


@pytest.mark.parametrize("is_long", [False, True])
def test_subwords_get_what_their_score_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_long: bool
) -> None:
    run = subword_run(tmp_path, monkeypatch, window=4 if is_long else 50)
    topics = [SUBWORD_TOPIC, Topic("x", names=["a"])]
    text = "a b ab a ab b a" if is_long else "a b ab"
    documents = [run.link(text, topic) for topic in topics]
    expected = log_probs_one_by_one(run, text, topics)
    assert log_probs_of(run, documents) == pytest.approx(expected, abs=1e-4)


def test_compounds_are_cut_as_each_topic_cuts_them(model: Model) -> None:
    topics = [
        Topic("Norway", relations=[Relation("capital", "Oslo")]),
        Topic("Sweden", relations=[Relation("capital", "Stockholm")]),
    ]
    text = "A Stockholm-based firm went to Norway."
    ranking = model.topics(text, topics, name_rules="compounds")
    for match in ranking.matches:
        document = model.run.link(text, match.topic, name_rules="compounds")
        expected = -score(model.run, document).nats
        assert match.log_prob == pytest.approx(expected, abs=1e-3)
    assert {match.id for match in ranking.matches} == {"Norway", "Sweden"}


def test_a_text_is_read_once_for_all_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    run = toy_run("lrlm")
    read: list[int] = []
    backbone = type(run.model.backbone)
    forward = backbone.forward

    def counting(self: Backbone, *arguments: Any) -> Any:
        read.append(len(arguments[0]))
        return forward(self, *arguments)

    monkeypatch.setattr(backbone, "forward", counting)
    assert Model(run).topics("a b u a", [TOPIC, OTHER]).considered == 2
    assert read == [1]


def test_probabilities_are_those_of_bayes(model: Model) -> None:
    norway, sweden = (miniworld_topics()[name] for name in ("Norway", "Sweden"))
    text = "Norway borders Sweden."
    plain = model.topics(text, [norway, sweden], prior={}, temperature=10)
    assert sum(match.probability for match in plain.matches) + plain.none == pytest.approx(1)
    by_id = {match.id: match.probability for match in plain.matches}
    weighted = model.topics(text, [norway, sweden], prior={"Sweden": 3}, temperature=10)
    shares = {match.id: match.probability for match in weighted.matches}
    assert shares["Sweden"] / shares["Norway"] == pytest.approx(
        3 * by_id["Sweden"] / by_id["Norway"]
    )
    excluded = model.topics(text, [norway, sweden], prior=lambda topic, _: topic.id == "Sweden")
    assert excluded.matches[0].id == "Sweden"
    assert excluded.matches[1].probability == 0


def test_the_topic_of_a_sentence_is_found(model: Model) -> None:
    topics = list(miniworld_topics().values())
    ranking = model.topics("Norway is a country in Europe. Its capital is Oslo.", topics)
    assert ranking.best is not None
    assert (ranking.best.id, ranking.best.title, ranking.is_sure) == ("Norway", 0, True)
    assert ranking.to_dict()["topics"][0]["name"] == "Norway"
    ranking = model.topics("Its capital is Stockholm.", topics)  # without any title
    assert ranking.best is not None
    assert (ranking.best.id, ranking.best.title) == ("Sweden", None)


def test_a_text_about_several_topics_is_not_sure(model: Model) -> None:
    topics = list(miniworld_topics().values())
    text = "The capital is Oslo. The capital is Stockholm. The capital is Helsinki."
    ranking = model.topics(text, topics)
    assert not ranking.is_sure
    assert {"Norway", "Sweden", "Finland"} <= {match.id for match in ranking.matches}


def test_a_text_about_nothing_that_is_known(model: Model) -> None:
    norway = miniworld_topics()["Norway"]
    ranking = model.topics("Films fill the cinemas.", [norway])
    assert (ranking.matches, ranking.none, ranking.best) == ((), 1.0, None)
    assert repr(ranking) == "TopicRanking('Films fill the cinemas.', no topic)"


@pytest.mark.parametrize(
    ("text", "topics", "options", "message"),
    [
        ("", [Topic("a", relations=[Relation("b", "c")])], {}, "the text is empty"),
        ("a", [], {}, "no topic with facts and names"),
        ("a", [Topic("a")], {}, "no topic with facts and names"),
        ("a", [Topic("?", relations=[Relation("b", "?")])], {}, "no topic with facts and names"),
        ("a", "kg", {}, "not in 'kg'"),
        ("a", ["Norway"], {}, "holds lrlm.Topic, not 'Norway'"),
        ("a", [TOPIC, TOPIC.remove("likes")], {}, "several topics with the id 'topic'"),
        ("w", [TOPIC], {"limit": 0}, "at least 1"),
        ("w", [TOPIC], {"temperature": 0.0}, "temperature"),
        ("w", [TOPIC], {"prior": {"topic": -1}}, "must be a number from 0 on, not -1"),
        ("w", [TOPIC], {"prior": lambda *_: "high"}, "not 'high'"),
    ],
)
def test_bad_input_is_one_line(
    model: Model, text: str, topics: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        model.topics(text, topics, **options)


def test_a_model_without_knowledge_cannot_tell_topics_apart() -> None:
    with pytest.raises(InputError, match="as probable about one topic as about another"):
        Model(toy_run("vanilla")).topics("a b", [TOPIC])


def test_that_topics_have_many_facts_does_not_speak_for_no_topic(model: Model) -> None:
    def rich(id_: str, capital: str) -> Topic:
        others = [Relation("borders", f"{id_} neighbour {n}") for n in range(300)]
        return Topic(id_, relations=[Relation("capital", capital), *others])

    norway, sweden = rich("Norway", "Oslo"), rich("Sweden", "Ystad")
    ranking = model.topics("Its capital is Oslo.", [norway, sweden])
    assert ranking.best is not None
    assert ranking.best.id == "Norway"
    alone = model.topics("Its capital is Oslo.", [norway])
    assert alone.best is not None
