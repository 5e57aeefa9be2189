// Edit a fact, and see what the model then says of the same text: before and after, side by side.

import { button, field, make, number, percent, say } from "./dom.js";
import { bars, chosenSpans, copyOf, huesOf, labelOf, markedText } from "./marks.js";
import { pieceMark } from "./generate-view.js";
import { ask } from "./server.js";
import { asGiven, chosenModel, state } from "./state.js";
import { formsOf, readTopic } from "./topic-view.js";

let parts;
let edited = null;
let original = null;
let turn = 0;

export function build(section) {
  parts = {
    fact: make("select", { on: { change: fillFact } }),
    type: make("input", { maxlength: "500" }),
    object: make("input", { maxlength: "500" }),
    forms: make("input"),
    changes: make("ul", { class: "changes", "aria-label": "Changes so far" }),
    difference: make("p", { class: "difference", role: "status" }),
    before: make("div"),
    after: make("div"),
    table: make("tbody"),
    written: make("div", { class: "pair" }),
  };
  const guarded = (action) => async () => {
    try {
      await action();
    } catch (error) {
      say(error.message, true);
    }
  };
  const given = () => ({
    type: parts.type.value, object: parts.object.value, forms: formsOf(parts.forms.value),
  });
  section.append(
    make("h2", { id: "h-edit" }, "What if a fact were another?"),
    make("p", { class: "quiet" }, "Change what is known. The text stays the same; where its names came from, and how"
      + " probable it is, does not."),
    make("div", { class: "columns" }, field("Fact", parts.fact), field("Relation", parts.type),
      field("Object", parts.object), field("Names in texts", parts.forms, "separated by |")),
    make("div", { class: "row" },
      button("Replace", guarded(() => apply((facts, place) => {
        facts[place] = given();
      })), { class: "main" }),
      button("Add as new", guarded(() => apply((facts) => facts.push(given())))),
      button("Remove", guarded(() => apply((facts, place) => facts.splice(place, 1)))),
      button("Reset", guarded(async () => {
        edited = original;
        await compare();
      }))),
    parts.changes,
    parts.difference,
    make("div", { class: "pair" },
      make("div", { class: "paper" }, make("h3", {}, "Before"), parts.before),
      make("div", { class: "paper" }, make("h3", {}, "After"), parts.after)),
    make("details", {}, make("summary", {}, "Every name, before and after"),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Names before and after" },
        make("table", {}, make("thead", {}, make("tr", {}, ...["name", "before", "after"]
          .map((each) => make("th", { scope: "col" }, each)))), parts.table))),
    make("h3", {}, "And what would it write?"),
    make("div", { class: "row" }, button("Generate with both", guarded(writeBoth))),
    parts.written,
  );
}

export function show(changed) {
  if (!state.topic || state.view !== "edit") return;
  if (!changed.some((name) => ["view", "topic", "text", "model"].includes(name))) return;
  if (original !== state.topic) {
    original = state.topic;
    edited = state.topic;
    parts.written.replaceChildren();
  }
  compare();
}

function fillFacts() {
  const chosen = parts.fact.value;
  parts.fact.replaceChildren(...edited.relations.map((fact, place) =>
    make("option", { value: String(place) }, `${fact.label ?? fact.type} → ${fact.forms[0] ?? fact.object}`)));
  if (chosen !== "" && Number(chosen) < edited.relations.length) parts.fact.value = chosen;
  fillFact();
}

function fillFact() {
  const fact = edited.relations[Number(parts.fact.value)];
  parts.type.value = fact?.type ?? "";
  parts.object.value = fact?.object ?? "";
  parts.forms.value = fact?.forms.join(" | ") ?? "";
}

async function apply(editing) {
  const topic = asGiven({ ...edited, collection: null });
  editing(topic.relations, Number(parts.fact.value));
  const labels = new Map(original.relations.map((fact) => [fact.type, fact.label]));
  const made = await readTopic(topic);
  for (const fact of made.relations) fact.label = labels.get(fact.type) ?? fact.type;
  edited = made;
  await compare();
}

const told = (fact) => `${fact.label ?? fact.type} → ${fact.forms[0] ?? fact.object}`;

