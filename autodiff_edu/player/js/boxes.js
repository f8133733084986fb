/** What the graph is drawn with: boxes, lines with arrowheads, and scissors. */

import { flat } from "./array.js";
import { brief } from "./brief.js";
import { UNKNOWN, draw, set, shorten, write } from "./dom.js";
import { nonfiniteIn } from "./nonfinite.js";
import { STRINGS } from "./strings.js";
import { drawThumbnail, hasCells, rowsOf } from "./thumbnails.js";
import * as SHARED from "../../text/shared.json";

/** @typedef {"value" | "cotangent"} Part of a box */

const [LONGEST_BEAD, LONGEST_BEAD_OF_ARRAY] = [10, 20]; // letters
const MOST_IN_BEAD = 4; // numbers
const [BEAD_HEIGHT, BEAD_ROW] = [16, 10]; // pixels: with an arrowhead no more than there are between two boxes
export const BOX_MARKS = { skip: "○", paused: "‖", unconnected: "∅" };

/**
 * @typedef {{
 *   known: NDArray | null, reached: NDArray | null, backward: boolean, tangents: boolean,
 *   mark: keyof typeof BOX_MARKS | null, cause: boolean, state: string | null, now: boolean, corner: boolean,
 * }} Look what a box shows at a step
 */

/**
 * The text of an array in its box, where numbers that stand side by side have three digits; layout.py measures it.
 * @param {NDArray | null} array
 */
const graphText = (array) => shorten(array?.shape.length ? brief(array.text) : (array?.text ?? UNKNOWN));

/**
 * The box of a tensor, drawn around y = 0. `update` changes what has changed since the last time: `known` is the value,
 * `reached` the cotangent. `receive` shows a cotangent for the moment.
 * @param {Box} place
 * @param {number} index
 * @param {Tensor} tensor
 */
