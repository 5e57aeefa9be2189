// Draw a topic as a star: the topic in the middle, its facts on both sides, in the colours of their
// types. Facts stand one below the other, so that sixty of them can be read as well as six.

import { draw, shown } from "./dom.js";
import { hueOf, huesOf } from "./marks.js";

const ROW = 24;
const GAP = 8;
const MOST = 200;
const TALL = 600;
const FONTS = { type: "600 11.5px", object: "13.5px", middle: "650 15.5px" };

const pen = document.createElement("canvas").getContext("2d");

function widthOf(text, kind) {
  pen.font = `${FONTS[kind]} ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

// Cut a name so that it is no wider than there is room.
function fitted(text, kind, room) {
  const whole = shown(text);
  if (widthOf(whole, kind) <= room) return whole;
  const letters = Array.from(whole);
  let [least, most] = [1, letters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (widthOf(`${letters.slice(0, middle).join("")}…`, kind) <= room) least = middle;
    else most = middle - 1;
  }
  return `${letters.slice(0, least).join("").trimEnd()}…`;
}

// Group facts by type, in their order.
function groupsOf(topic) {
  const groups = new Map();
  for (const fact of topic.relations.slice(0, MOST)) {
    if (!groups.has(fact.type)) groups.set(fact.type, []);
    groups.get(fact.type).push(fact);
  }
  return [...groups.values()];
}

const heightOf = (groups) =>
  groups.reduce((sum, group) => sum + group.length * ROW + GAP, 0);

// Share groups out between two sides of about the same height.
function sides(groups) {
  const difference = (cut) => Math.abs(heightOf(groups.slice(0, cut)) - heightOf(groups.slice(cut)));
  let best = 0;
  for (let cut = 1; cut <= groups.length; cut += 1) {
    if (difference(cut) <= difference(best)) best = cut;
  }
  return [groups.slice(best), groups.slice(0, best)];
}

export function star(topic, width) {
  const narrow = width < 620;
  const groups = groupsOf(topic);
  const [left, right] = narrow ? [[], groups] : sides(groups);
  const name = fitted(topic.names[0], "middle", narrow ? width * 0.26 : 200);
  const half = Math.max(36, widthOf(name, "middle") / 2 + 14);
  const middle = { x: narrow ? half + 4 : width / 2, y: 0 };
  const height = Math.max(heightOf(left), heightOf(right), 80) + 16;
  middle.y = narrow && height > TALL ? 60 : height / 2; // where it is seen first
  const reach = narrow ? half + 34 : Math.max(half + 50, Math.min(width * 0.16, 160));
  const room = narrow ? width - middle.x - reach - 12 : width / 2 - reach - 12;
  const hues = huesOf(topic);
  const lines = draw("g", { class: "lines" });
  const labels = draw("g", { class: "labels" });
  for (const [side, column] of [[-1, left], [1, right]]) {
    let y = (height - heightOf(column)) / 2 + ROW / 2 + GAP / 2;
    for (const group of column) {
      group.forEach((fact, place) => {
        const x = middle.x + side * reach;
        const bend = middle.x + side * (half + (reach - half) * 0.5);
        const hue = hueOf(hues, fact.type);
        lines.append(draw("path", {
          d: `M ${middle.x + side * (half - 2)} ${middle.y} C ${bend} ${middle.y}, ${bend} ${y}, ${x} ${y}`,
          vars: { "--hue": hue },
        }));
        const type = place === 0 ? fitted(fact.label ?? fact.type, "type", room * 0.55) : "";
        const left = room - (type ? widthOf(`${type}  `, "type") + 4 : 0);
        const object = fitted(fact.forms[0] ?? fact.object, "object", left);
        const about = `${fact.label ?? fact.type} → ${fact.object}\n${fact.forms.join(" · ")}`;
        const text = draw("text", {
          x: x + side * 8, y: y + 4.5, "text-anchor": side < 0 ? "end" : "start",
        });
        const parts = [
          draw("tspan", { class: "type", vars: { "--hue": hue } }, type ? `${type}  ` : ""),
          draw("tspan", { class: "object" }, side < 0 && type ? `${object}  ` : object),
        ];
        text.append(...(side < 0 ? parts.reverse() : parts));
        labels.append(draw("g", {}, draw("title", {}, about),
          draw("circle", { cx: x, cy: y, r: 3.5, vars: { "--hue": hue } }), text));
        y += ROW;
      });
      y += GAP;
    }
  }
  const told = `${topic.names[0]} and ${topic.relations.length} facts; the table below lists them.`;
  return draw("svg", {
    class: "star", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": shown(told),
  }, lines, labels, draw("g", { class: "middle" },
    draw("rect", { x: middle.x - half, y: middle.y - 19, width: 2 * half, height: 38, rx: 19 }),
    draw("text", { x: middle.x, y: middle.y + 5.5, "text-anchor": "middle" }, name)));
}

export const leftOut = (topic) => Math.max(0, topic.relations.length - MOST);