function showChanges() {
  const key = (fact) => JSON.stringify([fact.type, fact.object, fact.forms]);
  const before = new Set(original.relations.map(key));
  const after = new Set(edited.relations.map(key));
  const gone = original.relations.filter((fact) => !after.has(key(fact)));
  const come = edited.relations.filter((fact) => !before.has(key(fact)));
  parts.changes.replaceChildren(
    ...gone.map((fact) => make("li", { class: "gone" }, make("del", {}, told(fact)))),
    ...come.map((fact) => make("li", { class: "come" }, make("ins", {}, told(fact)))));
  return gone.length + come.length > 0;
}

async function compare() {
  turn += 1;
  const mine = turn;
  fillFacts();
  const isChanged = showChanges();
  const asked = (topic) => ({ model: state.model, text: state.text, topic: asGiven(topic) });
  const path = chosenModel().annotates ? "annotate" : "score";
  try {
    const found = await Promise.all([original, edited].map((topic) => path === "annotate"
      ? ask("annotate", asked(topic))
      : ask("score", { models: [state.model], text: state.text, topic: asGiven(topic) })));
    if (mine !== turn) return;
    const nats = found.map((each) => each.nats ?? each.scores[0].nats);
    render(path === "annotate" ? found : null, nats, isChanged);
    say("");
  } catch (error) {
    if (mine === turn) say(error.message, true);
  }
}

function render(annotations, nats, isChanged) {
  const change = nats[0] - nats[1];
  parts.difference.replaceChildren(
    make("b", {}, `log P ${number(-nats[0], 2)}`), " before, ",
    make("b", {}, number(-nats[1], 2)), " after: ",
    isChanged
      ? make("strong", { class: change < 0 ? "worse" : "better" },
        `${change < 0 ? "less" : "more"} probable by ${number(Math.abs(change), 2)} nats`)
      : "change a fact to see a difference");
  const key = (span, best) => `${span.start} ${span.end} ${best.type} ${best.object}`;
  const sure = (annotation) => new Set(chosenSpans(annotation, state.threshold)
    .filter((each) => each.isSure).map(({ span, best }) => key(span, best)));
  const marked = annotations?.map(sure);
  for (const [place, panel] of [parts.before, parts.after].entries()) {
    const topic = [original, edited][place];
    const why = make("div", { "aria-live": "polite" });
    panel.replaceChildren(
      annotations
        ? markedText(annotations[place], topic, state.threshold, (span) => why.replaceChildren(bars(span, topic)),
          (span, best) => !marked[1 - place].has(key(span, best)))
        : make("p", { class: "text", dir: "auto" }, state.text),
      make("p", { class: "quiet" }, `${number(nats[place])} nats`), why);
  }
  parts.table.replaceChildren(...(annotations ? rows(annotations) : []));
}

function rows([before, after]) {
  const places = new Map();
  for (const [side, annotation] of [before, after].entries()) {
    for (const span of annotation.spans) {
      const key = `${span.start}-${span.end}`;
      const row = places.get(key) ?? { span, sides: [null, null] };
      row.sides[side] = span;
      places.set(key, row);
    }
  }
  const cell = (span, topic) => {
    if (!span) return "words only";
    const { best, probability } = copyOf(span);
    return `${labelOf(topic, best.type)} → ${best.object}, ${percent(probability)}`;
  };
  return [...places.values()].sort((a, b) => a.span.start - b.span.start).map(({ span, sides }) =>
    make("tr", {}, make("th", { scope: "row" }, span.text),
      make("td", {}, cell(sides[0], original)), make("td", {}, cell(sides[1], edited))));
}

async function writeBoth() {
  const options = { seed: state.options.seed ?? 0, max_length: 80 };
  const texts = await Promise.all([original, edited].map((topic) =>
    ask("generate", { model: state.model, topic: asGiven(topic), ...options })));
  parts.written.replaceChildren(...texts.map((answer, place) => {
    const topic = [original, edited][place];
    const hues = huesOf(topic);
    const text = make("p", { class: "text", dir: "auto" });
    let end = 0;
    for (const piece of answer.samples[0].pieces) {
      text.append(piece.start > end ? " " : "", pieceMark(piece, topic, hues));
      end = piece.end;
    }
    return make("div", { class: "paper" }, make("h3", {}, ["Before", "After"][place]), text);
  }));
}
