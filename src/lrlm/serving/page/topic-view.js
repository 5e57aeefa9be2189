// The topic: its star, its facts in a table, and ways to write one by hand.

import { button, counted, field, make, say } from "./dom.js";
import { hueOf, huesOf } from "./marks.js";
import { ask } from "./server.js";
import { leftOut, star } from "./star.js";
import { asGiven, state, takeTopic } from "./state.js";

let parts;

export const readTopic = async (given) => ({ ...(await ask("topic", given)), collection: null });

export const formsOf = (text) => String(text).split("|").map((each) => each.trim()).filter(Boolean);

export function build(section) {
  const pasted = make("textarea", { rows: "12", spellcheck: "false", class: "code" });
  const inTurtle = make("select", { on: { change: () => takeChosen() } });
  const choices = make("div", { hidden: true }, field("Topics in this Turtle", inTurtle));
  const name = make("input", { maxlength: "500", placeholder: "Norway" });
  const type = make("input", { maxlength: "500", placeholder: "capital", list: "types" });
  const object = make("input", { maxlength: "500", placeholder: "Oslo" });
  const forms = make("input", { placeholder: "Oslo | Kristiania" });
  parts = {
    heading: make("h2", { id: "h-topic" }),
    about: make("p", { class: "quiet" }),
    star: make("div", { class: "paper figure" }),
    table: make("tbody"),
    pasted,
  };
  const guarded = (action) => async () => {
    try {
      await action();
    } catch (error) {
      say(error.message, true);
    }
  };
  const takeJson = async (text) => {
    let given;
    try {
      given = JSON.parse(text);
    } catch (error) {
      throw new Error(`This is not JSON: ${error.message}`);
    }
    takeTopic(await readTopic(given));
    say("This is the topic now.");
  };
  const takeTurtle = async (turtle, id = null) => {
    const { topic, topics } = await ask("topic/turtle", { turtle, id });
    takeTopic({ ...topic, collection: null });
    pasted.value = turtle; // and not the topic as JSON: another one may be wanted
    inTurtle.replaceChildren(...topics.map((each) =>
      make("option", { value: each.id }, `${each.name} (${counted(each.facts, "fact")})`)));
    inTurtle.value = topic.id;
    choices.hidden = topics.length < 2;
    say(`${topic.names[0]} is the topic now.`);
  };
  const takeChosen = guarded(() => takeTurtle(pasted.value, inTurtle.value));
  section.append(
    parts.heading,
    parts.about,
    parts.star,
    make("details", {}, make("summary", {}, "All facts as a table"),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Facts" },
        make("table", {}, make("thead", {}, make("tr", {},
          ...["relation", "object", "names in texts"].map((each) => make("th", { scope: "col" }, each)))),
        parts.table))),
    make("details", {}, make("summary", {}, "Build a topic by hand"),
      make("div", { class: "columns" },
        field("A new topic called", name),
        button("Begin", guarded(async () => {
          if (!name.value.trim()) throw new Error("The topic needs a name.");
          takeTopic(await readTopic({ id: name.value.trim() }));
          say(`Began ${name.value.trim()}; now add facts.`);
        }))),
      make("p", { class: "quiet" }, "Then, or to go on from the topic above, add facts:"),
      make("div", { class: "columns" }, field("Relation", type), field("Object", object),
        field("Names in texts", forms, "separated by |")),
      make("div", { class: "row" }, button("Add the fact", guarded(async () => {
        const given = asGiven({ ...state.topic, collection: null });
        given.relations.push({ type: type.value, object: object.value, forms: formsOf(forms.value) });
        takeTopic(await readTopic(given));
        say(`Added ${type.value} → ${object.value}.`);
        object.value = "";
        forms.value = "";
      }), { class: "main" }))),
    make("details", {}, make("summary", {}, "Paste a topic as JSON or Turtle"),
      field("Topic", pasted, "JSON with id, names, and relations of type, object and forms; or RDF in Turtle"),
      make("div", { class: "row" }, button("Use this topic", guarded(async () => {
        choices.hidden = true;
        if (pasted.value.trimStart().startsWith("{")) await takeJson(pasted.value);
        else await takeTurtle(pasted.value);
      }), { class: "main" })),
      choices),
  );
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(parts.star.clientWidth - width) > 4) {
      width = parts.star.clientWidth;
      drawStar();
    }
  }).observe(parts.star);
}

function drawStar() {
  if (state.topic && parts.star.clientWidth > 0) {
    parts.star.replaceChildren(star(state.topic, Math.max(280, parts.star.clientWidth - 24)));
  }
}

export function show(changed) {
  const { topic } = state;
  if (!topic || !changed.some((name) => ["view", "topic"].includes(name))) return;
  parts.heading.textContent = topic.names[0];
  const names = topic.names.slice(1, 8).join(", ");
  const from = topic.collection ? `from ${topic.collection}` : "written by hand";
  parts.about.replaceChildren(`${topic.id} · ${counted(topic.relations.length, "fact")}, ${from}`,
    names ? ` · also called ${names}` : "",
    leftOut(topic) ? ` · ${counted(leftOut(topic), "fact")} only in the table` : "");
  drawStar();
  const hues = huesOf(topic);
  parts.table.replaceChildren(...topic.relations.map((fact) => make("tr", {},
    make("td", {}, make("span", { class: "tag", vars: { "--hue": hueOf(hues, fact.type) } }, fact.label ?? fact.type)),
    make("td", {}, fact.object),
    make("td", {}, fact.forms.join(" · ")))));
  parts.pasted.value = JSON.stringify(asGiven({ ...topic, collection: null }), null, 1);
}
