/** A function of two variables from above: its contours, the path so far, and what is known at the point. */

import { UNKNOWN, draw, make, set, write } from "./dom.js";
import { STRINGS } from "./strings.js";

export function contoursView(trace, history, go) {
  const { width, height, names, frame, ticks, levels, iterates } = trace.contours;
  const [words, [left, top, wide, tall]] = [STRINGS.contours, frame];
  const [bottom, right] = [top + tall, left + wide];
  const label = (text, x, y, anchor) => draw("text", { x, y, "text-anchor": anchor }, text);
  const mark = (d) => draw("path", { d });
  const axes = [
    ...ticks[0].flatMap(({ at, text }) => [mark(`M${at} ${bottom}v4`), label(text, at, bottom + 15, "middle")]),
    ...ticks[1].flatMap(({ at, text }) => [mark(`M${left} ${at}h-4`), label(text, left - 7, at + 4, "end")]),
    label(names[0], right - 4, bottom - 6, "end"),
    label(names[1], left + 6, top + 14, "start"),
  ];
  const heightOf = ({ text, path }) => draw("path", { d: path, "data-level": text }, draw("title", {}, text));
  const heights = draw("g", { class: "heights" }, ...levels.map(heightOf));
  const [model, path, arrows, dots] = ["model", "path", "arrows", "dots"].map((name) => draw("g", { class: name }));
  const place = { x: left, y: top, width: wide, height: tall };
  const inside = draw("svg", { ...place, viewBox: frame.join(" ") }, heights, model, path, arrows, dots);
  const around = draw("g", { class: "axes" }, draw("rect", { ...place, class: "edge" }), ...axes);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" }, around, inside);
  const points = iterates.map(({ at: [cx, cy] }, index) => {
    const dot = draw("circle", { cx, cy, r: 4, "data-point": index }, draw("title", {}, trace.steps[index].point.text));
    dot.addEventListener("click", () => go(index));
    return dot;
  });

  const fields = Object.entries(words.rows).map(([name, text]) => {
    const value = make("td", { "data-field": name });
    return { name, value, element: make("tr", {}, make("th", { scope: "row" }, text), value) };
  });
  const table = make("table", { class: "facts" }, ...fields.map(({ element }) => element));
  const sample = (name) =>
    draw("svg", { viewBox: "0 0 30 10", "aria-hidden": true, "data-sample": name }, mark("M1 5H29"));
  const kinds = Object.entries(words.legend).map(([name, text]) => make("span", {}, sample(name), text));
  const legend = make("p", { class: "legend" }, ...kinds);

  const arrow = (name, [x, y], [toX, toY]) => {
    const length = Math.hypot(toX - x, toY - y) || 1;
    const [dx, dy] = [(toX - x) / length, (toY - y) / length];
    const corner = (side) => `${toX - 8 * dx + side * 4 * dy} ${toY - 8 * dy - side * 4 * dx}`;
    const head = length < 12 ? [] : [draw("path", { class: "head", d: `M${corner(1)}L${toX} ${toY}L${corner(-1)}Z` })];
    return draw("g", { "data-arrow": name }, draw("path", { d: `M${x} ${y}L${toX} ${toY}` }), ...head);
  };
  const show = (step) => {
    const { at, gradient, newton, model: lines } = iterates[step];
    const facts = trace.steps[step];
    set(picture, "aria-label", words.name(facts.point.text, facts.value.text));
    model.replaceChildren(mark(lines));
    path.replaceChildren(mark(`M${iterates.slice(0, step + 1).map((one) => one.at.join(" ")).join("L")}`));
    const known = Object.entries({ newton, gradient }).filter(([, to]) => to);
    arrows.replaceChildren(...known.map(([name, to]) => arrow(name, at, to)));
    dots.replaceChildren(...points.slice(0, step + 1));
    points.forEach((dot, index) => set(dot, "data-now", index === step || null));
    for (const { name, value } of fields) write(value, facts[name]?.text ?? UNKNOWN);
  };
  const body = make("div", { class: "plane" }, picture, make("div", { class: "scroll" }, table));
  return { element: make("figure", { class: "contours" }, make("figcaption", {}, words.heading), body, legend), show };
}
