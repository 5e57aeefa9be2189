"""Articles and topics in a terminal: whatever they hold, the terminal obeys none of it."""

import re
from types import SimpleNamespace
from typing import Any, cast

from lrlm.cli.console import as_plain_text
from lrlm.corpora.linking import Linker
from lrlm.knowledge import KnowledgeGraph, Relation, Topic
from lrlm.report.corpus_views import article_view, topic_table

ODD = "\x1b[2J\x07\x9b\u202e\u2066"
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def topic() -> Topic:
    return Topic(f"Q1{ODD}", ["Rhine"], [Relation("flows to", f"Q2{ODD}", ["North Sea"])])


def test_an_article_is_shown_without_what_a_terminal_obeys() -> None:
    text = f"The {ODD} Rhine flows to the North Sea."
    document = Linker(topic()).link(text, id=f"a{ODD}", title=f"Rhine{ODD}")
    shown = as_plain_text(article_view(document))
    assert not OBEYED.search(shown)
    assert "flows to → Q2 [2J" in shown
    assert "Rhine flows to the North Sea." in shown


def test_a_topic_is_shown_without_what_a_terminal_obeys() -> None:
    graph: Any = SimpleNamespace(relation_label=lambda type_: f"{type_}{ODD}")
    shown = as_plain_text(topic_table(cast("KnowledgeGraph", graph), topic()))
    assert not OBEYED.search(shown)
    assert "North Sea" in shown
