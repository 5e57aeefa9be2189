"""The parts of a web page in, the page out: one file, light or dark, that needs no network."""

from string import Template

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
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
    """Put a page together; all parts are HTML, and what users wrote in them is escaped already."""
    return _PAGE.substitute(
        title=title,
        style=_STYLE + style,
        body=body,
        script=f"<script>{script}</script>\n" if script else "",
    )
