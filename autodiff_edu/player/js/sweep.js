/** The rows of a Jacobian, filled one by one by one-hot seeds, and then all at once. */

import { LARGEST_TABLE, colour, legendOf, limitOf } from "./array.js";
import { UNKNOWN, make, set, write } from "./dom.js";
import { EXTRAS } from "./extras.js";
import { STRINGS } from "./strings.js";

EXTRAS.sweep = (trace) => {
  const { target, source, rows, columns, jacobian, passes } = trace.sweep;
  const [words, limit, large] = [STRINGS.sweep, limitOf(jacobian), rows.length * columns.length > LARGEST_TABLE];
  const texts = jacobian.data.map((row) => row.map((item) => String(item).replace(/^-/, "−")));
  const caption = make("p", { class: "label" });
  const body = rows.map((name) => {
    const cells = columns.map(() => make("td", {}));
    return { cells, element: make("tr", {}, make("th", { scope: "row" }, name), ...cells) };
  });
  const head = make("tr", {}, make("td", {}), ...columns.map((name) => make("th", { scope: "col" }, name)));
  const table = make("table", { class: "numbers headed" }, head, ...body.map(({ element }) => element));
  if (large) set(table, "data-large", true);

  const seedOf = (row) => (rows.length === 1 ? "1" : `[${rows.map((_, index) => Number(index === row)).join(" ")}]`);
  /** The pass that the step is in, or the one before it; which rows it works on, and which are known. */
  const moment = (step) => {
    const pass = passes.findLast(({ first }) => first <= step);
    const over = pass && step >= pass.last;
    const known = (row) => passes.some((one) => one.last <= step && one.rows.includes(row) && one.stack === pass.stack);
    return { pass, over, known };
  };
  const show = (step) => {
    const { pass, over, known } = moment(step);
    const [first] = pass?.rows ?? [];
    const one = () => words.row(first + 1, rows.length, seedOf(first));
    write(caption, !pass ? words.before : pass.stack ? words.stack(rows.length) : one());
    body.forEach(({ element, cells }, row) => {
      const filled = known(row);
      set(element, "data-filled", filled || null);
      set(element, "data-now", pass?.rows.includes(row) ? (over ? "done" : "true") : null);
      cells.forEach((cell, column) => {
        const text = filled ? texts[row][column] : UNKNOWN;
        if (!large) return write(cell, text);
        paint(cell, text, filled ? colour(Number(jacobian.data[row][column]), limit) : null);
      });
    });
  };
  const paint = (cell, text, style) => {
    write(cell, text === UNKNOWN ? UNKNOWN : "");
    set(cell, "style", style);
    set(cell, "title", text);
  };
  const heading = make("figcaption", {}, words.heading(target, source));
  const box = make("div", { class: "scroll" }, table);
  const legend = make("div", { class: "legend" }, ...(large ? legendOf(jacobian, limit) : []));
  return { element: make("figure", { class: "sweep array" }, heading, caption, box, legend), show };
};
