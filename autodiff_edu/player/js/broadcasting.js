/** Broadcasting seen: an operand's cells are copied along an axis, and what comes back to them slides together. */

import { formatBriefly, formatItem, isOff, limitOf, magnitude, mixColour } from "./array.js";
import { draw, make, reveal } from "./dom.js";
import { STRINGS } from "./strings.js";
import * as SHARED from "../../text/shared.json";

const [GAP, SMALL] = [84, 12]; // pixels: between the two arrays, and a cell without a number
const [WIDE, NARROW, TALL] = [60, 46, 18]; // a cell with one
const MOST_NUMBERED = { wide: 5, columns: 6, rows: 6 }; // of both arrays side by side
const LETTERS = 11; // pixels, at most
const SIGN = 6.6; // pixels, the width of one of them
const FAINT = 0.45; // so much of a colour lets the number on it be read
const MOST_COPIED = 2; // operands of an entry

/**
 * Along which axes of the larger shape the smaller one was copied, and how many copies there are.
 * @param {number[]} small
 * @param {number[]} large
 */
function copiesOf(small, large) {
  const missing = large.length - small.length;
  const axes = large.flatMap((length, axis) => (axis < missing || small[axis - missing] !== length ? [axis] : []));
  return { axes, times: axes.reduce((product, axis) => product * large[axis], 1) };
}

/**
 * An array of two axes at most, as rows.
 * @type {(array: NDArray<any>) => Data[][]}
 */
const rowsOf = ({ data, shape }) => (shape.length === 2 ? data : [shape.length ? data : [data]]);
const sizeOf = (/** @type {number[]} */ shape) => [shape.at(-2) ?? 1, shape.at(-1) ?? 1];

/**
 * @typedef {{ tensor: number, small: NDArray, large?: NDArray, shape: number[], backward?: boolean }} Fold
 */

/**
 * The two arrays, `gap` apart; and the moves of the larger one's cells to those of the smaller that they belong to.
 * @param {Fold & { axes: number[], times: number, name: string }} fold
 */
