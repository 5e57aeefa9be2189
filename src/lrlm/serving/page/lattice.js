// Draw the lattice of a sentence: boundaries are nodes, words run along the line between them, and
// names that may have been copied are arcs above. Thickness is the posterior; the best path stands out.

import { draw, percent, shown } from "./dom.js";
import { hueOf, huesOf, labelOf } from "./marks.js";

const LETTER = 8.2;
const LEVEL = 34;
const BASE = 46; // room below the line, for the words

const thickness = (posterior) => 1 + 6 * posterior;

// Place every arc on the lowest level on which it meets no other: short ones first.
function levelsOf(arcs) {
  const levels = [];
  const sorted = [...arcs].sort((a, b) =>
    (a.to_boundary - a.from_boundary) - (b.to_boundary - b.from_boundary) || b.posterior - a.posterior);
  for (const arc of sorted) {
    let level = 0;
    while ((levels[level] ?? []).some((other) =>
      other.from_boundary < arc.to_boundary && arc.from_boundary < other.to_boundary)) level += 1;
    (levels[level] ??= []).push(arc);
  }
  return levels;
}

export function latticeDrawing(lattice, topic) {
  const words = lattice.edges.filter((edge) => !edge.type);
  const arcs = lattice.edges.filter((edge) => edge.type);
  const label = (arc) => `${labelOf(topic, arc.type)} ${percent(arc.posterior)}`;
  const widths = words.map((word) => Array.from(word.text).length * LETTER + 26);
  for (const arc of arcs) {
    const places = [];
    for (let place = arc.from_boundary; place < arc.to_boundary; place += 1) places.push(place);
    const there = places.reduce((sum, place) => sum + widths[place], 0);
    const wanted = Array.from(label(arc)).length * 6.6 + 30;
    for (const place of places) {
      if (wanted > there) widths[place] += (wanted - there) / places.length;
    }
  }
  const x = [18];
  for (const width of widths) x.push(x.at(-1) + width);
  const levels = levelsOf(arcs);
  const line = 26 + levels.length * LEVEL;
  const hues = huesOf(topic);
  const group = draw("g");
  const edgeClass = (edge) => (edge.on_best_path ? "edge best" : "edge");
  words.forEach((word, place) => {
    const centre = (x[place] + x[place + 1]) / 2;
    const told = `the word “${word.text}”: ${percent(word.posterior)}`;
    group.append(draw("g", { class: `${edgeClass(word)} word` },
      draw("title", {}, told),
      draw("line", {
        x1: x[place], y1: line, x2: x[place + 1], y2: line,
        "stroke-width": thickness(word.posterior),
      }),
      draw("text", { x: centre, y: line + 24, "text-anchor": "middle" }, word.text)));
  });
  levels.forEach((level, height) => {
    for (const arc of level) {
      const [from, to] = [x[arc.from_boundary], x[arc.to_boundary]];
      const y = line - 20 - height * LEVEL;
      const round = Math.min(12, (to - from) / 2);
      const told = `“${arc.text}” copied: ${labelOf(topic, arc.type)} → ${arc.object}, ${percent(arc.posterior)}`;
      group.append(draw("g", { class: `${edgeClass(arc)} copy`, vars: { "--hue": hueOf(hues, arc.type) } },
        draw("title", {}, told),
        draw("path", {
          d: `M ${from} ${line} Q ${from} ${y}, ${from + round} ${y} L ${to - round} ${y} Q ${to} ${y}, ${to} ${line}`,
          "stroke-width": thickness(arc.posterior),
        }),
        draw("text", { x: (from + to) / 2, y: y - 6, "text-anchor": "middle" }, label(arc))));
    }
  });
  for (const place of x) group.append(draw("circle", { class: "node", cx: place, cy: line, r: 4.5 }));
  const width = x.at(-1) + 18;
  const height = line + BASE;
  const best = lattice.edges.filter((edge) => edge.on_best_path && edge.type)
    .map((edge) => `${edge.text} as ${labelOf(topic, edge.type)}`).join(", ");
  return draw("svg", {
    class: "lattice", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": shown(`Lattice of ${words.length} words with ${arcs.length} candidates. On the best path: ${best || "words only"}.`),
  }, group);
}
