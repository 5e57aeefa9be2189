"""An annotation in the terminal: its mentions, their sources, and colours in the right places."""

import re
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text

from lrlm.annotation.annotation import Annotation
from lrlm.annotation.terminal import annotation_view, describe, shown_spans
from lrlm.characters import printable
from lrlm.errors import InputError
from tests.annotation.made import annotation


def test_what_is_shown_does_not_overlap() -> None:
    made = annotation()
    assert [span.text for span in shown_spans(made, 0.5)] == ["United States"]
    assert [span.text for span in shown_spans(made, 0.2)] == ["United States", "Bo\u0308b"]
    with pytest.raises(InputError, match=r"from 0 to 1, not 1\.5"):
        shown_spans(made, 1.5)


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
    assert [describe(each, whole) for each in whole.explanations] == [
        "“The” + country → Q30", "land of birth → Q30", "words",
    ]  # fmt: skip
    assert describe(replace(whole.best, steps=()), whole) == "other mixtures"
    assert describe(part.explanations[1], part) == "part of a longer name"


def test_marks_are_right_behind_line_ends_of_windows() -> None:
    given = annotation()
    view = annotation_view(given)
    text = next(part for part in view.renderables if isinstance(part, Text))
    assert text.plain == printable(given.text.rstrip())
    for span in text.spans:
        assert text.plain[span.start : span.end] in {each.text for each in given.mentions()}