function picture({ small, large, shape, backward, axes, times, name }) {
  const { down: most, across: broadest } = SHARED.thumbnail;
  const [rows, columns] = sizeOf(shape).map((n, axis) => Math.min(n, [most, broadest][axis]));
  const [high, broad] = sizeOf(small.shape).map((n, axis) => (n === 1 ? 1 : [rows, columns][axis]));
  const numbered = columns + broad <= MOST_NUMBERED.columns && rows <= MOST_NUMBERED.rows;
  const spacious = columns + broad <= MOST_NUMBERED.wide;
  const [width, height] = numbered ? [spacious ? WIDE : NARROW, TALL] : [SMALL, SMALL];
  const limit = limitOf(small, large ?? small) || 1;
  const gap = [(backward ? columns : broad) * width + GAP, ((rows - high) * height) / 2];
  const [ofSmall, ofLarge] = backward ? [gap, [0, 0]] : [[0, gap[1]], [gap[0], 0]];
  /** @type {(array: NDArray, i: number, j: number, down: number, across: number) => Data} */
  const item = (array, i, j, down, across) => {
    const data = rowsOf(array);
    return data[Math.floor((i * data.length) / down)][Math.floor((j * data[0].length) / across)];
  };
  /** @type {(kind: string, value: Data, x: number, y: number) => SVGGElement} */
  const cell = (kind, value, x, y) => {
    const number = magnitude(value);
    const portion = Math.min(1, Math.abs(number) / limit) * (numbered ? FAINT : 1);
    const fill = Number.isNaN(number) ? "var(--middle)" : mixColour(number, portion);
    const across = `M${x} ${y}l${width} ${height}m0 ${-height}l${-width} ${height}`;
    const cross = !numbered && isOff(number, limit) ? [draw("path", { class: "odd", d: across })] : [];
    const text = numbered ? formatBriefly(value, spacious ? 3 : 2) : "";
    const letters = Math.min(LETTERS, (width - 6) / (0.61 * text.length)); // of which 0.6 is the width
    const place = { x: x + width - 4, y: y + 13, "text-anchor": "end", style: `font-size: ${letters}px` };
    const words = numbered ? [draw("text", place, text)] : [];
    const box = draw("rect", { x, y, width, height, style: `fill: ${fill}` });
    return draw("g", { class: kind }, draw("title", {}, formatItem(value)), box, ...cross, ...words);
  };
  const cells = [];
  for (let i = 0; i < high; i++) {
    for (let j = 0; j < broad; j++) {
      cells.push(cell("one", item(small, i, j, high, broad), ofSmall[0] + j * width, ofSmall[1] + i * height));
    }
  }
  /** @type {[copy: SVGGElement, from: number[], to: number[]][]} */
  const moves = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const [row, column] = [high === 1 ? 0 : i, broad === 1 ? 0 : j];
      const value = large ? item(large, i, j, rows, columns) : item(small, row, column, high, broad);
      const copy = cell("copy", value, ofLarge[0] + j * width, ofLarge[1] + i * height);
      const way = [ofSmall[0] - ofLarge[0] + (column - j) * width, ofSmall[1] - ofLarge[1] + (row - i) * height];
      moves.push(backward ? [copy, [0, 0], way] : [copy, way, [0, 0]]);
    }
  }
  const words = STRINGS.broadcasting;
  const [middle, line] = [gap[0] - GAP / 2, Math.max(rows * height, 34) / 2];
  const between = { class: "along", x: middle, "text-anchor": "middle" };
  const said = backward ? words.sum(axes) : words.copies(times);
  const signs = `${said} →`.length * SIGN < GAP
    ? [draw("text", { ...between, y: line + 5 }, `${said} →`)]
    : [draw("text", { ...between, y: line - 4 }, said), draw("text", { ...between, y: line + 14 }, "→")];
  const size = { width: gap[0] + (backward ? broad : columns) * width + 2, height: Math.max(rows * height, 34) + 2 };
  const view = `-1 -1 ${size.width} ${size.height}`;
  const both = [...signs, ...cells, ...moves.map(([copy]) => copy)];
  const about = { role: "img", "aria-label": name, viewBox: view, style: `--width: ${size.width}`, ...size };
  return { element: draw("svg", about, ...both), cells, moves };
}

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {import("./flow.js").Flow} flow
 */
export function broadcastingView(trace, history, flow) {
  const element = make("div", { class: "unfold" });
  const words = STRINGS.broadcasting;
  /**
   * The arrays that were copied at a step, or whose copies come back.
   * @type {(number: number) => Fold[]}
   */
  const foldsAt = (number) => {
    const { kind, entry: index, unfolded, contribution, tensor } = trace.steps[number];
    if (unfolded) return [{ tensor, small: contribution, large: unfolded, shape: unfolded.shape, backward: true }];
    const entry = trace.entries[index];
    if (!entry?.broadcast || kind === "accumulate" || kind === "pull back") return [];
    const { shape } = trace.tensors[entry.output].value;
    const operands = entry.broadcast.slice(0, MOST_COPIED).map((argument) =>
      /** @type {number} */ (entry.arguments[argument]));
    return operands.map((operand) => ({ tensor: operand, small: history.known(operand, number), shape }));
  };
  let seen = false;
  const show = (/** @type {number} */ number) => {
    element.replaceChildren(...foldsAt(number).flatMap((fold) => {
      const [{ name, value }, { small, shape, backward }] = [trace.tensors[fold.tensor], fold];
      const stack = small.shape.length - value.shape.length; // leading axes, which are not summed over
      const { axes, times } = copiesOf(value.shape, shape.slice(stack));
      const says = (backward ? words.together : words.apart)(name, axes, times, small.shape, shape);
      const caption = make("p", { class: "label" }, says);
      if (small.data === null || shape.length > 2 || shape.includes(0) || stack) return [caption];
      const drawn = picture({ ...fold, axes, times, name: says });
      flow.slide(drawn.moves);
      if (backward) flow.appear(...drawn.cells);
      return [caption, drawn.element];
    }));
    const box = element.closest(".scroll");
    if (box && element.firstChild) reveal(box, element, 0);
    else if (box && seen) box.scrollTop = 0;
    seen = element.firstChild !== null;
  };
  return { element, show };
}
