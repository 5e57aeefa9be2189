// What the page shows: the model, the topic, the text and the options; and all of it in a link.

export const VIEWS = ["annotate", "check", "topic", "generate", "edit", "compare"];
export const TRUSTS = ["neither", "graph", "text"];

export const state = {
  view: "annotate",
  models: [],
  model: null,
  topic: null, // { id, names, relations: [{ type, label, object, forms }], collection }
  text: "",
  claims: null, // of an example: a text that is not all true
  isOwnText: false, // whether somebody wrote it; the page's own text follows the topic
  threshold: 0.5,
  trust: "neither", // which side is right where a text that is checked and the facts differ
  options: {},
};

const LONGEST_LINK = 400_000;
const listeners = [];

export const onChange = (listener) => listeners.push(listener);

export function change(values) {
  Object.assign(state, values);
  for (const listener of listeners) listener(Object.keys(values));
}

// Take another topic. A text that somebody wrote stays; else the topic's facts become one.
export function takeTopic(topic, text, claims = null) {
  if (text !== undefined) change({ topic, text, claims, isOwnText: false });
  else if (state.isOwnText) change({ topic });
  else change({ topic, text: textAbout(topic), claims: null });
}

export const textToCheck = () => (state.isOwnText ? state.text : state.claims ?? state.text);

function textAbout(topic) {
  const facts = topic.relations.slice(0, 6).map((fact) =>
    `The ${fact.label ?? fact.type} is ${fact.forms[0] ?? fact.object}.`);
  return [`This is about ${topic.names[0]}.`, ...facts].join(" ");
}

// A topic that the server knows is named by its id; one that was written or edited is sent whole.
export function asGiven(topic) {
  if (topic.collection) return topic.id;
  return {
    id: topic.id,
    names: topic.names,
    relations: topic.relations.map(({ type, label, object, forms }) => (
      label && label !== type ? { type, label, object, forms } : { type, object, forms })),
  };
}

export const chosenModel = () => state.models.find((each) => each.name === state.model);

export function toLink() {
  const kept = {
    view: state.view,
    model: state.model,
    topic: asGiven(state.topic),
    text: state.view === "check" ? textToCheck() : state.text,
    threshold: state.threshold,
    trust: state.trust,
    options: state.options,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(kept));
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  const code = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `#view=${code}`;
}

// Read a link that somebody else may have written: only what is of the right kind is taken.
export function fromLink(fragment) {
  if (!fragment.startsWith("#view=") || fragment.length > LONGEST_LINK) return null;
  let kept;
  try {
    const code = fragment.slice(6).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
    kept = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
  if (typeof kept !== "object" || kept === null) return null;
  const found = {};
  if (VIEWS.includes(kept.view)) found.view = kept.view;
  if (typeof kept.model === "string") found.model = kept.model;
  if (typeof kept.topic === "string") found.topic = kept.topic;
  if (typeof kept.topic === "object" && kept.topic !== null) found.topic = kept.topic;
  if (typeof kept.text === "string") found.text = kept.text;
  if (Number.isFinite(kept.threshold)) {
    found.threshold = Math.min(1, Math.max(0, kept.threshold));
  }
  if (TRUSTS.includes(kept.trust)) found.trust = kept.trust;
  if (typeof kept.options === "object" && kept.options !== null) found.options = kept.options;
  return found;
}
