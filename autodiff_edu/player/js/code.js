/** The user's code and, below it, the same computation as a NumPy program; the current line of each is lit. */

import { NARROW_SCREEN, make, reveal, set, write } from "./dom.js";
import { latest } from "./history.js";
import { foldArrays } from "./literals.js";
import { digits, rowListView } from "./row-list.js";
import { STRINGS } from "./strings.js";

/** Where what is too long goes on below: after a bracket or "=", and before the dot of a call or of a long name. */
const BREAKS = /(?<=[([{](?=[^)\]}]))|(?<=\w=(?=\w))|(?<=[)\]])(?=\.[A-Za-z_])|(?<=\w)(?=\.[A-Za-z_]\w{11})/g;
const DEEPEST = 4; // calls that are named in the caption

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {(step: number) => void} go
 */
export function codeView(trace, history, go) {
  const box = make("div", { class: "scroll code" });
  /** @type {Map<number | undefined, number>} */
  const computed = new Map(); // the step at which each entry was
  trace.steps.forEach(({ entry, pass }, step) => {
    if (pass === undefined && !computed.has(entry)) computed.set(entry, step);
  });
  const excerpts = trace.code.map(({ first_line: start, lines }, code) => {
    /** @type {Map<number, number>} */
    const first = new Map(); // step of each line
    history.where.forEach((where, step) => {
      if (where?.code === code && !first.has(where.line)) first.set(where.line, step);
    });
    const stepOf = (/** @type {number} */ index) => first.get(start + index) ?? -1;
    /** @type {Listing["isLit"]} */
    const isLit = (index, step) => {
      const where = history.where[step];
      return where?.code === code && where.line === start + index ? where : null;
    };
    /** @type {Listing["isPassed"]} */
    const isPassed = (index, step) =>
      trace.steps[step].passed?.some(([other, line]) => other === code && line === start + index) ?? false;
    const branches = branchesOf(trace.steps, code);
    /**
     * Which way a condition went: in a pass, when what is at hand there was computed, as in that turn of a loop.
     * @param {ReturnType<typeof branchesOf>[number]} ways
     * @param {number} step
     */
    const wayAt = (ways, step) => {
      const { entry, pass } = trace.steps[step];
      const then = (pass === undefined ? undefined : computed.get(entry)) ?? step;
      const [before, line] = [latest(ways, then), history.where[then]?.line];
      if (then === step || line > history.where[ways[0].step].line) return before;
      return ways.find((way) => way.step > then) ?? before; // the turn comes to the condition later
    };
    /** @type {Listing["isLeftOut"]} */
    const isLeftOut = (index, step) => branches.some((ways) => {
      const [from, to] = wayAt(ways, step)?.lines ?? [];
      return from <= start + index && start + index <= to;
    });
    const odd = new Map(history.odd.lines.flatMap((birth) =>
      birth.where.code === code ? [[birth.where.line - start, birth]] : []));
    /** @type {Listing["bornAt"]} */
    const bornAt = (index, step) => (odd.get(index)?.step <= step ? odd.get(index).kind : null);
    const about = (/** @type {number} */ index) => ({ "data-line": start + index });
    return listOf(box, { lines, start, about, stepOf, isLit, isPassed, isLeftOut, bornAt, lit: "data-lit" }, go);
  });
  box.append(...excerpts.map((each) => each.element));
  const [file, outer, inner] = [make("span", { class: "place" }), make("bdi"), make("span", { class: "call" })];
  const stack = make("span", { class: "stack" }, make("span", { class: "outer" }, outer), inner);
  const caption = make("figcaption", {}, file, stack);
  // A step without a place of its own leaves the code that was last in view, so that nothing jumps.
  let seen = history.where.find((where) => where)?.code ?? 0;
  const inView = history.where.map((where) => (seen = where?.code ?? seen));
  const program = programView(trace.program ?? { lines: [], steps: [] }, go);
  const show = (/** @type {number} */ step) => {
    program.show(step);
    excerpts.forEach(({ element }, index) => (element.hidden = index !== inView[step]));
    write(file, trace.code[inView[step]]?.place ?? STRINGS.code.heading);
    const calls = callsAt(trace, step);
    write(outer, STRINGS.code.stack([...calls.slice(-DEEPEST, -1), ""], calls.length > DEEPEST));
    write(inner, calls.at(-1) ?? "");
    set(stack, "title", STRINGS.code.stack(calls) || null);
    const where = history.where[step];
    for (const excerpt of excerpts) excerpt.show(step);
    const index = where && where.line - trace.code[where.code].first_line;
    const row = excerpts[where?.code]?.enterAt(index);
    if (row) reveal(box, row.querySelector("mark") ?? row);
  };
  const figure = make("figure", {}, caption, box);
  return { element: make("div", { class: "code-figure" }, figure, ...program.elements), show };
}

