// Take a result along: as JSON, as a line for curl, as Python, as a page in one file.

import { button, make, say } from "./dom.js";
import { askForText, hasToken } from "./server.js";
import { asGiven, state } from "./state.js";

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text, "aria-hidden": "true", class: "unseen" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`Copied ${what}.`);
}

export const copyLink = (address) => copy(address, "a link to this view");

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function asCurl(path, body) {
  const address = new URL(`api/v1/${path}`, location.href.split("#")[0]);
  const token = hasToken() ? ` -H "authorization: Bearer $LRLM_TOKEN"` : "";
  return `curl ${quoted(address.href)}${token} -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}`;
}

// JSON of texts, lists and objects is Python as well.
const literal = (value) => {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  return JSON.stringify(value);
};

export function asPython(call) {
  const model = state.models[0].name === "miniworld" && state.model === "miniworld"
    ? "lrlm.load()" : `lrlm.load(${literal(state.model)})  # the folder of the run`;
  const { id, names, relations } = asGiven({ ...state.topic, collection: null });
  const facts = relations.map((fact) =>
    `    lrlm.Relation(${literal(fact.type)}, ${literal(fact.object)}, forms=${literal(fact.forms)}`
    + `${fact.label ? `, label=${literal(fact.label)}` : ""}),\n`);
  return `import lrlm

model = ${model}
topic = lrlm.Topic(${literal(id)}, names=${literal(names)}, relations=[
${facts.join("")}])
${call(literal)}
`;
}

function download(content, name) {
  const address = URL.createObjectURL(new Blob([content], { type: "text/html" }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// The buttons below a result. `result` gives { path, body, answer, python, html } when asked.
export function exportRow(result) {
  const using = (action) => async () => {
    const made = result();
    if (!made) {
      say("There is no result yet.");
      return;
    }
    try {
      await action(made);
    } catch (error) {
      say(error.message, true);
    }
  };
  const wantsHtml = result.html !== false;
  return make("div", { class: "row exports", role: "group", "aria-label": "Take this result along" },
    button("Copy JSON", using(({ answer }) => copy(JSON.stringify(answer, null, 1), "JSON"))),
    button("Copy curl", using(({ path, body }) => copy(asCurl(path, body), "a line for curl"))),
    button("Copy Python", using(({ python }) => copy(asPython(python), "Python"))),
    wantsHtml ? button("Download HTML", using(async ({ path, body, name }) => {
      download(await askForText(path, { ...body, format: "html" }), name);
    })) : null);
}
