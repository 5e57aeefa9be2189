// Show a text with its names marked: coloured by relation, the stronger the more probable.

import { counted, make, number, percent } from "./dom.js";

const TITLE = "@title";

// One hue for each relation type of a topic, in the order of its facts; the golden angle keeps any
// number of them apart.
export function huesOf(topic) {
  const hues = new Map([[TITLE, 210]]);
  for (const { type } of topic?.relations ?? []) {
    if (!hues.has(type)) hues.set(type, Math.round(210 + hues.size * 137.508) % 360);
  }
  return hues;
}

export const hueOf = (hues, type) => String(hues.get(type) ?? 0);

export function labelOf(topic, type) {
  if (type === TITLE) return "title";
  return topic?.relations.find((fact) => fact.type === type)?.label ?? type;
}

// How probable it is that the whole span was copied, and from what most probably.
export function copyOf(span) {
  const copies = span.explanations.filter((each) => each.kind === "relation");
  const probability = copies.reduce((sum, each) => sum + each.probability, 0);
  return { probability: Math.min(1, probability), best: copies[0].steps[0] };
}

// The spans to mark: those above the threshold, of those that overlap the most probable; then
// other candidates where there is room.
export function chosenSpans(annotation, threshold) {
  const all = annotation.spans.map((span) => ({ span, ...copyOf(span) }));
  const sure = all.filter((each) => each.probability >= threshold)
    .sort((a, b) => b.probability - a.probability);
  const others = all.filter((each) => each.probability < threshold)
    .sort((a, b) => (b.span.end - b.span.start) - (a.span.end - a.span.start));
  const taken = [];
  for (const each of [...sure, ...others]) {
    const { start, end } = each.span;
    if (taken.every((other) => other.span.end <= start || end <= other.span.start)) {
      taken.push({ ...each, isSure: each.probability >= threshold });
    }
  }
  return taken.sort((a, b) => a.span.start - b.span.start);
}

// Offsets of the server count characters, those of JavaScript half of some of them.
export const lettersOf = (text) => Array.from(text);

const LONGEST_LABEL = 28;
export const clipped = (label) => (label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label);

// A text with some of its pieces marked; a click or Enter on one chooses it.
export function markedPieces(whole, pieces) {
  const letters = lettersOf(whole);
  const cut = (start, end) => letters.slice(start, end).join("");
  const text = make("p", { class: "text", dir: "auto" });
  let end = 0;
  for (const piece of pieces) {
    if (piece.start < end) continue; // it overlaps one before it
    text.append(make("span", {}, cut(end, piece.start)));
    const mark = make("span", {
      class: `${piece.isSure ? "mark" : "candidate"}${piece.isOther ? " other" : ""}`,
      role: "button",
      tabindex: "0",
      "aria-label": piece.told,
      vars: { "--hue": piece.hue, "--strength": String(0.2 + 0.8 * piece.probability) },
    }, piece.text, piece.isSure ? make("small", { "aria-hidden": "true" }, clipped(piece.label)) : null);
    const open = () => {
      for (const other of text.querySelectorAll("[aria-pressed]")) {
        other.removeAttribute("aria-pressed");
      }
      mark.setAttribute("aria-pressed", "true");
      piece.choose();
    };
    mark.addEventListener("click", open);
    mark.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        open();
      }
    });
    text.append(mark);
    end = piece.end;
  }
  text.append(make("span", {}, cut(end)));
  return text;
}

// `isOther` says of a span and its best fact whether they are to stand out.
export function markedText(annotation, topic, threshold, choose, isOther = () => false) {
  const hues = huesOf(topic);
  return markedPieces(annotation.text, chosenSpans(annotation, threshold).map(({ span, probability, best, isSure }) => {
    const label = labelOf(topic, best.type);
    return {
      start: span.start, end: span.end, text: span.text, isSure, label, probability,
      hue: hueOf(hues, best.type),
      told: `${span.text}, ${label}, ${percent(probability)}`,
      choose: () => choose(span),
      isOther: isSure && isOther(span, best),
    };
  }));
}

export function legend(annotation, topic, threshold) {
  const hues = huesOf(topic);
  const counts = new Map();
  for (const { best, isSure } of chosenSpans(annotation, threshold)) {
    if (isSure) counts.set(best.type, (counts.get(best.type) ?? 0) + 1);
  }
  return make("ul", { class: "legend", "aria-label": "Relations in this text" },
    [...counts].map(([type, count]) =>
      make("li", { vars: { "--hue": hueOf(hues, type) } },
        make("b", {}, labelOf(topic, type)), ` ${count}`)));
}

export function describe(explanation, span, topic) {
  if (explanation.kind === "words") return "plain words";
  if (explanation.kind === "crossing") return "part of a longer name";
  if (!explanation.steps.length) return "other mixtures";
  if (explanation.kind === "relation") {
    const [step] = explanation.steps;
    return `${labelOf(topic, step.type)} → ${step.object}`;
  }
  return explanation.steps.map((step) =>
    step.type ? `“${step.text}” as ${labelOf(topic, step.type)}` : `“${step.text}”`).join(" + ");
}

// The explanations of a span as bars, the most probable first.
export function bars(span, topic) {
  const hues = huesOf(topic);
  const listed = span.explanations.slice(0, 10);
  const rows = listed.map((each) => {
    const step = each.steps.find((one) => one.type);
    return make("li", {
      class: each.kind,
      vars: {
        "--share": String(each.probability),
        "--hue": step ? hueOf(hues, step.type) : "0",
      },
    },
    make("span", {}, describe(each, span, topic)),
    make("b", {}, percent(each.probability)),
    make("i", { "aria-hidden": "true" }));
  });
  const more = span.explanations.length - listed.length;
  return make("div", { class: "why" },
    make("h3", {}, "Where does “", span.text, "” come from?"),
    make("ul", { class: "bars" }, rows),
    more > 0 ? make("p", { class: "quiet" }, `${counted(more, "less probable explanation")} more.`)
      : null);
}

export function summary(annotation) {
  return `${counted(annotation.tokens.length, "word")} · ${number(annotation.nats)} nats · perplexity ${number(annotation.perplexity)}`;
}
