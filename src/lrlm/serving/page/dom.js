// Make elements of a page. Whatever comes from users, graphs or models becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

// Characters that steer the direction of what follows, or that nobody can see, are replaced: a name
// cannot be made to look like another.
export function shown(text) {
  return String(text)
    .replace(/[\u202a-\u202e\u2066-\u2069\ud800-\udbff](?![\udc00-\udfff])/g, "\ufffd")
    .replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/g, " ");
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) {
        element.addEventListener(event, listener);
      }
    } else if (name === "vars") {
      for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    } else if (name === "value") {
      element.value = value;
    } else if (name === "checked") {
      element.checked = value;
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : shown(child));
  }
  return element;
}

export const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export const find = (id) => document.getElementById(id);

export function button(label, listener, attributes = {}) {
  return make("button", { type: "button", on: { click: listener }, ...attributes }, label);
}

export function field(label, input, hint = "") {
  return make("label", { class: "field" }, make("span", {}, label), input,
    hint ? make("small", {}, hint) : null);
}

// A probability, written so that nothing looks more certain than it is.
export function percent(probability) {
  if (probability >= 0.9995) return "> 99.9 %";
  if (probability < 0.0005) return "< 0.1 %";
  return `${(100 * probability).toFixed(1)} %`;
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function number(value, digits = 1) {
  if (Math.abs(value) >= 1e7) {
    const [front, power] = value.toExponential(1).split("e+");
    return `${front.replace("-", "−")} × 10${[...power].map((each) => RAISED[each]).join("")}`;
  }
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    .replace("-", "−");
}

export const counted = (count, noun) =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

export function say(text, isError = false) {
  const status = find("status");
  status.textContent = shown(text);
  status.classList.toggle("error", isError);
}
