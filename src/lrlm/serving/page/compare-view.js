// Compare models: the same text under each, what every word costs as a strip under the words.

import { button, counted, field, make, number, say } from "./dom.js";
import { exportRow } from "./exports.js";
import { lettersOf } from "./marks.js";
import { ask } from "./server.js";
import { asGiven, change, state } from "./state.js";

const MOST_NATS = 10; // a word that costs as much has the full colour
const WITHOUT = "without facts";

let parts;
let last = null;
let turn = 0;

export function build(section) {
  const text = make("textarea", {
    rows: "4", maxlength: "20000", spellcheck: "false", on: { change: () => change({ text: text.value, isOwnText: true }) },
  });
  parts = {
    text,
    models: make("div", { class: "checks", role: "group", "aria-label": "Models" }),
    withoutWhom: make("span"),
    without: make("input", { type: "checkbox", checked: true, on: { change: () => run() } }),
    table: make("tbody"),
    strips: make("div", { class: "paper strips" }),
    detail: make("p", { class: "quiet", role: "status" }),
  };
  const result = () => last && ({
    path: "score",
    body: last.body,
    answer: last.answer,
    python: (literal) => `score = model.score(${literal(last.body.text)}, topic)
print(score.nats, score.perplexity)
for piece in score.pieces:
    print(score.text[piece.start:piece.end], piece.nats)`,
  });
  result.html = false;
  section.append(
    make("h2", { id: "h-compare" }, "Where does knowledge help?"),
    make("p", { class: "quiet" }, "Under every word stands a strip for each model: the stronger its colour, the more nats the"
      + " word costs. Where one strip is pale and another strong, the pale one knew more."),
    make("details", { class: "source" }, make("summary", {}, "Change the text"), field("Text", text),
      make("div", { class: "row" }, button("Compare", () => change({ text: text.value, isOwnText: true }), { class: "main" }))),
    parts.models,
    make("label", { class: "check" }, parts.without, parts.withoutWhom),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores" },
      make("table", {}, make("thead", {}, make("tr", {}, ...["", "model", "nats", "nats per word", "perplexity"]
        .map((each) => make("th", { scope: "col" }, each)))), parts.table)),
    parts.strips,
    make("div", { class: "scale", "aria-hidden": "true" }, "0 nats", make("i"), `${MOST_NATS} or more`),
    parts.detail,
    exportRow(result),
  );
}

export function show(changed) {
  if (state.view !== "compare" || !state.topic) return;
  parts.text.value = state.text;
  if (!parts.models.children.length) {
    parts.models.append(...state.models.slice(0, 8).map((model) => make("label", { class: "check" },
      make("input", { type: "checkbox", value: model.name, checked: true, on: { change: () => run() } }),
      ` ${model.name} (${model.label}, ${model.backbone})`)));
    if (state.models.length === 1) {
      parts.models.append(make("p", { class: "quiet" }, "One model is here. To see several side by side: ",
        make("code", {}, "lrlm serve runs/vanilla runs/lrlm")));
    }
  }
  if (changed.some((name) => ["view", "model", "topic", "text"].includes(name))) run();
}

async function run() {
  turn += 1;
  const mine = turn;
  const names = [...parts.models.querySelectorAll("input:checked")].map((each) => each.value);
  if (!names.length || !state.text.trim()) return;
  const body = { models: names, text: state.text, topic: asGiven(state.topic) };
  const asked = [ask("score", body)];
  const copies = (name) => state.models.find((model) => model.name === name).copies;
  const knowing = [state.model, ...names].find((name) => names.includes(name) && copies(name)) ?? names[0];
  parts.withoutWhom.textContent = ` Also ${knowing} with the topic's facts taken away`;
  if (parts.without.checked) {
    const { id, names: called } = state.topic;
    asked.push(ask("score", { models: [knowing], text: state.text, topic: { id, names: called } }));
  }
  try {
    const [answer, without] = await Promise.all(asked);
    if (mine !== turn) return;
    last = { body, answer };
    const scores = [...answer.scores];
    if (without) scores.push({ ...without.scores[0], model: `${knowing}, ${WITHOUT}` });
    render(scores);
    say("");
  } catch (error) {
    if (mine === turn) say(error.message, true);
  }
}

// Letters of a text that no score parts: words, or names that some model reads as one piece.
function unitsOf(scores, length) {
  const cuts = [];
  for (let place = 0; place <= length; place += 1) cuts.push(true);
  for (const score of scores) {
    for (const piece of score.pieces) {
      for (let place = piece.start + 1; place < piece.end; place += 1) cuts[place] = false;
    }
  }
  const units = [];
  let start = 0;
  for (let place = 1; place <= length; place += 1) {
    if (cuts[place]) {
      units.push({ start, end: place });
      start = place;
    }
  }
  return units;
}

function render(scores) {
  const letters = lettersOf(scores[0].text);
  const best = Math.min(...scores.map((score) => score.nats));
  parts.table.replaceChildren(...scores.map((score, row) => make("tr", { class: score.nats === best ? "best" : null },
    make("td", {}, make("span", { class: "swatch", vars: { "--row": String(row) } }, String(row + 1))),
    make("td", {}, score.model, score.is_joint ? " (with one annotation)" : ""),
    make("td", { class: "number" }, number(score.nats)),
    make("td", { class: "number" }, number(score.nats / score.words, 2)),
    make("td", { class: "number" }, number(score.perplexity)))));
  const text = make("div", { class: "text", dir: "auto" });
  let together = null; // what no space parts stays on one line
  for (const { start, end } of unitsOf(scores, letters.length)) {
    const piece = letters.slice(start, end).join("");
    const costs = scores.map((score) => score.pieces
      .filter((each) => each.start < end && each.end > start)
      .reduce((sum, each) => sum + each.nats, 0));
    if (!piece.trim()) {
      text.append(piece.includes("\n") ? make("br") : " ");
      together = null;
      continue;
    }
    const told = scores.map((score, row) => `${score.model}: ${number(costs[row], 2)} nats`).join(" · ");
    const unit = make("span", {
      class: "unit", tabindex: "0", role: "img", "aria-label": `${piece}: ${told}`,
      on: {
        focus: () => { parts.detail.textContent = `“${piece}” — ${told}`; },
        pointerenter: () => { parts.detail.textContent = `“${piece}” — ${told}`; },
      },
    }, make("span", {}, piece), ...costs.map((cost) => make("i", {
      vars: { "--share": String(Math.min(1, Math.max(0, cost / MOST_NATS))) },
    })));
    if (!together) {
      together = make("span", { class: "together" });
      text.append(together);
    }
    together.append(unit);
  }
  parts.strips.replaceChildren(text);
  parts.detail.textContent = `${counted(scores[0].words, "word")}; point at one, or reach it with the Tab key, to see its numbers.`;
}
