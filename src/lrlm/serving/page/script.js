// Begin: models and examples are loaded, a link is followed, and the views follow what changes.

import * as annotateView from "./annotate-view.js";
import * as checkView from "./check-view.js";
import * as compareView from "./compare-view.js";
import * as editView from "./edit-view.js";
import * as generateView from "./generate-view.js";
import * as topicView from "./topic-view.js";
import { button, counted, find, make, say, shown } from "./dom.js";
import { copyLink } from "./exports.js";
import { hueOf, huesOf } from "./marks.js";
import { ask, setToken } from "./server.js";
import { change, fromLink, onChange, state, takeTopic, toLink, VIEWS } from "./state.js";

const views = {
  annotate: annotateView, check: checkView, topic: topicView, generate: generateView, edit: editView,
  compare: compareView,
};
const LISTED_FACTS = 40;
const THEMES = ["auto", "light", "dark"];
const TOKEN = "#token=";
const SEARCH_DELAY = 150;

let examples = [];

function showView() {
  for (const name of VIEWS) find(`view-${name}`).hidden = name !== state.view;
  for (const each of find("views").children) {
    if (each.dataset.view === state.view) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
}

function showTopic() {
  const { topic } = state;
  find("topic-name").textContent = shown(topic.names[0]);
  find("topic-count").textContent = counted(topic.relations.length, "fact");
  const hues = huesOf(topic);
  const listed = topic.relations.slice(0, LISTED_FACTS).flatMap((fact) => [
    make("dt", { vars: { "--hue": hueOf(hues, fact.type) } }, fact.label ?? fact.type),
    make("dd", { dir: "auto", title: fact.forms.join(" · ") }, fact.forms[0] ?? fact.object),
  ]);
  const more = topic.relations.length - LISTED_FACTS;
  if (more > 0) listed.push(make("dd", { class: "more" }, `and ${counted(more, "more fact")}`));
  find("fact-list").replaceChildren(...listed);
  const types = new Set(topic.relations.map((fact) => fact.type));
  find("types").replaceChildren(...[...types].map((type) => make("option", { value: type })));
  for (const chip of find("examples").children) {
    chip.setAttribute("aria-pressed", String(chip.dataset.topic === topic.id));
  }
}

onChange((changed) => {
  if (changed.includes("view")) showView();
  if (changed.includes("topic") && state.topic) showTopic();
  if (changed.includes("model")) find("model").value = state.model;
  if (state.topic) views[state.view].show(changed);
});

async function chooseTopic(id) {
  try {
    const topic = await ask(`topic?id=${encodeURIComponent(id)}`);
    const example = examples.find((each) => each.topic.id === topic.id);
    takeTopic(topic, example?.text, example?.claims);
  } catch (error) {
    say(error.message, true);
  }
}

function buildSearch() {
  const query = find("query");
  const list = find("found");
  let timer = 0;
  let control = null;
  let active = -1;

  const close = () => {
    list.hidden = true;
    active = -1;
    query.setAttribute("aria-expanded", "false");
    query.removeAttribute("aria-activedescendant");
  };
  const choose = (id) => {
    close();
    query.value = "";
    chooseTopic(id);
  };
  const point = (place) => {
    active = place;
    [...list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === place)));
    query.setAttribute("aria-activedescendant", `found-${place}`);
    list.children[place]?.scrollIntoView({ block: "nearest" });
  };
  const search = async () => {
    control?.abort();
    if (!query.value.trim()) {
      close();
      return;
    }
    control = new AbortController();
    try {
      const { topics } = await ask(`topics?query=${encodeURIComponent(query.value)}&limit=12`, undefined, control.signal);
      list.replaceChildren(...topics.map((topic, place) => make("li", {
        role: "option", id: `found-${place}`, "data-id": topic.id, "aria-selected": "false",
        on: { pointerdown: (event) => { event.preventDefault(); choose(topic.id); } },
      }, topic.name, make("small", {}, [topic.id === topic.name ? null : topic.id,
        topic.facts === null ? null : counted(topic.facts, "fact"), topic.collection].filter(Boolean).join(" · ")))));
      if (!topics.length) list.append(make("li", { class: "quiet", role: "option", "aria-disabled": "true", "aria-selected": "false" }, "Nothing of that name."));
      list.hidden = false;
      active = -1;
      query.setAttribute("aria-expanded", "true");
    } catch (error) {
      if (error.name !== "AbortError") say(error.message, true);
    }
  };
  query.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, SEARCH_DELAY);
  });
  query.addEventListener("blur", () => setTimeout(close, 100));
  query.addEventListener("keydown", (event) => {
    const items = list.querySelectorAll("[data-id]");
    if (event.key === "Escape") close();
    if (!items.length || list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      point((active + step + items.length) % items.length);
    }
  });
  find("search").addEventListener("submit", async (event) => {
    event.preventDefault();
    clearTimeout(timer);
    if (list.hidden) await search();
    const items = list.querySelectorAll("[data-id]");
    const item = items[Math.max(0, active)];
    if (item) choose(item.dataset.id);
  });
}

