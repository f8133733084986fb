/** Arrays as they are: small ones as tables of numbers, larger ones as heatmaps around zero. */

import { brief, isFine, withDigits } from "./brief.js";
import { UNKNOWN, make, set, writeWhole } from "./dom.js";
import { STRINGS } from "./strings.js";
import * as SHARED from "../../text/shared.json";

export const LARGEST_TABLE = 16; // elements; above, colours are read faster than numbers
const { levels: LEVELS, far: FAR } = SHARED.thumbnail;
const MOST_SLICES = 8;
const TALLEST_TABLE = 8; // rows: what is added up leaves room to the formula above
const LONGEST_LINE = 6; // columns of a table side by side
const VECTOR_ROOM = 34; // letters of a vector, which is one row whatever its length; above, it is a row of colours
const NARROW = 23; // letters that a table has room for beside another, if they are small
const SHORT_LINE = 9; // letters that a vector of few numbers has room for in a column of a table on stage
const HALF = 23; // letters and columns of a row in half of a narrow panel
const SIDE_BY_SIDE = 13; // letters of a row, where three tables stand side by side in a narrow panel
const LARGEST_WRITTEN = 12; // numbers of a result that is written out, as LARGEST_WRITTEN of text/formatting.py says
const LOWEST_TABLE = 2; // rows where more would leave too little room to others

/**
 * A number as a point on the colour scale: its magnitude if it is complex; infinite and NaN as they are.
 * @param {Data} item
 */
export function magnitude(item) {
  if (typeof item !== "string") return Number(item);
  const parts = item.match(/^([+-]?(?:[\d.]+(?:e[+-]?\d+)?|inf|nan))([+-](?:[\d.]+(?:e[+-]?\d+)?|inf|nan))j$/);
  const real = (/** @type {string} */ text) => Number(text.replace("inf", "Infinity")); // and NaN of "nan"
  return parts ? Math.hypot(real(parts[1]), real(parts[2])) : real(item);
}

/** @param {Data} item */
const spell = (item) => (typeof item === "boolean" ? (item ? "True" : "False") : String(item));
/** @type {(array: NDArray | null) => boolean} */
export const isWritten = (array) => Boolean(array?.data != null && array.shape.length && flat(array).length &&
  flat(array).length <= LARGEST_WRITTEN);

/** @param {Data} item */
export const formatItem = (item) => spell(item).replace(/^-/, "−");
/**
 * A number in few digits, for a narrow cell; small whole numbers and what is not a number stay as they are.
 * @param {Data} item
 * @param {number} digits
 */
export function formatBriefly(item, digits) {
  if (typeof item !== "number" || (Number.isInteger(item) && Math.abs(item) < 1e5)) return formatItem(item);
  const few = Number(item.toPrecision(digits));
  const rounded = Number.isInteger(few) && Math.abs(few) < 10 ** (digits - 1); // it isn't whole: −0.998 is −1.0
  const [plain, short] = [rounded ? few.toFixed(1) : String(few), few.toExponential().replace("e+", "e")];
  return formatItem(isTiny(few) || (Math.abs(few) >= 1e5 && short.length < plain.length) ? short : plain);
}
/**
 * Of zeros only: JavaScript writes up to six of them where Python has an exponent.
 * @param {number} number
 */
export const isTiny = (number) => number !== 0 && Math.abs(number) < 1e-4;
/** @type {(array: { data: Data }) => (number | boolean | string | null)[]} */
export const flat = ({ data }) => [/** @type {any} */ (data)].flat(Infinity);

/**
 * The finite magnitudes in some arrays.
 * @param {({ data: Data } | null | undefined)[]} arrays
 */
const sizesIn = (arrays) =>
  arrays.filter((array) => array?.data != null).flatMap(flat).map(magnitude).filter(Number.isFinite).map(Math.abs);
/** @type {(sizes: number[], start?: number) => number} */
const largestSize = (sizes, start = 0) => sizes.reduce((one, other) => Math.max(one, other), start);

/**
 * The largest finite magnitude in some arrays.
 * @param {({ data: Data } | null | undefined)[]} arrays
 */
export const largestOf = (...arrays) => largestSize(sizesIn(arrays));

