"""Topics by what users call them: a file, an id, a name."""

import json
from pathlib import Path

import pytest

from lrlm.corpora import Corpus, topic_of
from lrlm.errors import InputError
from lrlm.knowledge import Relation, Topic
from lrlm.runs.topics import MiniworldTopics, find_topic
from tests.training import tiny


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus.open(tiny.write_corpus(tmp_path_factory.mktemp("topics")))


def test_the_topic_of_an_article_has_everything_that_was_known(corpus: Corpus) -> None:
    topic = corpus.topic("Town3")
    assert topic == Topic(
        "Town3",
        ["Town 3", "Town3"],
        [Relation("founded", "1203"), Relation("river", "Oder", ["Oder River", "Oder"])],
    )
    assert topic_of(corpus.document("Town3")) == topic


def test_unknown_topics_are_refused_with_near_ones(corpus: Corpus) -> None:
    with pytest.raises(InputError, match=r"no topic 'Towm3'; did you mean 'Town3'"):
        corpus.topic("Towm3")
    with pytest.raises(InputError, match=r"miniworld has no topic 'Norwai'; did you mean"):
        MiniworldTopics().topic("Norwai")


def test_miniworld_knows_its_topics_by_name() -> None:
    topic = MiniworldTopics().topic("Norway")
    assert "Norway" in topic.names
    assert topic.relations


def test_a_file_comes_before_a_collection(tmp_path: Path) -> None:
    path = tmp_path / "Norway"
    path.write_text(json.dumps({"id": "mine"}))
    assert find_topic(str(path), None) == Topic("mine")
    with pytest.raises(InputError, match="cannot be read"):
        find_topic(str(tmp_path / "missing.json"), MiniworldTopics())
    with pytest.raises(InputError, match="neither a graph nor a corpus was named"):
        find_topic("Norway", None)