function buildTheme() {
  const toggle = find("theme");
  let theme = "auto";
  try {
    theme = localStorage.getItem("lrlm-theme") ?? "auto";
  } catch {
    theme = "auto";
  }
  const apply = () => {
    if (!THEMES.includes(theme)) theme = "auto";
    document.documentElement.dataset.theme = theme;
    toggle.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
    const told = { auto: "as the system has it", light: "light", dark: "dark" }[theme];
    toggle.title = `Colours: ${told}`;
    toggle.setAttribute("aria-label", toggle.title);
  };
  toggle.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem("lrlm-theme", theme);
    } catch {
      // it lasts as long as the page
    }
    apply();
  });
  apply();
}

async function begin() {
  if (location.hash.startsWith(TOKEN)) {
    setToken(decodeURIComponent(location.hash.slice(TOKEN.length)));
    history.replaceState(null, "", location.pathname);
  }
  const linked = fromLink(location.hash);
  const [health, { models }, loaded] = await Promise.all([ask("health"), ask("models"), ask("examples")]);
  examples = loaded.examples;
  find("version").textContent = `lrlm ${health.version}`;
  find("model").replaceChildren(...models.map((model) =>
    make("option", { value: model.name }, `${model.name} (${model.label})`)));
  find("examples").replaceChildren(...examples.map((example) =>
    button(example.title, () => takeTopic(example.topic, example.text, example.claims), { "data-topic": example.topic.id })));
  const fitting = models.find((model) => model.name === linked?.model) ?? models.find((model) => model.annotates);
  const first = (fitting ?? models[0]).name;
  Object.assign(state, { models, model: first });
  find("model").value = first;
  const values = { view: linked?.view ?? "annotate", topic: examples[0].topic, text: examples[0].text,
    claims: examples[0].claims };
  for (const name of ["text", "threshold", "trust", "options"]) if (linked?.[name] !== undefined) values[name] = linked[name];
  values.isOwnText = linked?.text !== undefined;
  try {
    if (typeof linked?.topic === "string") values.topic = await ask(`topic?id=${encodeURIComponent(linked.topic)}`);
    else if (linked?.topic) values.topic = await topicView.readTopic(linked.topic);
  } catch (error) {
    say(error.message, true);
  }
  change(values);
}

function build() {
  for (const [name, view] of Object.entries(views)) view.build(find(`view-${name}`));
  buildSearch();
  buildTheme();
  for (const each of find("views").children) {
    each.addEventListener("click", () => {
      say("");
      change({ view: each.dataset.view });
    });
  }
  find("model").addEventListener("change", (event) => change({ model: event.target.value }));
  find("link").addEventListener("click", () => {
    if (!state.topic) return;
    history.replaceState(null, "", toLink());
    copyLink(location.href);
  });
  window.addEventListener("hashchange", () => {
    if (location.hash.startsWith("#view=")) location.reload();
  });
  if (window.matchMedia("(max-width: 800px)").matches) find("facts").open = false;
}

build();
showView();
begin().catch((error) => say(error.message, true));