export function drawBox(place, index, { name, value: { text: whole } }) {
  const { x, width, height, plain, heading, operation, art, limits } = place;
  const lines = SHARED.box;
  const [left, right] = [lines.padding, width - lines.padding];
  /** @type {(part: string, dx: number, y: number, anchor?: string, words?: string) => SVGTextElement} */
  const text = (part, dx, y, anchor = "start", words = "") =>
    draw("text", { x: x + dx, y, "data-part": part, "text-anchor": anchor }, words);
  const [title, meaning] = [draw("title"), draw("title")];
  const strip = art?.strip ?? lines.strip;
  /** @type {(top: number, tall: number) => number} */
  const middle = (top, tall) => top + tall / 2 + 4; // of a line of text beside a thumbnail
  const value = !plain
    ? text("value", left, art ? middle(art.top, art.value || 14) : lines.value)
    : art ? text("value", left, middle(0, height)) : text("value", width / 2, lines.plain_value, "middle");
  const about = { id: `tensor-${index}`, role: "img", "data-tensor": index, class: plain ? "plain" : null };
  const element = draw("g", about);
  element.append(title, draw("rect", { x, y: 0, width, height, rx: 6 }), value);
  const below = art ? middle(strip, height - strip) : lines.cotangent;
  const cotangent = plain ? null : text("cotangent", left, below);
  const mark = plain ? null : text("mark", right, below, "end");
  if (!plain) {
    const outline = `M${x + 1} ${strip}h${width - 2}v${height - strip - 6}q0 5 -5 5h${12 - width}q-5 0 -5 -5z`;
    element.append(draw("path", { class: "strip", d: outline }));
    element.append(text("name", left, lines.name, "start", heading));
    element.append(text("operation", right, lines.name, "end", operation), cotangent, mark);
  }
  /**
   * Where an array is drawn and not written; beside it its shape, and where its colours end.
   * @type {(part: Part, at: number, top: number) => {
   *   places: SVGElement[], fill: (array: NDArray | null, places?: SVGElement[]) => boolean,
   * }}
   */
  const pictureOf = (part, at, top) => {
    const [holder, tall] = [draw("g", { "data-holds": part }), art[part]];
    const stacked = tall >= SHARED.thumbnail.stacked;
    const beside = at + art.width + 6;
    const label = text("shape", beside, middle(top, tall) - (stacked ? 6 : 0));
    const end = draw("tspan", { "data-part": "end", ...(stacked ? { x: x + beside, dy: 12 } : { dx: 6 }) });
    write(end, art.ends[part]);
    element.append(holder, label);
    const places = /** @type {SVGElement[]} */ ([holder, label]);
    return { places, fill: (array, [picture, words] = places) => {
      const drawn = hasCells(array) && tall > 0;
      const drawing = () => (art.rows
        ? rowsOf(array.text).map((row, k) => text("row", at, top + (k + 0.8) * SHARED.thumbnail.row, "start", row))
        : [drawThumbnail(array, limits[part], x + at, top)]);
      picture.replaceChildren(...(drawn ? drawing() : []));
      words.replaceChildren(...(drawn && !art.rows ? [STRINGS.panel.shape(array.shape), end.cloneNode(true)] : []));
      return drawn;
    } };
  };
  const valueTop = plain ? (height - art?.value) / 2 : art?.top;
  const pictures = art && [pictureOf("value", art.x, valueTop), pictureOf("cotangent", art.x + lines.arrow, strip + 3)];
  /** @param {(string | null)[]} odd */
  const spoil = (...odd) => {
    [value, cotangent].forEach((part, k) => part && set(part, "data-odd", odd[k]));
    const found = odd[0] ?? odd[1];
    set(element, "data-odd", found);
    if (found && !element.querySelector(".sign")) element.append(drawSign(x + width - 2, 2));
  };
  let [before, arrow] = [/** @type {Partial<Look>} */ ({}), "←"];
  /** @type {SVGGElement} */
  let cornered;
  const receive = (/** @type {NDArray | null} */ array) => {
    const drawn = pictures?.[1].fill(array);
    write(cotangent, `${arrow} ${drawn ? "" : graphText(array)}`);
  };
  /** @type {(array: NDArray | null, drawn: boolean | undefined) => string} */
  const valueText = (array, drawn) => {
    if (drawn) return plain && name !== whole ? heading : "";
    return cotangent || name === whole ? graphText(array) : `${heading} = ${graphText(array)}`;
  };
  /**
   * What the box does not show yet, for the wave: copies of its parts that do, and the parts themselves.
   * @type {(
   *   part: Part, array: NDArray | null | undefined, sign: string,
   * ) => [copies: SVGElement[], parts: SVGElement[]]}
   */
  const preview = (part, array, sign) => {
    const [line, picture] = part === "value" ? [value, pictures?.[0]] : [cotangent, pictures?.[1]];
    if (!line || !array || (part === "value" && before.known)) return [[], []];
    const parts = [line, ...(picture?.places ?? [])];
    const copies = parts.map((each) => /** @type {SVGElement} */ (each.cloneNode()));
    const drawn = picture?.fill(array, copies.slice(1));
    copies[0].textContent = part === "value" ? valueText(array, drawn) : `${sign} ${drawn ? "" : graphText(array)}`;
    element.append(...copies);
    return [copies, parts];
  };
  const update = (/** @type {Look} */ now) => {
    const { known, reached, backward, tangents } = now;
    for (const part of /** @type {const} */ (["state", "mark", "now", "cause"])) {
      if (before[part] !== now[part]) set(element, `data-${part}`, now[part] || null);
    }
    if (before.known !== known || before.reached !== reached || before.backward !== backward ||
        before.tangents !== tangents) {
      const [shown, words] = [known?.text ?? UNKNOWN, STRINGS.graph];
      set(element, "data-known", known ? true : null);
      set(element, "data-reached", reached ? (tangents ? "tangent" : true) : null);
      const also = tangents ? words.moved : words.reached;
      write(title, reached ? also(name, shown, reached.text) : words.tensor(name, shown));
      write(value, valueText(known, pictures?.[0].fill(known)));
      spoil(nonfiniteIn(known?.text), nonfiniteIn(reached?.text));
      arrow = tangents ? "→" : "←";
      if (cotangent && (backward || reached)) receive(reached);
      else if (cotangent) { write(cotangent, ""); pictures?.[1].fill(null); }
    }
    if (now.corner && !cornered) {
      cornered = drawCorner(x + width, strip);
      cornered.prepend(draw("title", {}, STRINGS.graph.corner));
    }
    if (cornered && now.corner !== before.corner) now.corner ? element.append(cornered) : cornered.remove();
    if (mark && before.mark !== now.mark) {
      mark.replaceChildren(BOX_MARKS[now.mark] ?? "", meaning);
      write(meaning, STRINGS.graph.marks[now.mark] ?? "");
    }
    before = now;
  };
  return { element, update, receive, preview };
}

/**
 * An exclamation mark in a disc.
 * @type {(x: number, y: number) => SVGGElement}
 */
const drawSign = (x, y) => {
  const text = draw("text", { y: 4, "text-anchor": "middle" }, "!");
  return draw("g", { class: "sign", transform: `translate(${x} ${y})` }, draw("circle", { r: 7 }), text);
};

/**
 * A corner in a disc: a line from the left and one to the right.
 * @type {(x: number, y: number) => SVGGElement}
 */
export const drawCorner = (x, y) =>
  draw("g", { class: "corner", transform: `translate(${x} ${y})` }, draw("circle", { r: 8 }),
    draw("path", { d: "M-5 2.5H0L3.5 -3.5" }));

/**
 * An arrowhead that points at (x, y), down or up.
 * @type {(x: number, y: number, down: boolean) => SVGPathElement}
 */
