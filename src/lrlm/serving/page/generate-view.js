// Generate a text: it appears as it is written, and every copied name shows its relation.

import { button, counted, field, make, number, say } from "./dom.js";
import { exportRow } from "./exports.js";
import { clipped, hueOf, huesOf, labelOf } from "./marks.js";
import { ask, askForLines } from "./server.js";
import { asGiven, change, chosenModel, state } from "./state.js";
import { formsOf } from "./topic-view.js";

const DEFAULTS = {
  seed: 0, temperature: 0.6, top_k: null, top_p: null, min_length: 1, max_length: 100, max_uses: null,
  greedy: false, only_known_names: false, known_facts_only: false, prompt: "", must_use: "",
};

const PIECE_TITLES = { spelled: "spelled letter by letter", "name word": "a single word of one of the topic's names" };

let parts;
let inputs;
let last = null;
let running = null;
let begun = null; // the topic that the page wrote about by itself

export function build(section) {
  const amount = (attributes) => make("input", { type: "number", ...attributes, on: { change: keep } });
  inputs = {
    seed: amount({ min: "0", max: "9007199254740991", step: "1" }),
    temperature: amount({ min: "0.05", max: "5", step: "0.05" }),
    top_k: amount({ min: "1", step: "1", placeholder: "all" }),
    top_p: amount({ min: "0.05", max: "1", step: "0.05", placeholder: "1" }),
    min_length: amount({ min: "0", max: "1000", step: "1" }),
    max_length: amount({ min: "1", max: "1000", step: "1" }),
    max_uses: amount({ min: "1", step: "1", placeholder: "any" }),
    must_use: make("input", { list: "types", placeholder: "none", on: { change: keep } }),
    prompt: make("input", { maxlength: "2000", placeholder: "nothing: the model begins", on: { change: keep } }),
    greedy: make("input", { type: "checkbox", on: { change: keep } }),
    only_known_names: make("input", { type: "checkbox", on: { change: keep } }),
    known_facts_only: make("input", { type: "checkbox", on: { change: keep } }),
  };
  parts = {
    text: make("p", { class: "text", "aria-live": "off" }),
    summary: make("p", { class: "quiet" }),
    write: button("Generate", () => run(), { class: "main" }),
    another: button("Another", () => {
      inputs.seed.value = String(Number(inputs.seed.value) + 1);
      keep();
      run();
    }),
    stop: button("Stop", () => running?.abort(), { disabled: true }),
  };
  const result = () => last && ({
    path: "generate",
    body: { ...last.body, samples: 1 },
    answer: last.answer,
    name: "text.html",
    python: (literal) => {
      const { model, topic, seed, ...options } = last.body;
      const given = Object.entries(options).map(([name, value]) => `, ${name}=${literal(value)}`);
      return `(text,) = model.generate(topic, samples=1, seed=${seed}${given.join("")})
print(text.text)
for piece in text.pieces:
    print(piece.text, piece.source, piece.type)`;
    },
  });
  section.append(
    make("h2", { id: "h-generate" }, "A text from the facts"),
    make("div", { class: "columns" },
      field("Begins with", inputs.prompt),
      field("Seed", inputs.seed), field("Longest, in tokens", inputs.max_length)),
    make("details", {}, make("summary", {}, "More options"),
      make("div", { class: "columns" },
        field("Temperature", inputs.temperature), field("Top k", inputs.top_k), field("Top p", inputs.top_p),
        field("Shortest, in tokens", inputs.min_length), field("Uses of one relation", inputs.max_uses),
        field("Must use", inputs.must_use, "relations, separated by |")),
      make("label", { class: "check" }, inputs.greedy, " Always the most probable choice"),
      make("label", { class: "check" }, inputs.only_known_names, " Invent no names"),
      make("label", { class: "check" }, inputs.known_facts_only, " State known facts only; the text appears when it is whole")),
    make("div", { class: "row" }, parts.write, parts.another, parts.stop),
    make("div", { class: "paper" }, parts.text),
    parts.summary,
    exportRow(result),
  );
}

