"""The texts that a calibration is fitted on: of all topics, and none with what it should find."""

from pathlib import Path

import lrlm
from lrlm.checking.fitting import fit_calibration
from lrlm.checking.fitting_texts import (
    MOST_DOCUMENTS,
    MOST_TRAINING_DOCUMENTS,
    TrainingTexts,
    sample,
    with_knowledge_of_others,
)
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.corpora import link, topic_of
from lrlm.corpora.miniworld.corpus import write
from lrlm.knowledge import Relation, Topic
from lrlm.knowledge.schema import Schema

TOPICS = [Topic(f"T{n}", relations=[Relation("capital", f"City{n}")]) for n in range(12)]


def test_all_topics_give_texts_to_a_fit() -> None:
    many, few = Topic("many"), Topic("few")
    texts = [link(f"a {number}", many) for number in range(900)]
    texts += [link(f"b {number}", few) for number in range(5)]
    chosen = sample(texts, seed=1)
    assert len(chosen) == MOST_DOCUMENTS
    assert sum(document.topic == "few" for document in chosen) == 5
    assert sample(chosen, seed=2) == chosen


def test_no_text_is_read_with_what_its_own_topic_says_of_types() -> None:
    known = KnowledgeOfTypes.of(Schema.of(TOPICS))
    strange = Topic("strange", relations=[Relation("capital", "Elsewhere")])
    documents = [link(f"{topic.id} it is", topic) for topic in (*TOPICS, strange)]
    groups = list(with_knowledge_of_others(documents, known, TOPICS, seed=1))
    read = [document.topic for _, members in groups for document in members]
    assert sorted(read) == sorted(document.topic for document in documents)
    for knowledge, members in groups:
        for document in members:
            if document.topic == "strange":
                assert knowledge is known
            else:
                assert f"City{document.topic[1:]}" not in knowledge.schema.names
                assert knowledge.schema.types["capital"].topics >= 9
    again = list(with_knowledge_of_others(documents, known, TOPICS[::-1], seed=1))
    assert [members for _, members in again] == [members for _, members in groups]


def test_topics_that_were_not_counted_leave_knowledge_as_it_is() -> None:
    known = KnowledgeOfTypes.of(Schema.of(TOPICS))
    documents = [link("a", Topic("a")), link("b", Topic("b"))]
    assert list(with_knowledge_of_others(documents, known, (), seed=1)) == [(known, documents)]
    assert list(with_knowledge_of_others((), known, TOPICS, seed=1)) == []


def test_training_texts_are_drawn_and_fitted_on_the_same_way_each_time(tmp_path: Path) -> None:
    write(tmp_path, articles=(24, 8, 1))
    corpus = lrlm.build_corpus(
        tmp_path / "corpus",
        triples=tmp_path / "triples.tsv",
        forms=tmp_path / "forms.tsv",
        train=tmp_path / "articles.train.jsonl",
        valid=tmp_path / "articles.valid.jsonl",
    )
    world = [topic_of(document) for document in corpus.documents("train")]
    training = TrainingTexts.of(corpus, world)
    trained = list(corpus.documents("train"))
    assert list(training.documents) == trained  # so few that all are taken
    assert len(trained) < MOST_TRAINING_DOCUMENTS
    assert list(training.topics) == world
    assert TrainingTexts.of(corpus, world) == training
    run, known = lrlm.load().run, KnowledgeOfTypes.of(Schema.of(world))
    new = list(corpus.documents("valid"))
    fitted = fit_calibration(run, known, new, training=training)
    assert fitted == fit_calibration(run, known, new, training=training)
    assert fitted.lacked != fit_calibration(run, known, new).lacked