export const drawHead = (x, y, down) => {
  const back = y + (down ? -7 : 7);
  return draw("path", { class: "head", d: `M${x - 4} ${back}L${x} ${y}L${x + 4} ${back}z` });
};

/** @typedef {import("./folds.js").Folds["points"]} Place where the points of a link are now */

/**
 * The path of a line through its links, from the first to the last.
 * @type {(links: Link[], place: Place) => string}
 */
export const pathOf = (links, place) =>
  links.map((link) => {
    const [x, y, bentX, bend, bottom] = place(link);
    const middle = (y + bend) / 2;
    return `M${x} ${y}C${x} ${middle} ${bentX} ${middle} ${bentX} ${bend}V${bottom}`;
  }).join("");

/**
 * Points along the same line, closely enough to run along it.
 * @type {(links: Link[], place: Place) => number[][]}
 */
export const pointsOf = (links, place) =>
  links.flatMap((link) => {
    const [x, y, bentX, bend, bottom] = place(link);
    const bow = Array.from({ length: 9 }, (_, k) => {
      const t = k / 8;
      return [x + (bentX - x) * t * t * (3 - 2 * t), y + (bend - y) * t * (1.5 - 1.5 * t + t * t)];
    });
    return [...bow, [bentX, bottom]];
  });

const ASIDE = 36; // pixels between a bead and the head of its arrow, where a line is nearly level
/**
 * Ends a way before its end.
 * @param {number[][]} points
 * @param {number} rest how far below or above
 */
export function stopShort(points, rest) {
  const [x, end] = points.at(-1);
  const away = (/** @type {number[]} */ point) => Math.abs(point[1] - end);
  let next = points.at(-1);
  while (points.length > 1 && away(points.at(-1)) < rest) next = points.pop();
  const [last, far] = [points.at(-1), away(points.at(-1))];
  const portion = Math.max(0, far - rest) / (far - away(next) || 1);
  const [across, down] = [0, 1].map((axis) => last[axis] + (next[axis] - last[axis]) * portion);
  const isFar = Math.abs(across - x) > ASIDE;
  points.push(isFar ? [x + Math.sign(across - x) * ASIDE, end + Math.sign(down - end) * rest] : [across, down]);
}

/**
 * A quantity on its way along a line, its first row around (0, 0): few numbers as the boxes write them, and of many
 * their shape.
 * @param {NDArray} array
 */
export function drawBead(array) {
  const [text, isArray] = [brief(array.text), hasCells(array)];
  const [few, most] = isArray ? [flat(array).length <= MOST_IN_BEAD, LONGEST_BEAD_OF_ARRAY] : [false, LONGEST_BEAD];
  const rows = few && array.shape.length > 1 ? rowsOf(array.text) : [];
  const short = isArray ? STRINGS.panel.shape(array.shape) : `${text.slice(0, most - 1)}…`;
  const lines = rows.length === 2 ? rows : [few || text.length <= most ? text : short];
  const isSmall = lines.length > 1 || lines[0].length > LONGEST_BEAD_OF_ARRAY;
  const width = (isSmall ? 6.1 : 7.3) * lines[0].length + 10; // rows are equally long
  const [top, height] = [-BEAD_HEIGHT / 2, lines.length > 1 ? 2 * BEAD_ROW + 2 : BEAD_HEIGHT];
  const y = lines.length > 1 ? 1 : 4;
  return draw("g", { class: "bead", "data-small": isSmall || null }, draw("title", {}, array.text),
    draw("rect", { x: -width / 2, y: top, width, height, rx: -top }),
    ...lines.map((line, k) => draw("text", { y: y + k * BEAD_ROW, "text-anchor": "middle" }, line)));
}

const BLADES = 11; // the radius of the disc of scissors
/**
 * Where the scissors of a link with these points are: on the operation that stops it, where no other line crosses.
 * @param {number[]} points
 */
export const scissorsPlace = ([, , x, , bottom]) => ({
  x: x - BLADES, y: bottom - 2 * BLADES, width: 2 * BLADES, height: 2 * BLADES,
});
/**
 * Scissors at the lower end of a link with these points: nothing flows back through here.
 * @type {(points: number[]) => SVGGElement}
 */
export const drawScissors = (points) => {
  const { x, y } = scissorsPlace(points);
  const at = `translate(${x + BLADES} ${y + BLADES})`;
  const blades = "M-4.5 -3.5L8 4M-4.5 3.5L8 -4M-4.4 -4.2a2.4 2.4 0 1 0 -.1 .1M-4.4 4.2a2.4 2.4 0 1 1 -.1 -.1";
  return draw("g", { class: "scissors", transform: at }, draw("circle", { r: BLADES }), draw("path", { d: blades }));
};
