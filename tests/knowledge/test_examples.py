"""The examples in docstrings do what they show."""

import doctest
from pathlib import Path
from types import ModuleType

import pytest

from lrlm import characters
from lrlm.knowledge import build, graph, literals, topic
from tests.knowledge.worlds import write_example_graph


@pytest.mark.parametrize("module", [characters, topic, literals, graph, build])
def test_examples(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_example_graph(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_everything_public_about_topics_and_graphs_has_an_example() -> None:
    for each in (topic.Topic, topic.Relation, graph.KnowledgeGraph):
        public = [
            value
            for name, value in vars(each).items()
            if not name.startswith("_") and (callable(value) or isinstance(value, classmethod))
        ]
        without = [
            value.__qualname__
            for value in (each, *public)
            if ">>>" not in (value.__doc__ or "") and value.__name__ != "close"
        ]
        assert not without
