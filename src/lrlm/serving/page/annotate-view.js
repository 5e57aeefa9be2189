// Annotate a text: its names marked, their explanations as bars, the lattice of a sentence.

import { button, field, make, say } from "./dom.js";
import { exportRow } from "./exports.js";
import { latticeDrawing } from "./lattice.js";
import { bars, lettersOf, legend, markedText, summary } from "./marks.js";
import { ask } from "./server.js";
import { asGiven, change, chosenModel, state } from "./state.js";

let view;
let parts;
let last = null; // { annotation, topic, body }
let running = null;

export function build(section) {
  view = section;
  const text = make("textarea", {
    id: "text", rows: "5", maxlength: "20000", spellcheck: "false",
    on: { change: () => change({ text: text.value, isOwnText: true }) },
  });
  const slider = make("input", {
    type: "range", min: "0", max: "1", step: "0.01", id: "threshold",
    on: { input: () => change({ threshold: Number(slider.value) }) },
  });
  parts = {
    text,
    slider,
    shownThreshold: make("output", { for: "threshold" }),
    summary: make("p", { class: "quiet" }),
    legend: make("div"),
    marked: make("div", { class: "paper" }),
    why: make("div", { class: "panel", "aria-live": "polite" }),
    drawn: make("div"),
    sentences: make("select", { id: "sentence", on: { change: drawLattice } }),
    lattice: make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Lattice of the sentence" }),
  };
  const result = () => last && ({
    path: "annotate",
    body: last.body,
    answer: last.annotation,
    name: "annotation.html",
    python: (literal) => `annotation = model.annotate(${literal(last.body.text)}, topic)
for span in annotation.mentions(${state.threshold}):
    print(span.text, span.relation.fact, span.probability)`,
  });
  view.append(
    make("h2", { id: "h-annotate" }, "Which fact does each name come from?"),
    make("details", { class: "source" }, make("summary", {}, "Change the text"),
      field("Text about the topic", text),
      make("div", { class: "row" }, button("Annotate", () => {
        change({ text: text.value, isOwnText: true });
        run();
      }, { class: "main" }))),
    make("div", { class: "row spread" }, parts.summary,
      make("label", { class: "slider" }, make("span", {}, "Mark names from "), parts.shownThreshold, slider)),
    parts.legend,
    parts.marked,
    parts.why,
    exportRow(result),
    parts.drawn,
  );
  parts.drawn.append(
    make("h3", {}, "The lattice of a sentence"),
    make("p", { class: "quiet" }, "All ways to make the sentence, from left to right: word by word along the line, or a"
      + " whole name copied along an arc. Thick is probable; the best path stands out."),
    field("Sentence", parts.sentences),
    parts.lattice,
  );
}

export function show(changed) {
  parts.slider.value = String(state.threshold);
  parts.shownThreshold.textContent = `${Math.round(100 * state.threshold)} %`;
  parts.text.value = state.text;
  if (changed.some((name) => ["view", "model", "topic", "text"].includes(name))) run();
  else if (changed.includes("threshold")) render();
}

async function run() {
  if (!state.topic || !state.text.trim()) return;
  const body = { model: state.model, text: state.text, topic: asGiven(state.topic) };
  const key = JSON.stringify(body);
  if (last?.key === key || running?.key === key) return;
  running?.control.abort();
  parts.drawn.hidden = !chosenModel().annotates;
  if (!chosenModel().annotates) {
    last = null;
    parts.summary.textContent = "";
    parts.legend.replaceChildren();
    parts.why.replaceChildren();
    parts.lattice.replaceChildren();
    parts.marked.replaceChildren(make("p", { class: "text", dir: "auto" }, state.text));
    say(`A ${chosenModel().label} does not know where words come from; choose another model, or compare.`);
    return;
  }
  const control = new AbortController();
  running = { key, control };
  view.setAttribute("aria-busy", "true");
  try {
    const annotation = await ask("annotate", body, control.signal);
    last = { key, annotation, topic: state.topic, body };
    say("");
    render();
    fillSentences();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  } finally {
    if (running?.control === control) running = null;
    view.removeAttribute("aria-busy");
  }
}

function render() {
  if (!last) return;
  const { annotation, topic } = last;
  parts.summary.textContent = summary(annotation);
  parts.legend.replaceChildren(legend(annotation, topic, state.threshold));
  parts.marked.replaceChildren(markedText(annotation, topic, state.threshold, explain));
  const open = leastSure(annotation.spans);
  if (open) explain(open);
  else parts.why.replaceChildren(make("p", { class: "quiet" }, "No name of the topic's facts is in this text."));
}

// The span whose best explanation is the least probable says most about the model.
function leastSure(spans) {
  const doubt = (span) => span.explanations[0].probability;
  return [...spans].sort((a, b) => doubt(a) - doubt(b))[0];
}

const explain = (span) => parts.why.replaceChildren(bars(span, last.topic));

// Sentences with their offsets in characters.
export function sentencesOf(text) {
  const found = [];
  let start = 0;
  const pieces = typeof Intl.Segmenter === "function"
    ? [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)].map((each) => each.segment)
    : text.match(/[^.!?]+[.!?]*\s*/g) ?? [text];
  for (const piece of pieces) {
    const end = start + lettersOf(piece).length;
    if (piece.trim()) found.push({ start, end, text: piece.trim() });
    start = end;
  }
  return found;
}

function fillSentences() {
  const sentences = sentencesOf(last.annotation.text).slice(0, 500);
  parts.sentences.replaceChildren(...sentences.map((each, place) =>
    make("option", { value: String(place) }, lettersOf(each.text).slice(0, 90).join(""))));
  const spans = last.annotation.spans;
  const open = leastSure(spans);
  const contested = sentences.findIndex(({ start, end }) => open && open.start >= start && open.end <= end);
  parts.sentences.value = String(Math.max(0, contested));
  drawLattice();
}

async function drawLattice() {
  const { annotation, topic, body } = last;
  const chosen = parts.sentences.value;
  const sentence = sentencesOf(annotation.text)[Number(chosen)];
  if (!sentence) return;
  try {
    const lattice = await ask("lattice", { ...body, start: sentence.start, end: sentence.end });
    if (annotation !== last.annotation || chosen !== parts.sentences.value) return;
    const drawing = latticeDrawing(lattice, topic);
    parts.lattice.replaceChildren(drawing);
    const first = drawing.querySelector(".copy")?.getBBox().x ?? 0;
    parts.lattice.scrollLeft = Math.max(0, first - 40);
  } catch (error) {
    say(error.message, true);
  }
}
