/** A Jacobian that fills: rows from one-hot seeds, columns from one-hot tangents, then all of them at once. */

import { LARGEST_TABLE, colour, legendOf, largestOf } from "./array.js";
import { UNKNOWN, make, set, write } from "./dom.js";
import { EXTRA_STRINGS } from "./extra-strings.js";

/** @typedef {"rows" | "columns"} Way */
/** @typedef {Sweep["passes"][number]} Pass */

/** @param {{ sweep: Sweep }} trace */
export function sweepView(trace) {
  const { target, source, rows, columns, jacobian, passes } = trace.sweep;
  const [words, limit] = [EXTRA_STRINGS.sweep, largestOf(jacobian)];
  const large = rows.length * columns.length > LARGEST_TABLE;
  const shared = (/** @type {Pass} */ pass) => !pass.stack && (pass.rows ?? pass.columns).length > 1;
  const texts = jacobian.data.map((row) => row.map((item) => String(item).replace(/^-/, "−")));
  const ways = /** @type {Way[]} */ (["rows", "columns"]).filter((way) => passes.some((pass) => pass[way]));
  const matrices = ways.map((way) => matrixOf(way, passes.filter((pass) => pass[way])));

  /**
   * The matrix that is filled one way: by "rows" or by "columns".
   * @param {Way} way
   * @param {Pass[]} own
   */
  function matrixOf(way, own) {
    const body = rows.map((name) => {
      const [cells, head] = [columns.map(() => make("td", {})), make("th", { scope: "row" }, name)];
      return { cells, head, element: make("tr", {}, head, ...cells) };
    });
    const heads = columns.map((name) => make("th", { scope: "col" }, name));
    const head = make("tr", {}, make("td", {}), ...heads);
    const table = make("table", { class: "numbers headed" }, head, ...body.map(({ element }) => element));
    if (large) set(table, "data-large", true);
    const label = make("p", { class: "label" });
    const singles = own.filter((pass) => !pass.stack);
    const named = way === "rows" ? body.map(({ head: cell }) => cell) : heads;
    /**
     * Lines that were filled from one seed have one stripe, which stays.
     * @param {number} step
     */
    const showSeeds = (step) => {
      if (singles.some(shared)) singles.forEach((pass, seed) => pass[way].forEach((line) => {
        const done = pass.last <= step;
        set(named[line], "data-seed", done ? seed + 1 : null);
        set(named[line], "style", done ? `--seed: ${seed}` : null);
        set(named[line], "title", done ? words.seed[way](seed + 1) : null);
      }));
    };
    /** @type {(step: number, now: Pass | undefined) => void} */
    const show = (step, now) => {
      const pass = own.findLast(({ first }) => first <= step);
      const over = own.filter(({ last, stack }) => last <= step && stack === pass.stack);
      const known = (/** @type {number} */ line) => over.some((one) => one[way].includes(line));
      /** @param {number} line */
      const state = (line) => (now?.[way]?.includes(line) ? (step >= now.last ? "done" : "true") : null);
      const byRow = way === "rows";
      heads.forEach((cell, column) => { if (!byRow) set(cell, "data-now", state(column)); });
      body.forEach(({ element, cells }, row) => {
        if (byRow) set(element, "data-now", state(row));
        cells.forEach((cell, column) => {
          const line = byRow ? row : column;
          const filled = known(line);
          if (!byRow) set(cell, "data-now", state(line));
          set(cell, "data-filled", filled || null);
          fill(cell, filled ? texts[row][column] : UNKNOWN, filled ? Number(jacobian.data[row][column]) : null);
        });
      });
      showSeeds(step);
      const done = singles.filter(({ last }) => last <= step).length;
      write(label, pass?.stack && step >= pass.last ? words.once[way] : words.passes[way](done, singles.length));
    };
    return { element: make("div", {}, ...(ways.length > 1 ? [label] : []), table), show };
  }

  /** @type {(cell: Element, text: string, value: number | null) => void} */
  function fill(cell, text, value) {
    write(cell, large && value !== null ? "" : text);
    if (!large) return;
    set(cell, "style", value === null ? null : colour(value, limit));
    set(cell, "title", text);
  }

  /** @type {(lines: string[], hot: number[]) => string} */
  const seedOf = (lines, hot) =>
    lines.length === 1 ? "1" : `[${lines.map((_, at) => Number(hot.includes(at))).join(" ")}]`;
  const seeds = (/** @type {Way} */ way) => passes.filter((pass) => pass[way] && !pass.stack).length;
  const caption = make("p", { class: "label" });
  const say = (/** @type {Pass | undefined} */ pass) => {
    if (!pass) return words.before[passes.some(shared) ? "shared" : ways.length > 1 ? "both" : ways[0]];
    const way = pass.rows ? "rows" : "columns";
    const lines = { rows, columns }[way];
    if (pass.stack) return words.stack[way](lines.length, seeds(way));
    return words.one[way](pass[way].map((line) => lines[line]), seedOf(lines, pass[way]));
  };
  const show = (/** @type {number} */ step) => {
    const now = passes.findLast(({ first }) => first <= step);
    write(caption, say(now));
    for (const matrix of matrices) matrix.show(step, now);
  };
  const heading = make("figcaption", {}, words.heading(target, source));
  const both = make("div", { class: "scroll matrices" }, ...matrices.map(({ element }) => element));
  const legend = make("div", { class: "legend" }, ...(large ? legendOf(jacobian, limit) : []));
  return { element: make("figure", { class: "sweep array" }, heading, caption, both, legend), show };
}