/**
 * Where the scale that some arrays share ends: at the largest finite magnitude in them. A mask adds one and the same
 * number to scores. If that is a million or more, and the rest is less than a millionth of it, it is off the scale.
 * @param {({ data: Data } | null | undefined)[]} arrays
 */
export function limitOf(...arrays) {
  const sizes = sizesIn(arrays);
  const [far, rest] = [sizes.filter((size) => size >= FAR), largestSize(sizes.filter((size) => size < FAR))];
  const nearest = far.reduce((one, other) => Math.min(one, other), Infinity);
  return largestSize(far) < 2 * nearest && rest > 0 && rest * FAR < nearest ? rest : largestSize(far, rest);
}

/** @typedef {{ label: string, rows: Data[][], names: (i: number, j: number) => number[] }} Piece */

/**
 * Cuts an array into pieces of rows of numbers: {label, rows, names}, where names(i, j) is an element's index.
 * A vector is one row. Of three axes and more come slices side by side or, if these are many, rows with their leading
 * axes in one.
 * @param {NDArray<any>} array
 * @returns {Piece[]}
 */
export function piecesOf({ data, shape, every }) {
  /** @param {number} axis */
  const stride = (axis) => every?.[axis] ?? 1;
  if (shape.length <= 1) {
    return [{ label: "", rows: [shape.length ? data : [data]], names: (_, j) => [j * stride(0)] }];
  }
  const leading = shape.length - 2;
  const slices = matrices(data, leading, stride, []);
  /** @type {(index: number[]) => Piece["names"]} */
  const at = (index) => (i, j) => [...index, i * stride(leading), j * stride(leading + 1)];
  if (slices.length <= MOST_SLICES) {
    const label = (/** @type {number[]} */ index) => (index.length ? `[${[...index, ":", ":"].join(", ")}]` : "");
    return slices.map(({ index, rows }) => ({ label: label(index), rows, names: at(index) }));
  }
  /** @type {(index: number[]) => (row: Data[], i: number) => { row: Data[], index: number[] }} */
  const indexed = (index) => (row, i) => ({ row, index: [...index, i * stride(leading)] });
  const all = slices.flatMap(({ index, rows }) => rows.map(indexed(index)));
  /** @type {Piece["names"]} */
  const names = (i, j) => [...all[i].index, j * stride(leading + 1)];
  return [{ label: STRINGS.array.flattened(all.length), rows: all.map(({ row }) => row), names }];
}

/**
 * @type {(
 *   data: any[], depth: number, stride: (axis: number) => number, index: number[],
 * ) => { index: number[], rows: Data[][] }[]}
 */
const matrices = (data, depth, stride, index) =>
  depth === 0
    ? [{ index, rows: data }]
    : data.flatMap((part, i) => matrices(part, depth - 1, stride, [...index, i * stride(index.length)]));

/** @type {(rows: Data[][], digits: number) => string[][]} */
const textsOf = (rows, digits) => rows.map((row) => row.map((item) => formatBriefly(item, digits)));

/**
 * How many letters the longest numbers of all columns have.
 * @type {(rows: Data[][], digits: number) => number}
 */
function lettersOf(rows, digits) {
  const texts = textsOf(rows, digits);
  const widths = texts[0].map((_, j) => Math.max(...texts.map((row) => row[j]?.length ?? 0)));
  return widths.reduce((sum, width) => sum + width, 0);
}

/** @type {(piece: Piece, headed: boolean, digits: number) => HTMLElement} */
function tableOf({ label, rows, names }, headed, digits) {
  const last = (/** @type {number} */ i, /** @type {number} */ j) => names(i, j).at(-1);
  const columns = rows[0].map((_, j) => make("th", {}, String(last(0, j))));
  const head = headed ? [make("tr", {}, make("td", {}), ...columns)] : [];
  const texts = textsOf(rows, digits);
  const body = rows.map((row, i) => {
    const heading = headed ? [make("th", {}, names(i, 0).slice(0, -1).join(", "))] : [];
    const cells = row.map((item, j) =>
      make("td", { title: texts[i][j] === formatItem(item) ? null : formatItem(item) }, texts[i][j]));
    return make("tr", {}, ...heading, ...cells);
  });
  const caption = label ? [make("caption", {}, label)] : [];
  return make("table", { class: headed ? "numbers headed" : "numbers" }, ...caption, ...head, ...body);
}

