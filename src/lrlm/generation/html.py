"""Show generated texts as a web page that needs nothing else, or as a part of a notebook.

Copied names are coloured by relation type; where the pointer rests, a piece tells where it came
from and how probable it was. Whatever the texts hold, they stay text.
"""

from collections.abc import Mapping, Sequence
from html import escape

from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.generation.terminal import summary
from lrlm.look import fragment, hues, marked_name, page


def generated_to_html(texts: Sequence[GeneratedText], *, title: str, about: str) -> str:
    """Write the page of some texts about a topic, in their order."""
    hue_of = hues(piece.type for text in texts for piece in text.pieces if piece.type is not None)
    articles = "\n".join(_article(text, hue_of) for text in texts)
    body = f'<p class="summary">{escape(about)}</p>\n{articles}\n'
    return page(escape(title), body, style=_STYLE)


def html_fragment(text: GeneratedText) -> str:
    """Write one text alone, with a line about it: what a notebook shows of a generated text."""
    hue_of = hues(piece.type for piece in text.pieces if piece.type is not None)
    parts, end = [], 0
    for piece in text.pieces:
        parts.append(escape(text.text[end : piece.start]))
        if piece.type is None:
            look = _FRAGMENT_LOOKS.get(piece.source, "")
            parts.append(
                f'<span{look} title="{escape(_origin(piece))}">{escape(piece.text)}</span>'
            )
        else:
            hue = hue_of[piece.type]
            parts.append(marked_name(piece.text, type_=piece.type, hue=hue, told=_origin(piece)))
        end = piece.end
    return fragment(summary(text), "".join(parts))


def _article(text: GeneratedText, hue_of: Mapping[str, int]) -> str:
    parts, end = [], 0
    for piece in text.pieces:
        parts.append(escape(text.text[end : piece.start]) + _mark(piece, hue_of))
        end = piece.end
    return (
        f'<article><p class="summary">{escape(summary(text))}</p><p>{"".join(parts)}</p></article>'
    )


def _mark(piece: Piece, hue_of: Mapping[str, int]) -> str:
    if piece.type is None:
        look = f'class="{piece.source}"'
    else:
        partial = " partial" if piece.is_partial else ""
        look = (
            f'class="name{partial}" style="--hue:{hue_of[piece.type]}"'
            f' data-type="{escape(piece.type)}"'
        )
    return f'<span {look} title="{escape(_origin(piece))}">{escape(piece.text)}</span>'


def _origin(piece: Piece) -> str:
    """Say where a piece came from, and how probable it was."""
    if piece.type is None:
        return f"{piece.source}, log-probability {piece.log_prob:.2f}"
    return (
        f"{piece.type} → {piece.object}, form “{piece.form}”, log-probability {piece.log_prob:.2f}"
    )


_FRAGMENT_LOOKS = {
    "spelled": ' style="font-style:italic"',
    "prompt": ' style="opacity:.7"',
}

_STYLE = """
article { border-top: 1px solid var(--line); margin-top: 1.6rem; padding-top: .6rem; }
article .summary { margin: .3rem 0; }
article p:last-child { white-space: pre-wrap; overflow-wrap: break-word; line-height: 2.1;
  margin: .4rem 0 0; }
.partial { border-bottom: 2px dashed var(--quiet); }
.spelled { font-style: italic; text-decoration: underline dotted var(--quiet); }
.prompt { color: var(--quiet); }
"""
