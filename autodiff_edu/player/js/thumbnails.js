/** Thumbnails: heatmaps in the boxes of the graph. layout/thumbnails.py measures them, and print/ draws the same. */

import { flat, isOff, magnitude, shade } from "./array.js";
import { brief } from "./brief.js";
import { build, draw } from "./dom.js";
import * as SHARED from "../../text/shared.json";

const SIZE = SHARED.thumbnail;

/** @param {NDArray | null | undefined} array */
export const hasCells = (array) => array?.data != null && array.shape.length > 0 && !array.shape.includes(0);

/**
 * The numbers that a thumbnail shows: so many rows and columns at most, evenly taken; of a vector, one row.
 * @param {NDArray} array
 */
export function cellsOf(array) {
  /** @type {number[]} */
  const lengths = [];
  for (let part = array.data; Array.isArray(part); part = part[0]) lengths.push(part.length);
  const numbers = flat(array);
  const columns = lengths.at(-1);
  const rows = numbers.length / columns;
  const [across, down] = [Math.min(columns, lengths.length > 1 ? SIZE.across : SIZE.vector), Math.min(rows, SIZE.down)];
  /**
   * @param {number} i
   * @param {number} j
   */
  const place = (i, j) => Math.floor((i * rows) / down) * columns + Math.floor((j * columns) / across);
  return Array.from({ length: down }, (_, i) => Array.from({ length: across }, (__, j) => numbers[place(i, j)]));
}

/**
 * The numbers of a small array in a few rows below each other (a vector in one), as rows_of of layout/thumbnails.py
 * writes them.
 * @param {string} text
 */
export function rowsOf(text) {
  const rows = brief(text).split(/[[\]]+/).map((row) => row.trim()).filter(Boolean).map((row) => row.split(" "));
  const chunks = (/** @type {any[]} */ items, /** @type {number} */ size) =>
    items.flatMap((_, at) => (at % size ? [] : [items.slice(at, at + size)]));
  const wide = rows[0].map((_, j) => Math.max(...rows.map((row) => row[j]?.length ?? 0)));
  const lines = rows.map((row) => row.map((item, j) => item.padStart(wide[j])).join(" "));
  const matrices = text.split("]] [[").length; // each has a line of its own
  const side = matrices > 1 ? lines.length / matrices : Math.ceil(lines.length / 4);
  return chunks(lines, side).map((some) => some.join("   "));
}

const LETTER = 16; // pixels that a letter is high beside a thumbnail
/**
 * The thumbnail of an array as a picture of its own, which grows with the letters around it.
 * @param {NDArray} array
 * @param {number} limit
 */
export function pictureOf(array, limit) {
  const thumbnail = drawThumbnail(array, limit, 0, 0);
  const [width, height] = ["width", "height"].map((side) =>
    Number(/** @type {Element} */ (thumbnail.lastChild).getAttribute(side)));
  const style = `width: ${width / LETTER}em; height: ${height / LETTER}em`;
  return build(draw("svg", { viewBox: `-1 -1 ${width + 2} ${height + 2}`, style, "aria-hidden": true }), {}, thumbnail);
}

/**
 * The thumbnail of an array at (x, y), as a group.
 * @param {NDArray} array
 * @param {number} limit
 * @param {number} x
 * @param {number} y
 */
export function drawThumbnail(array, limit, x, y) {
  const cells = cellsOf(array);
  const wide = Math.min(SIZE.cell, SIZE.width / cells[0].length);
  const tall = Math.min(SIZE.cell, SIZE.height / cells.length);
  /** @type {[Map<string, string>, string[]]} */
  const [shades, odd] = [new Map(), []];
  cells.forEach((row, i) => row.forEach((item, j) => {
    const [value, left, top] = [magnitude(item), x + j * wide, y + i * tall];
    if (isOff(value, limit)) odd.push(`M${left} ${top}l${wide} ${tall}m0 ${-tall}l${-wide} ${tall}`);
    const fill = shade(Number.isNaN(value) ? 0 : value, limit || 1);
    shades.set(fill, `${shades.get(fill) ?? ""}M${left} ${top}h${wide}v${tall}h${-wide}z`);
  }));
  const areas = [...shades].map(([fill, d]) => draw("path", { d, style: `fill: ${fill}` }));
  const crosses = odd.length ? [draw("path", { class: "odd", d: odd.join("") })] : [];
  const size = { width: cells[0].length * wide, height: cells.length * tall };
  return draw("g", { class: "thumbnail" }, ...areas, ...crosses, draw("rect", { class: "edge", x, y, ...size }));
}
