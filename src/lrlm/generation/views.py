"""Show generated texts: in a terminal, as a web page, or as a part of a notebook.

Copied names are coloured by relation type. A page needs nothing else, and whatever the texts hold,
they stay text.
"""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group
from rich.rule import Rule
from rich.text import Text

from lrlm.characters import printable
from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.look import (
    PASTEL,
    counted,
    fragment,
    html_text,
    hues,
    marked_name,
    page,
    shown_perplexity,
    shown_type,
    terminal_styles,
)

_OTHERS = {"word": "", "spelled": "italic", "name word": "", "prompt": "bold"}


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
    """Write pieces, each copied one with its relation behind it, without white space before all."""
    shown = Text()
    end: int | None = None
    for piece in pieces:
        shown.append_text(marked_piece(piece, styles, end=piece.start if end is None else end))
        end = piece.end
    return shown


def marked_piece(piece: Piece, styles: dict[str, str], *, end: int) -> Text:
    """Write one piece after another that ended there; what parts them is a space or nothing."""
    shown = Text(" " if piece.start > end else "")
    if piece.type is None:
        return shown.append(printable(piece.text), _OTHERS[piece.source])
    shown.append(printable(piece.text), styles.get(piece.type, "bold"))
    return shown.append(f" [{printable(_label(piece))}]", "dim")


def generated_to_html(texts: Sequence[GeneratedText], *, title: str, about: str) -> str:
    """Write the page of some texts about a topic, in their order."""
    hue_of = hues(piece.type for text in texts for piece in text.pieces if piece.type is not None)
    articles = "\n".join(_article(text, hue_of) for text in texts)
    body = f'<p class="summary">{html_text(about)}</p>\n{articles}\n'
    return page(html_text(title), body, style=STYLE + _PAGE_STYLE)


def html_fragment(text: GeneratedText) -> str:
    """Write one text alone, with a line about it: what a notebook shows of a generated text."""
    hue_of = hues(piece.type for piece in text.pieces if piece.type is not None)
    parts, end = [], 0
    for piece in text.pieces:
        parts.append(html_text(text.text[end : piece.start]))
        if piece.type is None:
            look = _FRAGMENT_LOOKS.get(piece.source, "")
            parts.append(
                f'<span{look} title="{html_text(_origin(piece))}">{html_text(piece.text)}</span>'
            )
        else:
            hue = hue_of[piece.type]
            parts.append(marked_name(piece.text, type_=_label(piece), hue=hue, told=_origin(piece)))
        end = piece.end
    return fragment(summary(text), "".join(parts))


def _article(text: GeneratedText, hue_of: Mapping[str, int]) -> str:
    about = html_text(summary(text))
    return (
        f'<article><p class="summary">{about}</p><p>{generated_pieces(text, hue_of)}</p></article>'
    )


def generated_pieces(text: GeneratedText, hue_of: Mapping[str, int]) -> str:
    """Write a text with its pieces marked, for a page that has `STYLE`.

    Every relation type of the pieces has a hue.
    """
    parts, end = [], 0
    for piece in text.pieces:
        parts.append(html_text(text.text[end : piece.start]) + _mark(piece, hue_of))
        end = piece.end
    return "".join(parts)


def _mark(piece: Piece, hue_of: Mapping[str, int]) -> str:
    if piece.type is None:
        look = f'class="{piece.source.replace(" ", "-")}"'
    else:
        partial = " partial" if piece.is_partial else ""
        look = (
            f'class="name{partial}" style="--hue:{hue_of[piece.type]}"'
            f' data-type="{html_text(shown_type(_label(piece)))}"'
        )
    return f'<span {look} title="{html_text(_origin(piece))}">{html_text(piece.text)}</span>'


def _origin(piece: Piece) -> str:
    """Say where a piece came from, and how probable it was."""
    if piece.type is None:
        return f"{piece.source}, log-probability {piece.log_prob:.2f}"
    return (
        f"{_label(piece)} → {piece.object}, form “{piece.form}”,"
        f" log-probability {piece.log_prob:.2f}"
    )


def _label(piece: Piece) -> str:
    """Say what the relation of a copied piece is called."""
    return piece.label or piece.type or ""


_FRAGMENT_LOOKS = {
    "spelled": ' style="font-style:italic"',
    "prompt": ' style="opacity:.7"',
}

STYLE = """
.partial { border-bottom: 2px dashed var(--quiet); }
.spelled { font-style: italic; text-decoration: underline dotted var(--quiet); }
.prompt { color: var(--quiet); }
"""
"""How pieces look, beyond what every page says."""

_PAGE_STYLE = """
article { border-top: 1px solid var(--line); margin-top: 1.6rem; padding-top: .6rem; }
article .summary { margin: .3rem 0; }
article p:last-child { white-space: pre-wrap; overflow-wrap: break-word; line-height: 2.1;
  margin: .4rem 0 0; }
"""
