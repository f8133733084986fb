/** The user's code and, below it, the same computation as a NumPy program; the current line of each is lit. */

import { build, make, reveal, set, write } from "./dom.js";
import { STRINGS } from "./strings.js";

const NARROW_SCREEN = "(max-width: 640px)";

export function codeView(trace, history, go) {
  const first = (code, line) => history.where.findIndex((where) => where?.code === code && where.line === line);
  const excerpts = trace.code.map(({ first_line: start, lines }, code) => listOf(lines.map((line, index) =>
    lineOf({ "data-line": start + index }, start + index, line, first(code, start + index), go))));
  const caption = make("figcaption");
  const box = make("div", { class: "scroll code" }, ...excerpts.map((each) => each.element));
  // A step without a place of its own leaves the code that was last in view, so that nothing jumps.
  let seen = history.where.find((where) => where)?.code ?? 0;
  const inView = history.where.map((where) => (seen = where?.code ?? seen));
  const program = programView(trace.program ?? { lines: [], steps: [] }, go);
  let unlight = () => {};
  const odd = history.odd.lines.map((birth) => {
    const { code, line } = birth.where;
    return { ...birth, row: excerpts[code].element.children[line - trace.code[code].first_line] };
  });
  const show = (step) => {
    unlight();
    for (const { row, step: from, kind } of odd) {
      const known = from <= step;
      build(row, { "data-odd": known ? kind : null, title: known ? STRINGS.code.odd(kind) : null });
    }
    program.show(step);
    excerpts.forEach(({ element }, index) => (element.hidden = index !== inView[step]));
    write(caption, trace.code[inView[step]]?.place ?? STRINGS.code.heading);
    const where = history.where[step];
    const index = where && where.line - trace.code[where.code].first_line;
    const row = excerpts[where?.code]?.element.children[index];
    if (!row) return;
    const [text, line] = [row.lastChild, row.lastChild.textContent];
    const characters = Array.from(line); // Python counts characters, JavaScript halves of some of them
    const part = (from, to) => characters.slice(from, to).join("");
    const [from, to] = where.columns ?? [];
    if (where.columns) text.replaceChildren(part(0, from), make("mark", {}, part(from, to)), part(to));
    set(row, "data-lit", true);
    excerpts[where.code].enterAt(index);
    unlight = () => { set(row, "data-lit", null); text.replaceChildren(line); };
    reveal(box, text.querySelector("mark") ?? row);
  };
  const figure = make("figure", {}, caption, box);
  return { element: make("div", { class: "code-figure" }, figure, ...program.elements), show };
}

/** The program, under a button that shows and hides it; nothing at all where there is none. */
function programView({ lines, steps }, go) {
  if (!lines.length) return { elements: [], show: () => {} };
  const list = listOf(lines.map((line, index) =>
    lineOf({ "data-program-line": index }, index + 1, line, steps.indexOf(index), go)));
  const box = make("div", { class: "scroll code program" }, list.element);
  const toggle = make("button", { type: "button", class: "toggle", "data-action": "program" }, STRINGS.code.program);
  let lit = null;
  const open = (opened) => {
    set(toggle, "aria-expanded", opened);
    box.hidden = !opened;
    if (lit && opened) reveal(box, lit);
  };
  toggle.addEventListener("click", () => open(box.hidden));
  open(!matchMedia(NARROW_SCREEN).matches);
  const show = (step) => {
    if (lit) set(lit, "data-program-lit", null);
    lit = list.element.children[steps[step]] ?? null;
    if (!lit) return;
    set(lit, "data-program-lit", true);
    list.enterAt(steps[step]);
    if (!box.hidden) reveal(box, lit);
  };
  return { elements: [make("figure", { class: "program-figure" }, make("figcaption", {}, toggle), box)], show };
}

/** A line, which goes to the first of its steps when it is clicked; its number is a button then. */
function lineOf(attributes, number, text, step, go) {
  const code = make("code", text.trimStart().startsWith("#") ? { class: "remark" } : {}, text);
  code.style.setProperty("--indent", Math.min(text.search(/\S|$/), 16)); // of what does not fit into the line
  if (step < 0) return make("div", attributes, make("span", { class: "number" }, number), code);
  const about = { class: "number", type: "button", tabindex: -1, "aria-label": STRINGS.code.line(number) };
  const row = make("div", { ...attributes, "data-steps": "" }, make("button", about, number), code);
  row.addEventListener("click", () => { if (!String(getSelection())) go(step); }); // not when text is selected
  return row;
}

/** Lines with one stop for Tab, at the current line; from there the arrows up and down walk from button to button. */
function listOf(rows) {
  const element = make("div", { class: "lines", "data-long": rows.length > 200 || null }, ...rows);
  const buttons = rows.map((row) => row.querySelector("button"));
  const walk = buttons.filter((button) => button);
  let entrance = walk[0];
  const enterAt = (index) => {
    if (!buttons[index]) return;
    set(entrance, "tabindex", -1);
    entrance = buttons[index];
    set(entrance, "tabindex", 0);
  };
  if (entrance) set(entrance, "tabindex", 0);
  element.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const next = by && walk[walk.indexOf(event.target) + by];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    next?.focus();
  });
  return { element, enterAt };
}
