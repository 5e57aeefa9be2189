"""A checked text as a page, in a notebook and in a terminal: complete, and safe to show."""

import re
from dataclasses import replace
from io import StringIO

from rich.console import Console

from lrlm.checking.html import checked_to_html, html_fragment
from lrlm.checking.terminal import checked_view
from tests.annotation.test_html import Page
from tests.checking.made import TEXT, checked


def test_a_page_holds_the_text_and_what_the_graph_says() -> None:
    page = Page(checked_to_html(checked()))
    assert page.article == TEXT.replace("\u202e", "\ufffd")
    marks = [each for tag, each in page.tags if tag == "span" and "tabindex" in each]
    assert [mark["data-verdict"] for mark in marks] == ["supported", "contradicted", "new"]
    told = page.hidden[str(marks[1]["aria-describedby"])]
    assert "contradicted" in told
    assert "90.0 %" in told
    assert "ty<pe> → Q<Asia>; the graph says Europe, A, B and 2 more" in told
    assert "T&T · ty<pe> · Q<Asia>" in told


def test_a_page_needs_nothing_else_and_escapes_whatever_comes() -> None:
    page = checked_to_html(checked())
    assert "http" not in page.replace("http-equiv", "")
    for raw in ("<b>is</b>", "ty<pe>", "Top <ic>", "<X>"):
        assert raw not in page
    assert "The graph contradicts itself: capital is &lt;X&gt; and Y" in page


def test_a_fragment_changes_nothing_around_it() -> None:
    fragment = html_fragment(checked())
    assert not re.search(r"<(style|script)| id=", fragment)
    assert "3 statements: 1 supported, 1 contradicted, 1 new" in fragment
    assert "<b>is</b>" not in fragment


def shown(view: object) -> str:
    console = Console(width=100, color_system=None, record=True, file=StringIO())
    console.print(view)
    return console.export_text()


def test_a_terminal_shows_the_text_and_a_table() -> None:
    text = shown(checked_view(checked()))
    assert "1 supported, 1 contradicted, 1 new" in text
    assert "the graph says Europe" in text
    assert "\u202e" not in text
    assert "The graph contradicts itself: capital is <X> and Y" in text
    nothing = shown(checked_view(replace(checked(), findings=(), conflicts=())))
    assert "nothing about its topic that could be checked" in nothing
