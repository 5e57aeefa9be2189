"""What an annotated page has beside the common frame: its parts, its look and its few moves."""

from string import Template

BODY = Template("""<p class="summary">$summary</p>
<ul class="legend" aria-label="Relation types">$legend</ul>
<article>$text</article>
<details>
<summary>All $spans candidate spans and their explanations</summary>
<div class="scroll"><table>
<thead><tr><th scope="col">span</th><th scope="col">kind</th><th scope="col">explanation</th>
<th scope="col">probability</th></tr></thead>
$rows
</table></div>
</details>
""")

STYLE = """
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 1.6rem;
  padding: 0; font-size: .82rem; }
.legend li { background: hsl(var(--hue) var(--fill)); border-radius: .35rem; padding: .1rem .5rem; }
.legend b { font-weight: 600; }
article { white-space: pre-wrap; overflow-wrap: break-word; line-height: 2.1; }
.name, .candidate { position: relative; cursor: help; }
.candidate { text-decoration: underline dotted var(--quiet); text-underline-offset: .3em; }
:focus-visible { outline: 2px solid hsl(var(--hue, 210) var(--edge)); outline-offset: 1px; }
.why { position: absolute; z-index: 2; left: 0; top: 100%; display: none; width: max-content;
  min-width: 12rem; max-width: min(30rem, 88vw); padding: .55rem .75rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: .5rem; box-shadow: 0 .4rem 1.2rem rgb(0 0 0 / .18);
  font-size: .86rem; line-height: 1.5; white-space: normal; text-align: left; cursor: auto;
  user-select: none; }
.why > span { display: flex; justify-content: space-between; gap: 1.5rem; }
.why i { font-style: normal; overflow-wrap: anywhere; }
.why b { font-variant-numeric: tabular-nums; font-weight: 500; white-space: nowrap; }
.why > span:first-child { font-weight: 600; }
.why > span:not(:first-child) { color: var(--quiet); }
:is(.name, .candidate):is(:hover, :focus) > .why { display: block; }
.quiet .why { display: none !important; }
details { margin-top: 2.4rem; border-top: 1px solid var(--line); padding-top: 1rem; }
summary { cursor: pointer; color: var(--quiet); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin-top: 1rem; font-size: .86rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; font-weight: 400; }
thead th { color: var(--quiet); }
tbody { border-top: 1px solid var(--line); }
th small { display: block; color: var(--quiet); }
td { overflow-wrap: break-word; }
td:nth-last-child(3) { white-space: nowrap; }
.share { white-space: nowrap; font-variant-numeric: tabular-nums; min-width: 7rem;
  background: linear-gradient(hsl(210 var(--fill)) 0 0) no-repeat 0 50% /
    calc(var(--share) * 100%) 1.5em; padding-left: .3rem; }
@media print { .why { display: none !important; } }
"""

SCRIPT = """
"use strict";
const root = document.documentElement;
const show = (event) => {
  const mark = event.target.closest && event.target.closest(".name, .candidate");
  if (!mark) return;
  root.classList.remove("quiet");
  const why = mark.querySelector(".why");
  if (!why) return;
  why.style.left = "0";
  const over = why.getBoundingClientRect().right - root.clientWidth + 8;
  const room = why.getBoundingClientRect().left - 8;
  if (over > 0) why.style.left = `${-Math.min(over, room)}px`;
};
document.addEventListener("pointerover", show);
document.addEventListener("focusin", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") root.classList.add("quiet");
});
"""
