"""Written texts in, one web page out: it needs nothing else, and runs without a network.

Copied names are coloured by relation type; where the pointer rests, a piece tells where it came
from and how probable it was. Whatever the texts hold, they stay text.
"""

from collections.abc import Mapping, Sequence
from html import escape
from string import Template

from lrlm.inference.generated import GeneratedText, Piece
from lrlm.report.colours import hues
from lrlm.report.generated_text import summary

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
:root { --paper: #fdfdfb; --ink: #1b1c1e; --quiet: #5b6068; --line: #d9dbdf; --fill: 80% 86%; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #eceef0; --quiet: #a3a9b2; --line: #363a41; --fill: 42% 27%; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 6rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
.summary { color: var(--quiet); margin: .3rem 0; font-size: .9rem; }
article { border-top: 1px solid var(--line); margin-top: 1.6rem; padding-top: .6rem; }
article p:last-child { white-space: pre-wrap; overflow-wrap: break-word; line-height: 2.1;
  margin: .4rem 0 0; }
.relation { background: hsl(var(--hue) var(--fill)); border-radius: .35rem; padding: .16em .3em;
  -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.relation::after { content: attr(data-type); margin-left: .45em; font-size: .66em;
  font-weight: 600; opacity: .8; white-space: nowrap; }
.partial { border-bottom: 2px dashed var(--quiet); }
.spelled { font-style: italic; text-decoration: underline dotted var(--quiet); }
.prompt { color: var(--quiet); }
</style>
</head>
<body>
<main>
<h1>$title</h1>
<p class="summary">$about</p>
$texts
</main>
</body>
</html>
""")


def generated_to_html(texts: Sequence[GeneratedText], *, title: str, about: str) -> str:
    """Write the page of some texts about a topic, in their order."""
    hue_of = hues(piece.type for text in texts for piece in text.pieces if piece.type is not None)
    return _PAGE.substitute(
        title=escape(title),
        about=escape(about),
        texts="\n".join(_article(text, hue_of) for text in texts),
    )


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
            f'class="relation{partial}" style="--hue:{hue_of[piece.type]}"'
            f' data-type="{escape(piece.type)}"'
        )
    return f'<span {look} title="{escape(told)}">{escape(piece.text)}</span>'
