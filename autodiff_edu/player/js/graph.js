/** The graph: a box for each tensor, lines from inputs to uses. */

import { UNKNOWN, build, draw, make, reveal, shorten, write } from "./dom.js";

export function graphView(trace, history, layout) {
  const head = ([x, y], dy) => draw("path", { class: "head", d: `M${x - 4} ${y + dy}L${x} ${y}L${x + 4} ${y + dy}z` });
  const curve = (start, curves) => draw("path", { class: "line", d: `M${start} ${curves}` });
  const [lit, ends] = [draw("g", { class: "lit" }), new Set(layout.entries.flat())];
  const links = layout.links.map((link, number) =>
    draw("g", { class: "link" }, curve(link.start, link.curve), ...(ends.has(number) ? [head(link.end, -7)] : [])));
  /** The whole line from an input to its use: the link that arrives, after all those it goes on from. */
  const edge = ({ end, ...arriving }, backward) => {
    let { start, curve: curves, parent } = arriving;
    for (; parent >= 0; ({ start, parent } = layout.links[parent])) curves = layout.links[parent].curve + curves;
    return [curve(start, curves), backward ? head(start, 7) : head(end, -7)];
  };
  const boxes = layout.tensors.map(({ x, y, width, height, plain, heading, operation }, index) => {
    const text = (part, dx, dy, anchor = "start", words = "") =>
      draw("text", { x: x + dx, y: y + dy, "data-part": part, "text-anchor": anchor }, words);
    const title = draw("title");
    const value = plain ? text("value", width / 2, 16, "middle") : text("value", 10, 36);
    const parts = [title, draw("rect", { x, y, width, height, rx: 6 }), value];
    if (plain) return { group: draw("g", { "data-tensor": index, class: "plain" }, ...parts), title, value };
    const cotangent = text("cotangent", 10, 56);
    const names = [text("name", 10, 19, "start", heading), text("operation", width - 10, 19, "end", operation)];
    const strip = `M${x + 1} ${y + 42}h${width - 2}v${height - 48}q0 5 -5 5h${12 - width}q-5 0 -5 -5z`;
    parts.push(draw("path", { class: "strip", d: strip }), ...names, cotangent);
    return { group: draw("g", { "data-tensor": index }, ...parts), title, value, cotangent };
  });
  const size = { width: layout.width, height: layout.height, role: "img", "aria-label": "The graph of the tensors" };
  const box = make("div", { class: "scroll graph" }, draw("svg", size, ...links, lit, ...boxes.map(({ group }) => group)));
  const show = (step) => {
    const { entry, tensor, argument } = trace.steps[step];
    const backward = history.backward[step];
    const subject = tensor ?? trace.entries[entry]?.output;
    boxes.forEach(({ group, title, value, cotangent }, index) => {
      const { name } = trace.tensors[index];
      const known = history.value(index, step);
      const reached = history.cotangent(index, step)?.text;
      const [isKnown, isReached, isNow] = [known !== UNKNOWN, reached !== undefined, index === subject];
      build(group, { "data-known": isKnown || null, "data-reached": isReached || null, "data-now": isNow || null });
      write(title, `${name}: ${known}${!isReached ? "" : `, cotangent ${reached}`}`);
      const alone = cotangent || name === known;
      write(value, alone ? shorten(known) : `${layout.tensors[index].heading} = ${shorten(known)}`);
      if (cotangent) write(cotangent, backward || isReached ? `← ${shorten(reached ?? UNKNOWN)}` : "");
    });
    const arriving = layout.entries[entry] ?? [];
    links.forEach((link, index) => {
      const known = history.appeared[layout.links[index].entry] <= step;
      build(link, { "data-known": known || null, "data-under": arriving.includes(index) || null });
    });
    const edges = arriving.map((link, index) => {
      // An "accumulate" goes along one argument; nothing at all flows back to a plain constant.
      const still = backward && layout.tensors[trace.entries[entry].inputs[index]].plain;
      const flows = (argument ?? index) === index && !still;
      const about = { "data-edge": `${entry}.${index}`, "data-flow": flows || null };
      return draw("g", about, ...edge(layout.links[link], backward));
    });
    lit.replaceChildren(...edges);
    if (boxes[subject]) reveal(box, boxes[subject].group, 100);
  };
  return { element: make("figure", { class: "graph-figure" }, make("figcaption", {}, "Graph"), box), show };
}
