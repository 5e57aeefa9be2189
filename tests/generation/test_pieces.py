"""Pieces of a text, where a form has other tokens at the start of a text than behind a word."""

from lrlm.generation.pieces import CopiedForm, PieceWriter, WrittenToken
from lrlm.text import GrowingText, LinkableRelation, SurfaceForm

OSLO = LinkableRelation("capital", "Q585", (("Oslo",),), ("Oslo",))
FORM = CopiedForm(OSLO, SurfaceForm(("Oslo",), "Oslo"), (("Os", "lo"), (" Oslo",)))
"""Two tokens at the start of a text, one behind a word: as subwords are."""


class Subwords(GrowingText):
    """A text that grows by the texts of its tokens."""

    def __init__(self) -> None:
        self._text = ""
        self.tokens, self.places = [], []

    @property
    def text(self) -> str:
        return self._text

    def add(self, token: int, *, copied: str | None = None) -> None:
        piece = copied if copied is not None else ["is", " in"][token]
        start = len(self._text) + len(piece) - len(piece.lstrip())
        self._text += piece
        self.places.append((start, len(self._text)))
        self.tokens.append(piece)

    def finish(self) -> None:
        pass


def test_a_form_is_whole_in_each_of_its_contexts() -> None:
    writer = PieceWriter(Subwords(), [FORM])
    pieces = writer.add(WrittenToken(7, -1.0, form=0, position=0, context=0))
    assert pieces == []
    pieces += writer.add(WrittenToken(8, 0.0, form=0, position=1, context=0))
    pieces += writer.add(WrittenToken(1, -0.5))
    pieces += writer.add(WrittenToken(9, -2.0, form=0, position=0, context=1))
    pieces += writer.finish()
    told = [(piece.text, piece.start, piece.end, piece.source, piece.log_prob) for piece in pieces]
    assert told == [
        ("Oslo", 0, 4, "relation", -1.0),
        ("in", 5, 7, "word", -0.5),
        ("Oslo", 8, 12, "relation", -2.0),
    ]
    assert not any(piece.is_partial for piece in pieces)
    assert writer.text == "Oslo in Oslo"


def test_a_form_that_was_left_is_partial() -> None:
    writer = PieceWriter(Subwords(), [FORM])
    writer.add(WrittenToken(7, -1.0, form=0, position=0, context=0))
    (piece,) = writer.finish()
    assert piece.is_partial
    assert piece.text == "Os"
