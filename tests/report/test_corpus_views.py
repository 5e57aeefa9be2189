"""Articles and topics in a terminal: whatever they hold, the terminal obeys none of it."""

import re

from lrlm.cli.console import as_plain_text
from lrlm.corpora.linking import Linker, LinkOptions
from lrlm.knowledge import Relation, Topic
from lrlm.report.corpus_views import article_view, topic_table
from lrlm.text import Profile

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
    shown = as_plain_text(topic_table(topic()))
    assert not OBEYED.search(shown)
    assert "North Sea" in shown


def test_a_mention_is_shown_as_it_is_written_and_its_type_by_its_name() -> None:
    tokyo = Topic("Q1490", ["東京都"], [Relation("P17", "Q17", ["日本国"], label="国")])
    options = LinkOptions(profile=Profile.UNSPACED)
    document = Linker(tokyo, options).link("東京都は日本国の首都である。", id="a", title="東京都")
    shown = as_plain_text(article_view(document))
    assert "国 → Q17" in shown
    assert shown.count("日本国") == 2
    assert "日 本 国" not in shown


def test_a_topic_is_shown_with_the_names_of_its_types() -> None:
    shown = as_plain_text(
        topic_table(Topic("Q20", "Norway", [Relation("P36", "Oslo", label="capital")]))
    )
    assert "capital" in shown
    assert "P36" not in shown