/**
 * A portion of the way from the middle of the colours to one of the ends, which stand in css/array.css.
 * @param {number} value
 * @param {number} portion
 */
export const mixColour = (value, portion) =>
  `color-mix(in oklab, var(--${value < 0 ? "low" : "high"}) ${Math.round(100 * portion)}%, var(--middle))`;

/**
 * The colour of a number, the same in graph and panel, in a few shades, so that cells of one shade can be one path. It
 * is rounded up: no number looks like zero but zero.
 * @type {(value: number, limit: number) => string}
 */
export const shade = (value, limit) =>
  mixColour(value, limit ? Math.ceil((LEVELS * Math.min(limit, Math.abs(value))) / limit) / LEVELS : 0);

/** @type {(value: number, limit: number) => string | null} */
export const colour = (value, limit) => (isOff(value, limit) ? null : `background: ${shade(value, limit)}`);

/**
 * Whether a number is off a scale: infinite, NaN, or far beyond its end.
 * @type {(value: number, limit: number) => boolean}
 */
export const isOff = (value, limit) => !Number.isFinite(value) || (limit > 0 && Math.abs(value) > 2 * limit);
/** @type {(value: number, limit: number) => string | null} */
const oddity = (value, limit) => {
  if (!isOff(value, limit)) return null;
  return Number.isNaN(value) ? "nan" : `${value > 0 ? "" : "-"}${Number.isFinite(value) ? "off" : "inf"}`;
};

/** @type {(piece: Piece, limit: number, name: string) => HTMLElement} */
function heatmapOf({ label, rows, names }, limit, name) {
  const cells = rows.flatMap((row, i) =>
    row.map((item, j) => {
      const value = magnitude(item);
      const title = `[${names(i, j).join(", ")}] ${formatItem(item)}`;
      const look = { "data-odd": oddity(value, limit), style: colour(value, limit) };
      return make("i", { title, "data-value": String(item), ...look });
    }),
  );
  const width = rows[0].length;
  const style = `--columns: ${width}; --rows: ${rows.length}`;
  const grid = make("div", { class: "heat", role: "img", "aria-label": name, style }, ...cells);
  return make("div", { class: "piece" }, grid, ...(label ? [make("span", { class: "label" }, label)] : []));
}

/** @type {(array: NDArray<any>, limit: number) => HTMLElement[]} */
export function legendOf(array, limit) {
  const end = formatBriefly(limit, 3);
  const complex = array.dtype.startsWith("complex");
  const upwards = complex || array.dtype === "bool"; // never below zero
  const ends = upwards ? ["0", "", end] : [`−${end}`, "0", end];
  const odd = flat(array).map((item) => oddity(magnitude(item), limit)).filter(Boolean);
  /** @type {Record<string, string>} */
  const texts = { off: `> ${end}`, "-off": `< −${end}`, "-inf": "−inf" };
  /** @type {(kind: string) => HTMLElement} */
  const told = (kind) => make("span", { class: "odd" }, make("i", { "data-odd": kind }), texts[kind] ?? kind);
  const [words, kinds] = [STRINGS.array, [...new Set(odd)].sort()];
  const notes = [
    ...(complex ? [words.magnitude] : []),
    ...(array.every ?? []).map((n, axis) => words.every(n, axis, array.shape.length)).filter(Boolean),
  ];
  return [
    make("span", { class: upwards ? "ramp up" : "ramp" }, ...ends.map((text) => make("b", {}, text))),
    ...kinds.map(told),
    ...notes.map((note) => make("span", { class: "note" }, note)),
  ];
}

/**
 * A place where arrays are shown, one at a time: {element, show(array, limit)}; arrays to be compared share a `limit`.
 * On stage numbers have three digits, and where so many letters have no `room` side by side there are colours.
 * It stays from step to step, so that a reader who opened its table, or went there with Tab, finds it again.
 */
