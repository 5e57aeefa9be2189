"""What reaches the terminal is text, and colours stay where they belong."""

from rich.text import Text

from lrlm.report.annotation_text import annotation_view
from lrlm.report.printable import printable
from tests.annotation.made import annotation


def test_every_character_keeps_its_place() -> None:
    text = "a\r\nb\x1b]0;title\x07\tc\x9b\x85d"
    shown = printable(text)
    assert len(shown) == len(text)
    assert shown == "a \nb ]0;title \tc  d"
    assert Text(shown).plain == shown  # rich takes some control characters out


def test_marks_are_right_behind_line_ends_of_windows() -> None:
    given = annotation()
    view = annotation_view(given)
    text = next(part for part in view.renderables if isinstance(part, Text))
    assert text.plain == printable(given.text.rstrip())
    for span in text.spans:
        assert text.plain[span.start : span.end] in {each.text for each in given.mentions()}
