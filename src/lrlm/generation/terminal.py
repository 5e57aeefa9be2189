"""Show generated texts in a terminal: copied names in colour, each with its `[relation]`."""

from collections.abc import Iterable, Sequence

from rich.console import Group
from rich.rule import Rule
from rich.text import Text

from lrlm.characters import printable
from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.look import PASTEL, counted, shown_perplexity, terminal_styles

_OTHERS = {"word": "", "spelled": "italic", "prompt": "bold"}


def generated_view(texts: Sequence[GeneratedText], *, palette: Sequence[str] = PASTEL) -> Group:
    """Show texts one below the other, the best first; a type has the same colour in all of them."""
    types = (piece.type for text in texts for piece in text.pieces if piece.type is not None)
    styles = terminal_styles(types, palette)
    parts: list[Rule | Text] = []
    for number, text in enumerate(texts, start=1):
        title = Text.assemble((str(number), "bold"), (f"  {summary(text)}", "dim"))
        parts += [Rule(title, align="left"), marked(text.pieces, styles), Text()]
    return Group(*parts[:-1])


def summary(text: GeneratedText) -> str:
    """Say in one line how long and how probable a text is."""
    stopped = "" if text.ended else ", stopped at the greatest length"
    tokens = counted(text.written_tokens, "token")
    return f"{tokens}, perplexity {shown_perplexity(text.perplexity)}{stopped}"


def marked(pieces: Iterable[Piece], styles: dict[str, str]) -> Text:
    """Write pieces, each copied one with its relation behind it."""
    shown, end = Text(), 0
    for piece in pieces:
        shown.append_text(marked_piece(piece, styles, end=end))
        end = piece.end
    return shown


def marked_piece(piece: Piece, styles: dict[str, str], *, end: int) -> Text:
    """Write one piece after another that ended there; what parts them is a space or nothing."""
    shown = Text(" " if piece.start > end else "")
    if piece.type is None:
        return shown.append(printable(piece.text), _OTHERS[piece.source])
    shown.append(printable(piece.text), styles.get(piece.type, "bold"))
    return shown.append(f" [{printable(piece.type)}]", "dim")
