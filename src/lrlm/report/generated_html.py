"""Written texts in, one web page out: it needs nothing else, and runs without a network.

Copied names are coloured by relation type; where the pointer rests, a piece tells where it came
from and how probable it was. Whatever the texts hold, they stay text.
"""

from collections.abc import Mapping, Sequence
from html import escape

from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.report.colours import hues
from lrlm.report.generated_text import summary
from lrlm.report.page import page

_STYLE = """
article { border-top: 1px solid var(--line); margin-top: 1.6rem; padding-top: .6rem; }
article .summary { margin: .3rem 0; }
article p:last-child { white-space: pre-wrap; overflow-wrap: break-word; line-height: 2.1;
  margin: .4rem 0 0; }
.partial { border-bottom: 2px dashed var(--quiet); }
.spelled { font-style: italic; text-decoration: underline dotted var(--quiet); }
.prompt { color: var(--quiet); }
"""


def generated_to_html(texts: Sequence[GeneratedText], *, title: str, about: str) -> str:
    """Write the page of some texts about a topic, in their order."""
    hue_of = hues(piece.type for text in texts for piece in text.pieces if piece.type is not None)
    articles = "\n".join(_article(text, hue_of) for text in texts)
    body = f'<p class="summary">{escape(about)}</p>\n{articles}\n'
    return page(escape(title), body, style=_STYLE)


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
        told = f"{piece.source}, log-probability {piece.log_prob:.2f}"
        look = f'class="{piece.source}"'
    else:
        told = (
            f"{piece.type} → {piece.object}, form “{piece.form}”,"
            f" log-probability {piece.log_prob:.2f}"
        )
        partial = " partial" if piece.is_partial else ""
        look = (
            f'class="name{partial}" style="--hue:{hue_of[piece.type]}"'
            f' data-type="{escape(piece.type)}"'
        )
    return f'<span {look} title="{escape(told)}">{escape(piece.text)}</span>'