/**
 * For each condition in an excerpt, which lines it has left out, if any, and since which step.
 * @param {Step[]} steps
 * @param {number} code
 */
function branchesOf(steps, code) {
  /** @type {Map<number, { step: number, lines?: [number, number] }[]>} */
  const ways = new Map(); // by the line of the condition
  steps.forEach(({ what, where, left_out: lines }, step) => {
    if (what !== "condition" || where?.code !== code) return;
    if (!ways.has(where.line)) ways.set(where.line, []);
    ways.get(where.line).push({ step, lines });
  });
  return [...ways.values()];
}

/**
 * The calls under way at a step, from the outermost.
 * @param {Pick<Trace, "steps" | "calls">} trace
 * @param {number} step
 */
function callsAt({ steps, calls = [] }, step) {
  /** @type {string[]} */
  const found = [];
  for (let { call } = steps[step]; call !== undefined; call = calls[call].caller) found.unshift(calls[call].text);
  return found;
}

/**
 * The program, under a button that shows and hides it; nothing at all where there is none.
 * @param {Trace["program"]} program
 * @param {(step: number) => void} go
 */
function programView({ lines, steps }, go) {
  if (!lines.length) return { elements: [], show: () => {} };
  const box = make("div", { class: "scroll code program" });
  /** @type {Map<number | null, number>} */
  const first = new Map(); // step of each line
  steps.forEach((line, step) => { if (!first.has(line)) first.set(line, step); });
  const stepOf = (/** @type {number} */ index) => first.get(index) ?? -1;
  const about = (/** @type {number} */ index) => ({ "data-program-line": index });
  /** @type {Listing["isLit"]} */
  const isLit = (index, step) => (steps[step] === index ? {} : null);
  const [folded, lit] = [lines.map(foldArrays), "data-program-lit"];
  const full = (/** @type {number} */ index) => (folded[index] === lines[index] ? null : lines[index]);
  const list = listOf(box, { lines: folded, start: 1, about, stepOf, isLit, full, lit }, go);
  box.append(list.element);
  const toggle = make("button", { type: "button", class: "toggle", "data-action": "program" }, STRINGS.code.program);
  /** @type {number | null} */
  let current = null;
  const bring = () => { if (current !== null && !box.hidden) list.enterAt(current); };
  const open = (/** @type {boolean} */ opened) => {
    set(toggle, "aria-expanded", opened);
    box.hidden = !opened;
    bring();
  };
  toggle.addEventListener("click", () => open(box.hidden));
  open(!matchMedia(NARROW_SCREEN).matches);
  const show = (/** @type {number} */ step) => {
    current = steps[step] ?? null;
    list.show(step);
    bring();
  };
  return { elements: [make("figure", { class: "program-figure" }, make("figcaption", {}, toggle), box)], show };
}

const indentOf = (/** @type {string} */ text) => Math.min(text.search(/\S|$/), 16);

/**
 * A line, which goes to the first of its steps when it is clicked; its number is a button then.
 * @param {Record<string, number>} attributes
 * @param {number} number
 * @param {string} text
 * @param {number} step
 * @param {(step: number) => void} go
 */
function lineOf(attributes, number, text, step, go) {
  const code = make("code", text.trimStart().startsWith("#") ? { class: "remark" } : {}, ...markColumns(text));
  // Of what does not fit into the line; it becomes a text by itself.
  code.style.setProperty("--indent", /** @type {any} */ (indentOf(text)));
  if (step < 0) return make("div", attributes, make("span", { class: "number" }, number), code);
  const about = { class: "number", type: "button", tabindex: -1, "aria-label": STRINGS.code.line(number) };
  const row = make("div", { ...attributes, "data-steps": "" }, make("button", about, number), code);
  row.addEventListener("click", () => { if (!String(getSelection())) go(step); }); // not when text is selected
  return row;
}

/**
 * @typedef {{
 *   lines: string[], start: number, lit: string, about: (index: number) => Record<string, number>,
 *   stepOf: (index: number) => number, isLit: (index: number, step: number) => { columns?: Where["columns"] } | null,
 *   isPassed?: (index: number, step: number) => boolean, isLeftOut?: (index: number, step: number) => boolean,
 *   bornAt?: (index: number, step: number) => OddKind | null, full?: (index: number) => string | null,
 * }} Listing
 */