const optional = (input) => (input.value === "" ? null : Number(input.value));

function keep() {
  change({
    options: {
      seed: Math.max(0, Math.round(Number(inputs.seed.value))),
      temperature: Number(inputs.temperature.value),
      top_k: optional(inputs.top_k),
      top_p: optional(inputs.top_p),
      min_length: Math.round(Number(inputs.min_length.value)),
      max_length: Math.round(Number(inputs.max_length.value)),
      max_uses: optional(inputs.max_uses),
      must_use: inputs.must_use.value,
      prompt: inputs.prompt.value,
      greedy: inputs.greedy.checked,
      only_known_names: inputs.only_known_names.checked,
      known_facts_only: inputs.known_facts_only.checked,
    },
  });
}

export function show(changed) {
  const options = { ...DEFAULTS, ...state.options };
  for (const [name, input] of Object.entries(inputs)) {
    if (input.type === "checkbox") input.checked = options[name] === true;
    else if (document.activeElement !== input) input.value = options[name] ?? "";
  }
  if (!state.topic || !changed.some((name) => ["view", "topic", "model"].includes(name))) return;
  if (begun?.topic === state.topic && begun.model === state.model) return;
  begun = { topic: state.topic, model: state.model };
  run();
}

// What begins as it is on the server is sent only where it was changed.
function bodyOf(options) {
  const body = {
    model: state.model, topic: asGiven(state.topic), seed: options.seed, max_length: options.max_length,
    temperature: options.temperature, known_facts_only: options.known_facts_only,
  };
  for (const name of ["top_k", "top_p", "min_length", "max_uses", "greedy", "only_known_names", "prompt"]) {
    if (options[name] !== DEFAULTS[name]) body[name] = options[name];
  }
  const wishes = formsOf(options.must_use);
  return wishes.length ? { ...body, must_use: wishes } : body;
}

// A piece of a text, marked with where it came from.
export function pieceMark(piece, topic, hues) {
  if (piece.source !== "relation") {
    return make("span", { class: piece.source.replace(" ", "-"), title: PIECE_TITLES[piece.source] ?? null }, piece.text);
  }
  const label = labelOf(topic, piece.type);
  return make("span", {
    class: piece.is_partial ? "mark partial" : "mark",
    title: `${label} → ${piece.object}`,
    vars: { "--hue": hueOf(hues, piece.type), "--strength": "1" },
  }, piece.text, make("small", {}, clipped(label)));
}

async function run() {
  running?.abort();
  const control = new AbortController();
  running = control;
  const { topic } = state;
  const hues = huesOf(topic);
  const body = bodyOf({ ...DEFAULTS, ...state.options });
  parts.text.replaceChildren();
  parts.summary.textContent = "";
  parts.stop.disabled = false;
  last = null;
  let end = 0;
  const pieces = [];
  try {
    await askForLines("generate/stream", body, control.signal, (line) => {
      if (line.error) throw new Error(line.error);
      if (!line.piece) return;
      const { piece } = line;
      pieces.push(piece);
      parts.text.append(piece.start > end ? " " : "", pieceMark(piece, topic, hues));
      end = piece.end;
    });
    const copied = pieces.filter((piece) => piece.source === "relation").length;
    parts.summary.textContent = `${counted(copied, "name")} copied from facts, ${counted(pieces.length - copied, "other piece")}`;
    // The finished text is read once more, for its probability however it may have been made.
    const answer = await ask("generate", { ...body, samples: 1 }, control.signal);
    last = { body, answer };
    const [sample] = answer.samples;
    if (sample.perplexity !== null) parts.summary.append(` · perplexity ${number(sample.perplexity)}`);
    if (!sample.ended) parts.summary.append(" · stopped at the greatest length");
    if (state.view === "generate") say("The text is written.");
  } catch (error) {
    if (error.name === "AbortError") say("Stopped.");
    else say(error.message, true);
  } finally {
    if (running === control) {
      running = null;
      parts.stop.disabled = true;
    }
  }
  if (!chosenModel().copies) parts.summary.append(" · this model writes words only");
}
