"""An annotation as a page, as columns and in the terminal: complete, and safe to show."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import ClassVar

import pytest
from lrlm.report.annotation_conll import annotation_to_conll
from lrlm.report.annotation_html import annotation_to_html
from lrlm.report.annotation_text import annotation_view
from lrlm.report.colours import hues, terminal_styles
from lrlm.report.explanation_words import described, percent
from lrlm.report.shown_spans import shown_spans, with_candidates
from rich.console import Console

from lrlm.annotation.annotation import Annotation
from lrlm.errors import InputError
from tests.annotation.made import TEXT, annotation


def test_what_is_shown_does_not_overlap() -> None:
    made = annotation()
    assert [span.text for span in shown_spans(made, 0.5)] == ["United States"]
    assert [span.text for span in shown_spans(made, 0.2)] == ["United States", "Bo\u0308b"]
    everything = with_candidates(made, shown_spans(made, 0.9))
    assert [span.text for span in everything] == ["The United States", "Bo\u0308b"]
    with pytest.raises(InputError, match=r"from 0 to 1, not 1\.5"):
        shown_spans(made, 1.5)


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
    assert "http" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert "prefers-color-scheme: dark" in page


def test_a_page_shows_candidates_that_are_no_mentions() -> None:
    page = Page(annotation_to_html(annotation(), threshold=0.99))
    classes = [each.get("class") for tag, each in page.tags if "tabindex" in each]
    assert classes == ["candidate", "candidate"]
    assert page.article == TEXT


def test_columns() -> None:
    made = replace(annotation(), topic="a\ttopic\nof lines")
    lines = annotation_to_conll(made, threshold=0.4).split("\n")
    assert lines[:2] == ["# id = first_one", "# topic = a_topic_of_lines"]
    assert lines[2:6] == [
        "The\t0\t3\tO\t_\t_",
        "United\t4\t10\tB-country\tQ30\t0.6",
        "States\t11\t17\tI-country\tQ30\t0.6",
        "of\t19\t21\tO\t_\t_",
    ]
    assert lines[-2:] == ["", ""]
    rows = [line.split("\t") for line in lines[2:-2]]
    assert all(len(row) == 6 for row in rows)
    assert [TEXT[int(row[1]) : int(row[2])] for row in rows] == [row[0] for row in rows]
    (tagged,) = (row for row in rows if row[0] == "Bo\u0308b")
    assert tagged[3:] == ['B-ty<pe>_"x"', "Q<1>", "0.45"]


def shown(made: Annotation, threshold: float, *, colours: bool = False) -> str:
    console = Console(
        width=80, force_terminal=colours, color_system="truecolor" if colours else None
    )
    with console.capture() as capture:
        console.print(annotation_view(made, threshold=threshold))
    return capture.get()


def test_the_terminal_shows_mentions_and_their_sources() -> None:
    seen = shown(annotation(), 0.4)
    assert "The United States" in seen
    assert re.search(r"United States +country → Q30 +60\.0 %", seen)
    assert re.search(r"part of a longer name +30\.0 %", seen)
    assert re.search(r'Bo\u0308b +ty<pe> "x" → Q<1> +45\.0 %', seen)
    assert "No mention with a probability of at least 0.9" in shown(annotation(), 0.9)
    assert "\x1b[38;2;0;0;0;48;2;166;227;161mUnited States" in shown(
        annotation(), 0.5, colours=True
    )


def test_explanations_in_words() -> None:
    whole, part, _ = annotation().spans
    assert [described(each, whole) for each in whole.explanations] == [
        "“The” + country → Q30", "land of birth → Q30", "words",
    ]  # fmt: skip
    assert described(replace(whole.best, steps=()), whole) == "other mixtures"
    assert described(part.explanations[1], part) == "part of a longer name"


@pytest.mark.parametrize(
    ("probability", "written"),
    [(1.0, "> 99.9 %"), (0.9994, "99.9 %"), (0.5, "50.0 %"), (0.0005, "0.1 %"), (0.0, "< 0.1 %")],
)
def test_probabilities_are_not_overstated(probability: float, written: str) -> None:
    assert percent(probability) == written


def test_colours_depend_on_the_order_alone() -> None:
    types = [f"type {number}" for number in range(30)]
    assert len(set(hues(types).values())) == 30
    assert hues(["b", "a", "b"]) == hues(["b", "a"])
    assert set(terminal_styles(types)) == set(types)
