/** A function of two variables from above: its contours, the path so far, and what is known at the point. */

import { UNKNOWN, draw, make, set, write } from "./dom.js";
import { EXTRA_STRINGS } from "./extra-strings.js";
import { dampingView } from "./newton-damping.js";

const MOST_DIGITS = 8; // of the latest points

/**
 * @param {Walk} trace
 * @param {import("./history.js").History} history
 * @param {(step: number) => void} go
 */
export function contoursView(trace, history, go) {
  const { width, height, names, frame, ticks, levels, iterates } = trace.contours;
  const [words, [left, top, wide, tall]] = [EXTRA_STRINGS.contours, frame];
  const [bottom, right] = [top + tall, left + wide];
  /** @type {(text: string, x: number, y: number, anchor: string) => SVGTextElement} */
  const label = (text, x, y, anchor) => draw("text", { x, y, "text-anchor": anchor }, text);
  const mark = (/** @type {string} */ d, about = {}) => draw("path", { d, ...about });
  /** @type {(name: string, ...parts: Element[]) => SVGGElement} */
  const group = (name, ...parts) => draw("g", { class: name }, ...parts);
  const axes = [
    ...ticks[0].flatMap(({ at, text }) => [mark(`M${at} ${bottom}v4`), label(text, at, bottom + 15, "middle")]),
    ...ticks[1].flatMap(({ at, text }) => [mark(`M${left} ${at}h-4`), label(text, left - 7, at + 4, "end")]),
    label(names[0], right - 4, bottom - 6, "end"),
    label(names[1], left + 6, top + 14, "start"),
  ];
  /** @param {Contours["levels"][number]} level */
  const heightOfLine = ({ text, path }) => draw("path", { d: path, "data-level": text }, draw("title", {}, text));
  const areas = group("areas", ...levels.map(({ area }) => mark(area, { "fill-rule": "evenodd" })));
  const heights = group("heights", ...levels.map(heightOfLine));
  const written = levels.filter((level) => level.label);
  const labels = group("labels", ...written.map(({ text, label: [x, y] }) => label(text, x, y + 4, "middle")));
  const [model, path, trials, arrows, dots] = ["model", "path", "trials", "arrows", "dots"].map((name) => group(name));
  const place = { x: left, y: top, width: wide, height: tall };
  const shapes = [areas, heights, labels, model, path, trials, arrows, dots];
  const inside = draw("svg", { ...place, viewBox: frame.join(" ") }, ...shapes);
  const around = group("axes", draw("rect", { ...place, class: "edge" }), ...axes);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" }, around, inside);
  const points = iterates.map(({ at: [cx, cy] }, index) => {
    const dot = draw("circle", { cx, cy, r: 4, "data-point": index }, draw("title", {}, trace.steps[index].point.text));
    dot.addEventListener("click", () => go(index));
    return dot;
  });

  /**
   * What the digits of the points have been up to a step; of anything else what it is there.
   * @type {(name: keyof typeof words.rows, step: number) => string}
   */
  const textOf = (name, step) => {
    if (name !== "digits") return trace.steps[step][name]?.text ?? UNKNOWN;
    const known = trace.steps.slice(0, step + 1).map(({ digits }) => digits);
    return [...(known.length > MOST_DIGITS ? ["…"] : []), ...known.slice(-MOST_DIGITS)].join(" → ");
  };
  const rows = Object.entries(words.rows).filter(([name]) => trace.steps.some((step) => (step[name] ?? null) !== null));
  const fields = rows.map(([name, text]) => {
    const value = make("td", { "data-field": name });
    return { name, value, element: make("tr", {}, make("th", { scope: "row" }, text), value) };
  });
  const table = make("table", { class: "facts" }, ...fields.map(({ element }) => element));
  const note = make("p", { class: "note" });
  const sample = (/** @type {string} */ name) =>
    draw("svg", { viewBox: "0 0 30 10", "aria-hidden": true, "data-sample": name }, mark("M1 5H29"));
  const kinds = Object.entries(words.legend).map(([name, text]) => make("span", {}, sample(name), text));
  const legend = make("p", { class: "legend" }, ...kinds);

  /** @type {(name: string, from: Point, to: Point) => SVGGElement} */
  const arrow = (name, [x, y], [toX, toY]) => {
    const length = Math.hypot(toX - x, toY - y) || 1;
    const [dx, dy] = [(toX - x) / length, (toY - y) / length];
    const corner = (/** @type {number} */ side) => `${toX - 8 * dx + side * 4 * dy} ${toY - 8 * dy - side * 4 * dx}`;
    const head = length < 12 ? [] : [draw("path", { class: "head", d: `M${corner(1)}L${toX} ${toY}L${corner(-1)}Z` })];
    return draw("g", { "data-arrow": name }, draw("path", { d: `M${x} ${y}L${toX} ${toY}` }), ...head);
  };
  let current = 0;
  const drawArrows = () => {
    const { at, gradient, newton } = iterates[current];
    const known = Object.entries({ newton, gradient, damped: damping.at(current) }).filter(([, to]) => to);
    arrows.replaceChildren(...known.map(([name, to]) => arrow(name, at, to)));
  };
  const damping = dampingView(trace, drawArrows);
  const show = (/** @type {number} */ step) => {
    current = step;
    const { model: lines, lengthened, trials: tried = [] } = iterates[step];
    const facts = trace.steps[step];
    set(picture, "aria-label", words.name(facts.point.text, facts.value.text));
    model.replaceChildren(mark(lines));
    path.replaceChildren(mark(`M${iterates.slice(0, step + 1).map((one) => one.at.join(" ")).join("L")}`));
    trials.replaceChildren(...tried.map(([x, y]) => mark(`M${x - 4} ${y - 4}l8 8m0-8l-8 8`)));
    dots.replaceChildren(...points.slice(0, step + 1));
    points.forEach((dot, index) => set(dot, "data-now", index === step || null));
    for (const { name, value } of fields) write(value, textOf(name, step));
    write(note, lengthened ? words.lengthened : "");
    damping.show(step);
    drawArrows();
  };
  const told = make("div", { class: "scroll told" }, table, note, damping.element);
  const body = make("div", { class: "plane" }, picture, told);
  return { element: make("figure", { class: "contours" }, make("figcaption", {}, words.heading), body, legend), show };
}