export function arrayPlace(attributes = {}) {
  const text = make("span", { class: "value", ...attributes });
  const picture = make("div", { class: "scroll picture" });
  const summary = make("summary", {}, STRINGS.array.asTable);
  const tables = make("div", { class: "scroll tables" });
  const details = make("details", { hidden: "" }, summary, tables);
  const legend = make("div", { class: "legend" });
  const element = make("div", { class: "array" }, text, picture, make("div", { class: "foot" }, legend, details));
  /** @type {[NDArray | undefined, any[], boolean]} */
  let [current, last, filled] = [undefined, [], false];
  const fill = () => {
    if (filled || !details.open || details.hidden) return;
    filled = true;
    tables.replaceChildren(...piecesOf(current).map((piece) => tableOf(piece, true, 6)));
  };
  details.addEventListener("toggle", fill);
  /**
   * @param {NDArray | null | undefined} array
   * @param {number} [limit]
   * @param {number} [room]
   * @param {number} [digits] of a number; else as its text has, or three on stage
   * @param {boolean} [low] whether a table has few rows
   */
  const show = (array, limit = array && limitOf(array), room = undefined, digits = undefined, low = room > 0) => {
    const now = [array, limit, room, digits, low];
    if (now.every((part, index) => part === last[index])) return;
    [current, last, filled] = [array, now, false];
    const exact = digits && typeof array?.data === "number";
    const said = exact ? withDigits(Number(array.data), digits) : array?.text ?? UNKNOWN;
    writeWhole(text, room && !exact ? brief(said) : said);
    const size = array?.data == null ? 0 : flat(array).length;
    const [rows, columns] = size > 0 && array.shape.length > 1 ? array.shape.slice(-2) : [0, 0];
    const [most, isVector] = [low ? LOWEST_TABLE : TALLEST_TABLE, array?.shape.length === 1];
    const narrow = isVector ? VECTOR_ROOM : NARROW;
    /** @type {(numbers: Data[][], count: number) => boolean} */
    const isTooWide = (numbers, count) => lettersOf(numbers, count) + 0.6 * numbers[0].length > (room ?? VECTOR_ROOM);
    const digitsOf = (/** @type {Data[][]} */ numbers) => isFine(array.text) ? 10
      : (lettersOf(numbers, 3) <= narrow && !(room && isTooWide(numbers, 3)) ? 3 : 2);
    const isWide = (/** @type {Piece} */ { rows: numbers }) => isTooWide(numbers, isVector ? 3 : digitsOf(numbers));
    const isTooLarge = size > LARGEST_TABLE || rows > most || columns > LONGEST_LINE;
    const wideRow = (room || isVector) && size > 0 && piecesOf(array).some(isWide);
    // Few numbers, which go on in the next line; on stage all of them, so that a table has one form for a size.
    const isText = (wideRow || room > 0) && isVector && size > 0 && size <= LONGEST_LINE;
    const large = isTooLarge || (wideRow && !isText);
    const small = !large && !isText && size > 0 && array.shape.length > 0;
    // A small table says what the text says, so the text is for screen readers then, and the table is not.
    set(text, "data-aside", small || null);
    set(picture, "aria-hidden", small || null);
    const pieces = small || large ? piecesOf(array) : [];
    const tableIn = (/** @type {Piece} */ piece) => tableOf(piece, false, digitsOf(piece.rows));
    // As wide as its longest numbers: css/array.css makes the letters as large as there is room for.
    const widest = Math.max(...pieces.map(({ rows: numbers }) => lettersOf(numbers, digitsOf(numbers))));
    set(picture, "style", small ? `--letters: ${widest}; --columns: ${pieces[0].rows[0].length}` : null);
    const isLine = isText && text.textContent.length > SHORT_LINE;
    const wide = isLine || (small && (widest > SIDE_BY_SIDE || (isVector && size > LONGEST_LINE)));
    set(element, "data-wide", wide || null);
    const isLong = isLine || (isVector && (large || widest + size > HALF));
    set(element, "data-long", isLong || null); // a vector is not cut where it has the whole width
    const parts = pieces.map((piece) => (small ? tableIn(piece) : heatmapOf(piece, limit, array.text)));
    picture.replaceChildren(...parts);
    legend.replaceChildren(...(large ? legendOf(array, limit) : []));
    const lost = !large && /** @type {ShadowRoot} */ (summary.getRootNode()).activeElement === summary;
    set(details, "hidden", large ? null : "");
    /** @type {HTMLElement} */
    const around = summary.closest("[tabindex]");
    if (lost) around?.focus({ preventScroll: true }); // else the next key goes to the page
    fill();
  };
  return { element, show };
}
