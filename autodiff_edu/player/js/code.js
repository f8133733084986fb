/** The user's code, with the current line lit. */

import { make, reveal, set, write } from "./dom.js";

export function codeView(trace, history) {
  const excerpts = trace.code.map(({ first_line: first, lines }) => {
    const number = (index) => make("span", { class: "number" }, first + index);
    const row = (line, index) => make("div", { "data-line": first + index }, number(index), make("code", {}, line));
    return make("div", { class: "lines" }, ...lines.map(row));
  });
  const [caption, box] = [make("figcaption"), make("div", { class: "scroll code" }, ...excerpts)];
  // A step without a place of its own leaves the code that was last in view, so that nothing jumps.
  let seen = history.where.find((where) => where)?.code ?? 0;
  const inView = history.where.map((where) => (seen = where?.code ?? seen));
  let unlight = () => {};
  const show = (step) => {
    unlight();
    excerpts.forEach((excerpt, index) => (excerpt.hidden = index !== inView[step]));
    write(caption, trace.code[inView[step]]?.place ?? "Code");
    const where = history.where[step];
    const row = excerpts[where?.code]?.children[where.line - trace.code[where.code].first_line];
    if (!row) return;
    const [text, line] = [row.lastChild, row.lastChild.textContent];
    const characters = Array.from(line); // Python counts characters, JavaScript halves of some of them
    const part = (from, to) => characters.slice(from, to).join("");
    const [from, to] = where.columns ?? [];
    if (where.columns) text.replaceChildren(part(0, from), make("mark", {}, part(from, to)), part(to));
    set(row, "data-lit", true);
    unlight = () => { set(row, "data-lit", null); text.replaceChildren(line); };
    reveal(box, text.querySelector("mark") ?? row);
  };
  return { element: make("figure", { class: "code-figure" }, caption, box), show };
}