/**
 * Lines with one stop for Tab, at the current line; from there the arrows up and down walk from button to button.
 * For a line, `stepOf` is the step that it goes to (-1 for none), `isLit` says whether a step lights it, and which
 * columns, `isPassed` whether it ran just before the step without one of its own, `isLeftOut` whether a condition went
 * the other way, `bornAt` which NaN or infinity began; `full` is the whole of a line that is shown folded.
 * @param {HTMLElement} box
 * @param {Listing} listing
 * @param {(step: number) => void} go
 */
function listOf(box, listing, go) {
  const { lines, start, about, stepOf, isLit, bornAt = () => null, full, lit } = listing;
  const { isPassed = () => false, isLeftOut = () => false } = listing;
  const common = Math.min(...lines.filter((line) => line.trim()).map(indentOf), 16);
  // Of what has a step; on stage half an indent is enough.
  const widths = lines.map((line, index) =>
    (stepOf(index) < 0 ? 0 : line.trimStart().length + (indentOf(line) - common) / 2));
  const style = `${digits(start + lines.length - 1)}; --common: ${common}; --longest-line: ${Math.max(...widths)}`;
  set(box, "style", style);
  const element = make("div", { class: "lines" });
  const walk = [...lines.keys()].filter((index) => stepOf(index) >= 0);
  let entrance = walk[0];
  const rows = rowListView(box, element, lines.length, (index) => {
    const row = lineOf(about(index), start + index, lines[index], stepOf(index), go);
    if (index === entrance) set(/** @type {Element} */ (row.firstChild), "tabindex", 0);
    /** @type {ReturnType<Listing["isLit"]>} */
    let before = null;
    const update = (/** @type {number} */ step) => {
      const [now, passed] = [isLit(index, step), isPassed(index, step) ? STRINGS.code.passed : null];
      const [born, leftOut] = [bornAt(index, step), isLeftOut(index, step) ? STRINGS.code.leftOut : null];
      set(row, "data-passed", passed);
      set(row, "data-left-out", leftOut && "");
      set(row, "data-odd", born);
      set(row, "title", passed ?? leftOut ?? (born ? STRINGS.code.odd(born) : full?.(index) ?? null));
      if (now === before) return;
      before = now;
      set(row, lit, now ? true : null);
      /** @type {Element} */ (row.lastChild).replaceChildren(...markColumns(lines[index], now?.columns));
    };
    return { element: row, update };
  });
  /**
   * Brings a line into view, and gives it; from now on Tab leads to it, if it is a button.
   * @param {number} index
   */
  const enterAt = (index) => {
    const row = rows.bring(index);
    if (stepOf(index) >= 0) {
      const left = rows.at(entrance);
      if (left) set(/** @type {Element} */ (left.firstChild), "tabindex", -1);
      entrance = index;
      set(/** @type {Element} */ (row.firstChild), "tabindex", 0);
    }
    return row;
  };
  element.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const at = walk.find((index) => rows.at(index)?.contains(/** @type {Node} */ (event.target)));
    const next = walk[walk.indexOf(at) + by];
    if (next !== undefined) /** @type {HTMLElement} */ (rows.bring(next).firstChild).focus();
  });
  return { element, enterAt, show: rows.show };
}

/**
 * The parts of a line: the spaces that it begins with, and some of its columns marked.
 * @param {string} line
 * @param {Where["columns"]} [columns]
 */
function markColumns(line, columns) {
  const characters = Array.from(line); // Python counts characters, JavaScript halves of some of them
  const breaks = [...line.matchAll(BREAKS)].map(({ index }) => Array.from(line.slice(0, index)).length);
  /** @type {(from: number, to?: number) => string} */
  const text = (from, to) => characters.slice(from, to).join("");
  /** @type {(from: number, to?: number) => (string | Element)[]} */
  const part = (from, to = characters.length) => {
    const ends = [from, ...breaks.filter((at) => from < at && at < to), to];
    return ends.slice(1).flatMap((end, k) => [...(k ? [make("wbr")] : []), text(ends[k], end)]);
  };
  const start = Math.min(line.search(/\S|$/), columns?.[0] ?? Infinity);
  const indent = start ? [make("span", { class: "indent" }, text(0, start))] : [];
  if (!columns) return [...indent, ...part(start)];
  const around = columns.map((at) => (breaks.includes(at) ? [make("wbr")] : []));
  const mark = make("mark", {}, ...part(...columns));
  return [...indent, ...part(start, columns[0]), ...around[0], mark, ...around[1], ...part(columns[1])];
}
