/** The Jacobian of a batch: a patch for each pair of samples; those of a column slide together into one. */

import { colour, legendOf, largestOf } from "./array.js";
import { UNKNOWN, make, set, write } from "./dom.js";
import { EXTRA_STRINGS } from "./extra-strings.js";

const WIDEST = 8; // columns whose numbers can be read; with more there are colours alone
const LONGEST = 5; // letters

/** @param {{ patches: Patches }} trace */
export function patchesView(trace) {
  const { target, source, full, folded, made, folds, begun, done } = trace.patches;
  const [words, limit, samples] = [EXTRA_STRINGS.patches, largestOf(full, folded), full.shape[0]];
  const texts = [full, folded].flatMap(({ data }) => data.flat(Infinity)).map(String);
  const large = samples * full.shape[3] > WIDEST || texts.some((text) => text.length > LONGEST);
  const scale = large ? limit : 3 * limit; // pale enough for the numbers to stand out
  /** @type {<T>(some: (index: number) => T) => T[]} */
  const each = (some) => Array.from({ length: samples }, (_, index) => some(index));

  /**
   * A patch of a row of numbers for each output; filled, or with a dash in each place.
   * @param {number[][]} rows
   */
  const patchOf = (rows) => {
    const cells = rows.map((row) => row.map(() => make("td", {})));
    const element = make("table", { class: "numbers patch" }, ...cells.map((row) => make("tr", {}, ...row)));
    /** @type {boolean | null} */
    let before = null;
    const fill = (/** @type {boolean} */ filled) => {
      if (filled === before) return;
      before = filled;
      cells.forEach((row, i) => row.forEach((cell, j) => {
        const text = filled ? String(rows[i][j]).replace(/^-/, "−") : UNKNOWN;
        write(cell, large && filled ? "" : text);
        set(cell, "title", text);
        set(cell, "style", filled ? colour(Number(rows[i][j]), scale) : null);
      }));
    };
    return { element, fill };
  };
  /** @type {(i: number, j: number) => number[][]} */
  const inner = (i, j) => full.data[i].map((output) => output[j]);
  const grid = each((i) => each((j) => {
    const zero = inner(i, j).flat().every((item) => item === 0);
    return { ...patchOf(inner(i, j)), zero, down: samples - i };
  }));
  const slots = each((j) => patchOf(folded.data[j]));
  /** @type {(name: string, kind: string) => HTMLElement} */
  const head = (name, kind) => make("span", { class: kind }, name);
  const across = [head("", "corner"), ...each((j) => head(words.sample(source, j), "across"))];
  const down = (/** @type {number} */ i) => head(words.sample(target, i), "down");
  const rows = grid.flatMap((row, i) => [down(i), ...row.map(({ element }) => element)]);
  const last = [head(words.folded, "down"), ...slots.map(({ element }) => element)];
  for (const { element } of slots) set(element, "data-slot", true);
  const board = make("div", { class: "board", style: `--samples: ${samples}` }, ...across, ...rows, ...last);
  if (large) set(board, "data-large", true);
  const caption = make("p", { class: "label" });

  const show = (/** @type {number} */ step) => {
    const [direct, known] = [step >= begun, step >= made];
    const count = folds.filter((fold) => fold <= step).length;
    write(caption, direct ? words.direct : count ? words.folds : known ? words.made : words.none);
    grid.forEach((row) => row.forEach(({ element, fill, zero, down: rowsDown }, j) => {
      fill(known);
      set(element, "data-zero", (known && zero) || null);
      const moved = known && !zero && j < count;
      set(element, "data-moved", moved || null);
      set(element, "style", moved ? `--down: ${rowsDown}` : null);
      set(element, "data-now", (known && !direct && folds[j] === step) || null);
    }));
    set(board, "data-direct", direct || null);
    slots.forEach(({ element, fill }, j) => {
      fill(direct ? step >= done : j < count);
      set(element, "data-now", (direct ? step >= done : folds[j] === step) || null);
    });
  };
  const heading = make("figcaption", {}, words.heading(target, source));
  const box = make("div", { class: "scroll patches" }, board);
  const legend = make("div", { class: "legend" }, ...(large ? legendOf(full, limit) : []));
  return { element: make("figure", { class: "sweep array" }, heading, caption, box, legend), show };
}
