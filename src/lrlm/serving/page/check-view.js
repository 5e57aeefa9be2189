// Check a text: what the facts support, what they contradict, and what is new to them.

import { button, field, make, percent, say } from "./dom.js";
import { exportRow } from "./exports.js";
import { labelOf, markedPieces } from "./marks.js";
import { ask } from "./server.js";
import { asGiven, change, chosenModel, state, textToCheck, TRUSTS } from "./state.js";

const VERDICTS = {
  supported: { hue: "145", sign: "✓", told: "the facts say so" },
  contradicted: { hue: "2", sign: "≠", told: "the facts say something else" },
  new: { hue: "215", sign: "+", told: "the facts do not say" },
};

const TRUST_NAMES = {
  neither: "either may be wrong",
  graph: "the facts are right and complete",
  text: "the text is right",
};

let view;
let parts;
let last = null; // { key, checked, topic, body }
let running = null;

export function build(section) {
  view = section;
  const text = make("textarea", {
    rows: "5", maxlength: "20000", spellcheck: "false",
    on: { change: () => change({ text: text.value, isOwnText: true }) },
  });
  const trust = make("select", { on: { change: () => change({ trust: trust.value }) } },
    ...TRUSTS.map((each) => make("option", { value: each }, TRUST_NAMES[each])));
  parts = {
    text,
    trust,
    legend: make("ul", { class: "legend verdicts", "aria-label": "Verdicts" }),
    marked: make("div", { class: "paper" }),
    why: make("div", { class: "panel", "aria-live": "polite" }),
    conflicts: make("div"),
    table: make("tbody"),
  };
  const result = () => last && ({
    path: "check",
    body: last.body,
    answer: last.checked,
    name: "check.html",
    python: (literal) => `checked = model.check(${literal(last.body.text)}, topic${
      last.body.trust === "neither" ? "" : `, trust=${literal(last.body.trust)}`})
for finding in checked.findings:
    print(finding.verdict, finding.triple, [fact.form for fact in finding.instead])`,
  });
  view.append(
    make("h2", { id: "h-check" }, "Is that what is known?"),
    make("p", { class: "quiet" }, "Every statement of the text about the topic is held against the topic's facts. Some of"
      + " what stands here may be wrong: that is the point."),
    make("details", { class: "source" }, make("summary", {}, "Change the text"),
      field("Text about the topic", text),
      make("div", { class: "row" }, button("Check", () => {
        change({ text: text.value, isOwnText: true });
        run();
      }, { class: "main" }))),
    make("p", {}, make("label", { class: "quiet" }, "Where text and facts differ, ", trust)),
    parts.legend,
    parts.marked,
    parts.why,
    parts.conflicts,
    make("details", {}, make("summary", {}, "All statements as a table"),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Statements" },
        make("table", {}, make("thead", {}, make("tr", {},
          ...["in the text", "verdict", "statement", "the facts say", "probability"]
            .map((each) => make("th", { scope: "col" }, each)))), parts.table))),
    exportRow(result),
  );
}

export function show(changed) {
  if (state.view !== "check" || !state.topic) return;
  parts.text.value = textToCheck();
  parts.trust.value = state.trust;
  if (changed.some((name) => ["view", "model", "topic", "text", "trust"].includes(name))) run();
}

async function run() {
  const text = textToCheck();
  if (!text.trim()) return;
  const body = { model: state.model, text, topic: asGiven(state.topic), trust: state.trust };
  const key = JSON.stringify(body);
  if (last?.key === key || running?.key === key) return;
  running?.control.abort();
  if (!chosenModel().annotates) {
    last = null;
    for (const part of [parts.legend, parts.why, parts.conflicts, parts.table]) part.replaceChildren();
    parts.marked.replaceChildren(make("p", { class: "text", dir: "auto" }, text));
    say(`A ${chosenModel().label} does not know where words come from; choose another model.`);
    return;
  }
  const control = new AbortController();
  running = { key, control };
  view.setAttribute("aria-busy", "true");
  try {
    const checked = await ask("check", body, control.signal);
    last = { key, checked, topic: state.topic, body };
    say("");
    render();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  } finally {
    if (running?.control === control) running = null;
    view.removeAttribute("aria-busy");
  }
}

const stated = (finding) => `${labelOf(last.topic, finding.type)} → ${finding.object}`;
const known = (finding) => last.topic.relations
  .find((fact) => fact.type === finding.type && fact.object === finding.object)?.forms[0] ?? finding.object;
const instead = (finding) => (finding.instead ?? []).map((each) => each.name).join(", ");

function render() {
  const { checked } = last;
  const counts = { supported: 0, contradicted: 0, new: 0 };
  for (const finding of checked.findings) counts[finding.verdict] += 1;
  parts.legend.replaceChildren(...Object.entries(VERDICTS).map(([verdict, { hue, sign, told }]) =>
    make("li", { vars: { "--hue": hue } }, make("b", {}, `${sign} ${counts[verdict]} ${verdict}`), " ",
      make("small", {}, told))));
  parts.marked.replaceChildren(markedPieces(checked.text, checked.findings.map((finding) => {
    const { hue, sign } = VERDICTS[finding.verdict];
    const label = labelOf(last.topic, finding.type);
    return {
      start: finding.start, end: finding.end, text: finding.text, isSure: true, hue,
      label: `${sign} ${label}`, probability: finding.probability,
      told: `${finding.text}, ${finding.verdict}, ${label}, ${percent(finding.probability)}`,
      choose: () => explain(finding),
    };
  })));
  parts.table.replaceChildren(...checked.findings.map((finding) => make("tr", {},
    make("th", { scope: "row" }, finding.text),
    make("td", {}, make("span", { class: "tag", vars: { "--hue": VERDICTS[finding.verdict].hue } }, finding.verdict)),
    make("td", {}, stated(finding)),
    make("td", {}, finding.verdict === "supported" ? known(finding) : instead(finding) || "nothing"),
    make("td", { class: "number" }, percent(finding.probability)))));
  parts.conflicts.replaceChildren(...checked.conflicts.map((conflict) => make("p", { class: "quiet" },
    `The facts contradict themselves: ${labelOf(last.topic, conflict.type)} is ${conflict.objects.join(" and ")}.`)));
  const worst = ["contradicted", "new", "supported"]
    .map((verdict) => checked.findings.find((finding) => finding.verdict === verdict)).find(Boolean);
  if (worst) explain(worst);
  else {
    parts.why.replaceChildren(make("p", { class: "quiet" },
      "No statement about the topic was found in this text."));
  }
}

function explain(finding) {
  const { hue, sign, told } = VERDICTS[finding.verdict];
  const label = labelOf(last.topic, finding.type);
  const rows = [
    ["The text says", `${label}: ${finding.text}`],
    ["The facts say", finding.verdict === "supported" ? `${label}: ${known(finding)}`
      : instead(finding) ? `${label}: ${instead(finding)}` : `nothing about ${label} ${finding.text}`],
    ["Triple", finding.triple.join(" · ")],
  ];
  parts.why.replaceChildren(make("div", { class: "why verdict", vars: { "--hue": hue } },
    make("h3", {}, make("span", { class: "tag", vars: { "--hue": hue } }, `${sign} ${finding.verdict}`),
      ` “${finding.text}”: ${told}`),
    make("dl", {}, rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    make("ul", { class: "bars" }, make("li", { vars: { "--share": String(finding.probability), "--hue": hue } },
      make("span", {}, "that the text states this here"), make("b", {}, percent(finding.probability)),
      make("i", { "aria-hidden": "true" })))));
}
