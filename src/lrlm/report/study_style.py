"""How the report of a study looks: calm in light and dark, on a phone and on paper."""

STYLE = """
@media print { :root { --paper: #fff; --ink: #111; --quiet: #555; --line: #ccc; --panel: #fff;
  --fill: 80% 88%; --edge: 45% 52%; color-scheme: light; } }
html { scroll-padding-top: 1rem; }
main { max-width: 66rem; padding-bottom: 4rem; }
h1 { font-size: 2rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 0; }
h3 { font-size: 1.08rem; margin: 2rem 0 .4rem; overflow-wrap: anywhere; }
h4 { font-size: .92rem; margin: 0; overflow-wrap: anywhere; }
a { color: inherit; text-decoration-color: var(--quiet); text-underline-offset: .2em; }
:focus-visible { outline: 2px solid hsl(210 var(--edge)); outline-offset: 2px; }
section { border-top: 1px solid var(--line); margin-top: 3rem; padding-top: 1.6rem; }
.lead { color: var(--quiet); margin: .35rem 0 1.2rem; max-width: 46rem; }
.note, .notes, figcaption, .end { color: var(--quiet); font-size: .82rem; }
.notes { margin: .5rem 0 1.6rem; padding: 0; list-style: none; max-width: 46rem; }
.notes li { margin: .1rem 0; }
.nothing { border: 1px dashed var(--line); border-radius: .5rem; color: var(--quiet);
  padding: .7rem 1rem; }
.end { border-top: 1px solid var(--line); margin-top: 3rem; padding-top: 1rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; list-style: none; margin: 1.4rem 0 0;
  padding: 0; font-size: .9rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .9rem;
  margin: 1.4rem 0 .6rem; }
.tiles > div { background: var(--panel); border: 1px solid var(--line); border-radius: .7rem;
  padding: .9rem 1.1rem; overflow-wrap: anywhere; }
.tiles dt { color: var(--quiet); font-size: .85rem; }
.tiles dd { margin: 0; }
.tiles b { display: block; font-size: 1.9rem; font-weight: 600; line-height: 1.25;
  letter-spacing: -.01em; font-variant-numeric: tabular-nums; }
.tiles small { font-size: .85rem; }
.scroll { overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; font-size: .88rem; line-height: 1.4; }
caption { text-align: left; font-weight: 600; padding: .4rem 0 .5rem; text-wrap: balance; }
th, td { text-align: left; vertical-align: baseline; padding: .36rem 1.1rem .36rem 0;
  font-weight: 400; }
thead th { color: var(--quiet); font-size: .82rem; vertical-align: bottom;
  border-bottom: 1px solid var(--line); }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tbody th { position: sticky; left: 0; background: var(--paper); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
td b, th b { font-weight: 650; color: hsl(150 60% 30%); }
sup { line-height: 0; font-size: .8em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr));
  gap: 1.2rem 2rem; align-items: start; margin: .2rem 0 1rem; }
figure { margin: 0; }
svg.figure { display: block; width: 100%; height: auto; overflow: visible; }
.key { width: 2.1rem; height: .65rem; margin-right: .5rem; overflow: visible; flex: none; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; list-style: none; margin: 0 0 .8rem;
  padding: 0; font-size: .88rem; }
.legend li { display: flex; align-items: center; }
details { margin: .6rem 0 1rem; }
summary { cursor: pointer; color: var(--quiet); font-size: .88rem; width: fit-content; }
.facts { columns: 18rem; font-size: .86rem; list-style: none; padding: 0; margin: .6rem 0; }
.facts li { break-inside: avoid; margin: .15rem 0; overflow-wrap: anywhere; }
.facts i { color: var(--quiet); font-style: normal; margin-right: .4em; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr));
  gap: .9rem; }
article { background: var(--panel); border: 1px solid var(--line); border-radius: .7rem;
  padding: .9rem 1.1rem; }
article .summary { margin: .1rem 0 .6rem; font-size: .8rem; }
article .text { margin: 0; white-space: pre-wrap; overflow-wrap: break-word; line-height: 1.95;
  font-size: .93rem; }
.cards > article:first-child { border-style: dashed; grid-column: 1 / -1; }
.example { margin-top: 1.2rem; }
.example h3 { margin: 0; }
.example h3 small { border-radius: 1rem; padding: .1rem .6rem; margin-right: .3rem;
  font-size: .72rem; font-weight: 600; vertical-align: .12em; background: hsl(150 var(--fill)); }
.example.worst h3 small { background: hsl(20 var(--fill)); }
@media screen and (prefers-color-scheme: dark) { td b, th b { color: hsl(150 55% 65%); } }
@media (max-width: 34rem) { body { font-size: 1rem; } main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.6rem; } }
@page { margin: 16mm 14mm; }
@media print { main { max-width: none; padding: 0; } nav { display: none; }
  body { font-size: 10pt; } .scroll { overflow: visible; }
  section { margin-top: 1.6rem; padding-top: 1.1rem; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
  .figures table { font-size: .78rem; } .figures :is(th, td) { padding-right: .6rem; }
  .cards { grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); }
  h2, h3, h4, .lead, .legend, caption { break-after: avoid; }
  article, figure, table, .tiles, .lead { break-inside: avoid; }
  .name, .example h3 small { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""

SCRIPT = """
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
"""
"""What is folded away is printed too."""
