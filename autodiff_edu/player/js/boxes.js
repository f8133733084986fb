/** What the graph is drawn with: boxes, lines with arrowheads, and scissors. */

import { UNKNOWN, draw, set, shorten, write } from "./dom.js";
import { STRINGS } from "./strings.js";
import * as SHARED from "../../text/shared.json";

const BOX_MARKS = { skip: "○", paused: "‖", unconnected: "∅" };

/** The box of a tensor, drawn around y = 0. `update` changes what has changed since the last time. */
export function drawBox({ x, width, height, plain, heading, operation }, index, { name, value: { text: whole } }) {
  const lines = SHARED.box;
  const [left, right] = [lines.padding, width - lines.padding];
  const text = (part, dx, y, anchor = "start", words = "") =>
    draw("text", { x: x + dx, y, "data-part": part, "text-anchor": anchor }, words);
  const [title, about] = [draw("title"), draw("title")];
  const value = plain ? text("value", width / 2, lines.plain_value, "middle") : text("value", left, lines.value);
  const element = draw("g", { "data-tensor": index, class: plain ? "plain" : null });
  element.append(title, draw("rect", { x, y: 0, width, height, rx: 6 }), value);
  const cotangent = plain ? null : text("cotangent", left, lines.cotangent);
  const mark = plain ? null : text("mark", right, lines.cotangent, "end");
  if (!plain) {
    const [top, tall] = [lines.strip, height - lines.strip - 6];
    const strip = `M${x + 1} ${top}h${width - 2}v${tall}q0 5 -5 5h${12 - width}q-5 0 -5 -5z`;
    element.append(draw("path", { class: "strip", d: strip }));
    element.append(text("name", left, lines.name, "start", heading));
    element.append(text("operation", right, lines.name, "end", operation), cotangent, mark);
  }
  let before = {};
  const update = (now) => {
    const { known, reached, backward, tangents } = now;
    for (const part of ["state", "mark", "now", "cause"]) {
      if (before[part] !== now[part]) set(element, `data-${part}`, now[part] || null);
    }
    if (before.known !== known || before.reached !== reached || before.backward !== backward ||
        before.tangents !== tangents) {
      set(element, "data-known", known !== UNKNOWN || null);
      set(element, "data-reached", reached === undefined ? null : tangents ? "tangent" : true);
      const words = STRINGS.graph;
      const [also, arrow] = tangents ? [words.moved, "→"] : [words.reached, "←"];
      write(title, reached === undefined ? words.tensor(name, known) : also(name, known, reached));
      write(value, cotangent || name === whole ? shorten(known) : `${heading} = ${shorten(known)}`);
      const flows = backward || reached !== undefined;
      if (cotangent) write(cotangent, flows ? `${arrow} ${shorten(reached ?? UNKNOWN)}` : "");
    }
    if (mark && before.mark !== now.mark) {
      mark.replaceChildren(BOX_MARKS[now.mark] ?? "", about);
      write(about, STRINGS.graph.marks[now.mark] ?? "");
    }
    before = now;
  };
  return { element, update };
}

/** An arrowhead that points at (x, y), down or up. */
export const drawHead = (x, y, down) => {
  const back = y + (down ? -7 : 7);
  return draw("path", { class: "head", d: `M${x - 4} ${back}L${x} ${y}L${x + 4} ${back}z` });
};

/** The path of a line through its links, each {points} from the first to the last. */
export const pathOf = (links, up) =>
  links.map(({ points: [x, top, bentX, bent, bottom] }) => {
    const [y, bend] = [up(top), up(bent)];
    const middle = (y + bend) / 2;
    return `M${x} ${y}C${x} ${middle} ${bentX} ${middle} ${bentX} ${bend}V${up(bottom)}`;
  }).join("");

/** Scissors across the middle of a link: nothing flows back through here. */
export const drawScissors = ({ points: [x, top, bentX, bottom] }, up) => {
  const at = `translate(${(x + bentX) / 2} ${(up(top) + up(bottom)) / 2})`;
  const blades = "M-4.5 -3.5L8 4M-4.5 3.5L8 -4M-4.4 -4.2a2.4 2.4 0 1 0 -.1 .1M-4.4 4.2a2.4 2.4 0 1 1 -.1 -.1";
  return draw("g", { class: "scissors", transform: at }, draw("circle", { r: 11 }), draw("path", { d: blades }));
};
