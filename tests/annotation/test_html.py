"""An annotation as a web page and in a notebook: complete, and safe to show."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import ClassVar

from lrlm.annotation.html import _with_candidates, annotation_to_html, html_fragment
from tests.annotation.made import TEXT, annotation


class Page(HTMLParser):
    """Reads a page back: its text without what is hidden, its tags, and whether they nest."""

    VOID: ClassVar = {"meta", "link", "br", "img"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.article = ""
        self.hidden: dict[str, str] = {}
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tooltips = [attributes for _, attributes in self.open if "role" in attributes]
        if tooltips:
            name = str(tooltips[0]["id"])
            self.hidden[name] = self.hidden.get(name, "") + data
        elif any(tag == "article" for tag, _ in self.open):
            self.article += data


def test_a_page_holds_the_text_and_every_explanation() -> None:
    page = Page(annotation_to_html(annotation(), threshold=0.4))
    assert page.article == TEXT
    marks = [each for tag, each in page.tags if tag == "span" and "tabindex" in each]
    assert [mark["class"] for mark in marks] == ["name", "name"]
    assert marks[1]["data-type"] == 'ty<pe> "x"'
    first, second = (page.hidden[str(mark["aria-describedby"])] for mark in marks)
    assert first == "country → Q3060.0 %part of a longer name30.0 %words10.0 %"
    assert second == 'words55.0 %ty<pe> "x" → Q<1>45.0 %'
    ids = [each["id"] for _, each in page.tags if "id" in each]
    assert len(ids) == len(set(ids))


def test_nothing_in_a_page_changes_the_direction_of_what_follows() -> None:
    turned = annotation(TEXT.replace("end", "\u202edne"))
    turned = replace(turned, topic="a\u2066b")
    for shown in (annotation_to_html(turned), html_fragment(turned)):
        assert "\ufffddne" in shown
        assert "a\ufffdb" in shown
        assert not {"\u202e", "\u2066"} & set(shown)


def test_a_page_escapes_whatever_comes() -> None:
    page = annotation_to_html(annotation(), threshold=0.0)
    assert "<b>Bo" not in page
    assert "To<pic>" not in page
    assert "Q<1>" not in page
    assert "ty<pe>" not in page
    tags = {tag for tag, _ in Page(page).tags}
    assert tags <= {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "p", "ul", "li", "b", "i",
        "article", "span", "details", "summary", "div", "table", "thead", "tbody", "tr", "th", "td",
        "small", "script",
    }  # fmt: skip


def test_a_page_needs_nothing_else() -> None:
    page = annotation_to_html(annotation())
    for _, attributes in Page(page).tags:
        assert not {"src", "href", "onclick", "onload"} & set(attributes)
    assert "://" not in page
    assert "default-src 'none'" in page
    assert "url(" not in page
    assert "@import" not in page
    assert "prefers-color-scheme: dark" in page


def test_a_page_shows_candidates_that_are_no_mentions() -> None:
    page = Page(annotation_to_html(annotation(), threshold=0.99))
    classes = [each.get("class") for tag, each in page.tags if "tabindex" in each]
    assert classes == ["candidate", "candidate"]
    assert page.article == TEXT
    longest = _with_candidates(annotation(), shown=())
    assert [span.text for span in longest] == ["The United States", "Bo\u0308b"]


def test_a_fragment_holds_the_text_and_the_explanations_of_mentions() -> None:
    found = html_fragment(annotation(), threshold=0.4)
    page = Page(found)
    marks = [each for tag, each in page.tags if tag == "mark"]
    assert [mark["title"] for mark in marks] == [
        "country → Q30: 60.0 %\npart of a longer name: 30.0 %\nwords: 10.0 %",
        'words: 55.0 %\nty<pe> "x" → Q<1>: 45.0 %',
    ]
    text = re.sub(r"<small.*?</small>", "", found.partition("</p>")[2])
    assert unescape(re.sub(r"<[^>]*>", "", text)) == TEXT.rstrip()
    assert "To&lt;pic&gt; · " in found


def test_a_fragment_is_safe_and_changes_nothing_around_it() -> None:
    found = html_fragment(annotation(), threshold=0.0)
    page = Page(found)
    assert {tag for tag, _ in page.tags} <= {"div", "p", "mark", "small"}
    assert {name for _, each in page.tags for name in each} <= {"style", "title"}
    assert "<b>" not in found
    assert "ty<pe>" not in found
    assert "url(" not in found
