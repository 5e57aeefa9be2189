"""Figures that become part of a page: vector graphics in the page's own colours and letters."""

import io
import re
from typing import Any

from lrlm.look import html_text
from lrlm.report.plots import Draw, require_matplotlib
from lrlm.report.run_looks import RunLook

_WIDTH, _HEIGHT = 4.7, 3.2
"""Inches: small, so that letters can still be read where the page is narrow."""
_NAMED_COLOURS = {"ink": "#fe0201", "quiet": "#fe0202", "line": "#fe0203"}
"""The page's colours, drawn as colours that nothing else has."""
_MARKER_SHAPES = {
    "o": '<circle cx="17" cy="5" r="3.4"/>',
    "s": '<rect x="14" y="2" width="6" height="6"/>',
    "D": '<path d="M17 1l4 4-4 4-4-4z"/>',
    "^": '<path d="M17 1l4 7h-8z"/>',
    "v": '<path d="M17 9l4-7h-8z"/>',
    "X": '<path d="M14 2l6 6m0-6l-6 6" stroke-width="2.4"/>',
    "P": '<path d="M15.6 1h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z"/>',
}


def run_colour(number: int) -> str:
    """Give the colour in which to draw a run; in the page it follows light and dark."""
    return f"#fe1{number:03x}"


def run_colours_style(looks: list[RunLook]) -> str:
    """Write the colours of all runs for the style sheet of a page, on light and on dark ground."""
    light = " ".join(f"--run{number}: {look.light};" for number, look in enumerate(looks))
    dark = " ".join(f"--run{number}: {look.dark};" for number, look in enumerate(looks))
    return (
        f":root {{ {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def run_key(number: int, look: RunLook) -> str:
    """Draw a short piece of a run's line, for a legend."""
    dashes = " ".join(f"{1.8 * length:g}" for length in look.dashes)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    hollow = ' fill="none"' if look.is_hollow else ""
    return (
        f'<svg class="key" viewBox="0 0 34 10" aria-hidden="true" style="color: var(--run{number})"'
        ' fill="currentColor" stroke="currentColor">'
        f'<path d="M0 5h34" stroke-width="1.8" fill="none"{dashed}/>'
        f"<g{hollow}>{_MARKER_SHAPES[look.marker]}</g></svg>"
    )


def page_figure(draw: Draw, *, name: str, title: str) -> str:
    """Draw a figure into a page; `name` tells it from all others there, `title` says what it is."""
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    ink, quiet, line = (_NAMED_COLOURS[each] for each in ("ink", "quiet", "line"))
    settings: Any = {
        "axes.edgecolor": line, "axes.labelcolor": quiet, "axes.labelsize": 9,
        "axes.grid": True, "axes.axisbelow": True, "grid.color": line, "grid.linewidth": 0.6,
        "axes.spines.top": False, "axes.spines.right": False, "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "lrlm", "text.color": ink,
        "xtick.color": line, "ytick.color": line, "xtick.labelcolor": quiet,
        "ytick.labelcolor": quiet,
    }  # fmt: skip
    drawn = io.StringIO()
    with mpl.rc_context(settings):
        figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
        draw(figure.subplots())
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    return _inline(drawn.getvalue(), name=name, title=title)


def _inline(svg: str, *, name: str, title: str) -> str:
    """Turn a file into a part of a page: no head, ids of its own, the page's colours and fonts."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{name}-", svg)
    svg = re.sub(r"#fe1([0-9a-f]{3})", lambda found: f"var(--run{int(found[1], 16)})", svg)
    for colour, value in _NAMED_COLOURS.items():
        svg = svg.replace(value, f"var(--{colour})")
    svg = svg.replace("'DejaVu Sans', sans-serif", "system-ui, sans-serif")
    (view,) = re.findall(r'viewBox="[^"]+"', svg)
    body = svg[svg.index(">") + 1 :]
    return (
        f'<svg class="figure" {view} role="img" aria-label="{html_text(title)}"'
        f' stroke-linejoin="round">{body}'
    )
