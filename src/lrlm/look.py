"""How results look wherever they are shown: numbers in words, colours, the frame of a web page."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from itertools import product
from string import Template

from lrlm.characters import page_text

_LONG_PERPLEXITY = 1e7


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Say how many there are of something: "1 token", "2,000 tokens"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def clipped(text: str, *, longest: int = 60) -> str:
    """Give the beginning of a text on one line, as a short hint at it.

    >>> clipped("a long text", longest=6)
    'a lon…'
    """
    line = " ".join(text[: 4 * longest].split())
    return line if line == text or len(line) < longest else line[: longest - 1] + "…"


def shown_perplexity(value: float) -> str:
    """Write it with one decimal, or as a power of ten where nobody would count the digits."""
    return f"{value:,.1f}" if value < _LONG_PERPLEXITY else f"{value:.1e}"


def percent(probability: float) -> str:
    """Write a probability so that nothing looks more certain than it is."""
    if probability >= 0.9995:
        return "> 99.9 %"
    if probability < 0.0005:
        return "< 0.1 %"
    return f"{100 * probability:.1f} %"


PASTEL = tuple(
    f"#000000 on {colour}"  # given as values: terminals disagree about what "green" is
    for colour in (
        "#a6e3a1", "#89dceb", "#f9e2af", "#f5c2e7", "#b4befe", "#fab387", "#cdd6f4", "#94e2d5",
        "#eba0ac", "#cba6f7",
    )
)  # fmt: skip
"""Styles of rich for terminals with 256 colours or more."""

SIXTEEN = tuple(
    f"black on {colour}"
    for colour in (
        "green", "bright_cyan", "bright_yellow", "bright_magenta", "bright_blue", "yellow", "white",
        "cyan", "bright_red", "magenta", "bright_green",
    )
)  # fmt: skip
"""Styles of rich for terminals with 16 colours, on which many pastel colours become the same."""

_FIRST_HUE, _HUE_STEP = 210.0, 137.508
"""Degrees; to go on by the golden angle keeps any number of hues apart."""


def terminal_styles(types: Iterable[str], palette: Sequence[str] = PASTEL) -> dict[str, str]:
    """Give each type a style of rich, in the order in which they first come.

    Where there are more types than colours, further ones are underlined, in italics, then both.
    """
    names = list(dict.fromkeys(types))
    rounds = ("", " underline", " italic", " underline italic")
    styles = [colour + more for more, colour in product(rounds, palette)]
    return {name: styles[place % len(styles)] for place, name in enumerate(names)}


def hues(types: Iterable[str]) -> dict[str, int]:
    """Give each type a hue in degrees, in the order in which they first come."""
    return {
        name: round(_FIRST_HUE + place * _HUE_STEP) % 360
        for place, name in enumerate(dict.fromkeys(types))
    }


def shown_type(type_: str) -> str:
    """Give the name of a relation type as people read it: that of a topic's own names is "title".

    >>> shown_type("@title"), shown_type("capital")
    ('title', 'capital')
    """
    return type_.removeprefix("@")


def html_text(text: str) -> str:
    r"""Write a text into a page, as it is and as nothing else.

    No character of it is markup, and none turns around what follows it (see `page_text`).

    >>> html_text("<b>\u202e")
    '&lt;b&gt;\ufffd'
    """
    return escape(page_text(text))


_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; \
form-action 'none'; style-src 'unsafe-inline'; script-src $script_source">
<title>$title</title>
<style>$style</style>
</head>
<body>
<main>
<h1>$title</h1>
$body</main>
$script</body>
</html>
""")

_STYLE = """
:root { --paper: #fdfdfb; --ink: #1b1c1e; --quiet: #5b6068; --line: #d9dbdf; --panel: #ffffff;
  --fill: 80% 86%; --edge: 45% 52%; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #eceef0; --quiet: #a3a9b2; --line: #363a41; --panel: #22252a;
    --fill: 42% 27%; --edge: 45% 60%; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 12rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
.summary { color: var(--quiet); margin: .3rem 0 1.2rem; font-size: .9rem; }
.name { background: hsl(var(--hue) var(--fill)); border-radius: .35rem; padding: .16em .3em;
  -webkit-box-decoration-break: clone; box-decoration-break: clone; }
article .name::after { content: attr(data-type); margin-left: .45em; font-size: .66em;
  font-weight: 600; opacity: .8; white-space: nowrap; }
"""


def page(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """Make a page that is one file, light or dark, and needs no network.

    All parts are HTML: whatever users wrote in them must be escaped already. Should a part ever
    hold more than it should, the browser still runs no script but this one, and loads nothing.
    """
    fingerprint = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _PAGE.substitute(
        script_source=f"'sha256-{fingerprint}'" if script else "'none'",
        title=title,
        style=_STYLE + style,
        body=body,
        script=f"<script>{script}</script>\n" if script else "",
    )


def fragment(summary: str, text: str) -> str:
    """Make the part of a page that a notebook shows as a result.

    It has neither a style sheet nor a script nor ids, so that it changes nothing around it, and
    takes its colours from the notebook. `text` is HTML, in which all is escaped already.
    """
    return (
        '<div style="max-width:46rem">'
        f'<p style="opacity:.7;font-size:.9em">{html_text(summary)}</p>'
        '<div style="white-space:pre-wrap;overflow-wrap:break-word;line-height:2.1">'
        f"{text}</div></div>"
    )


def marked_name(name: str, *, type_: str, hue: int, told: str) -> str:
    """Mark a name in a fragment, with its type behind it and more to read when pointed at."""
    # Half transparent: it can be read on light and on dark ground.
    look = (
        f"background:hsl({hue} 80% 50% / .28);color:inherit;border-radius:.35em;padding:.16em .3em"
    )
    label = "margin-left:.45em;font-size:.66em;font-weight:600;opacity:.8;user-select:none"
    return (
        f'<mark style="{look}" title="{html_text(told)}">{html_text(name)}'
        f'<small style="{label}">{html_text(shown_type(type_))}</small></mark>'
    )
