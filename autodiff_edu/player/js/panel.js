/** The entry at hand: its formula, its arrays, the cotangents, the accumulator, and what the tape holds. */

import { arrayPlace, flat, formatBriefly, isTiny, isWritten, limitOf, piecesOf } from "./array.js";
import { brief, digitsOfSum, isFine, withDigits } from "./brief.js";
import { broadcastingView } from "./broadcasting.js";
import { carry } from "./carrying.js";
import { causesView } from "./causes.js";
import { cornersView } from "./corners.js";
import { NARROW_SCREEN, UNKNOWN, make, set, write } from "./dom.js";
import { drawBarName, drawDotName, drawMatrix, drawName, drawPicture, drawTree, equation, result } from "./formula.js";
import { wordPlace } from "./glossary.js";
import { lessonView } from "./lesson.js";
import { readMemory } from "./memory.js";
import { STRINGS } from "./strings.js";
import { tangentsOf } from "./tangents.js";
import { hasCells, pictureOf } from "./thumbnails.js";
import { drawUpdate } from "./updates.js";

const MOST_INPUTS = 6;
const LONGEST_NUMBER = 9; // what is put into a formula in place of a name
const LONGEST_RESULT = 20; // what is written at a formula's end; longer ones stand in the table
const LONGEST_ALONE = 40; // and where a line says nothing else
const MOST_TAPES = 3;
const TURN = /[₀-₉]+$/; // which of the values that a name has had
const SMALLEST = 0.72; // of the letters of a formula on stage
const LONGEST_VECTOR = 6; // of what a formula is written with in numbers
const [TABLE_ROOM, SUM_ROOM] = [10, 15]; // letters of numbers side by side on stage; on a phone the first for both,
const [FEW, ROOM_OF_FEW] = [4, 23]; // unless a sum has so few numbers
const [HIGH, LOW] = [4, 3]; // the most rows of a matrix in numbers in a formula, with room for more and without
/**
 * Where tall matrices may be numbers on stage: in the sum; in the rows, stacked (2) or side by side (1); in the
 * formulas. Each is tried in turn, and kept if everything still fits.
 */
const WRITTEN = [{ inSum: 1 }, { inRows: 2 }, { inRows: 1 }, { most: HIGH }];
const isLong = (/** @type {NDArray | null | undefined} */ array) =>
  array?.text.length > 14 && (array.data === null || array.shape.at(-1) > 3);

/**
 * What the panel looks up at a step: values, contributions, memory.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 */
function readings(trace, history) {
  const sums = trace.entries.map(() => /** @type {(Step & { number: number })[]} */ ([]));
  trace.steps.forEach((step, number) => {
    if (step.kind === "accumulate") sums[step.entry].push({ number, ...step });
  });
  /**
   * What the entry has sent to an argument in the pass on show, or sends to it by a later step.
   * @type {(entry: number, argument: number, number: number, until?: number) => NDArray | null}
   */
  const contribution = (entry, argument, number, until = number) => {
    if (!history.arrived(entry, number)) return null;
    const from = history.pulled(entry, number);
    const sent = sums[entry].find((sum) => sum.number > from && sum.number <= until && sum.argument === argument);
    return sent?.pass === trace.steps[from].pass ? sent.contribution : null;
  };
  return { value: history.known, contribution, ...readMemory(trace) };
}

/**
 * A row of the table: a tensor, its value, and its cotangent or the contribution to it.
 * @param {string} role
 * @param {Record<string, string>[]} fields
 */
function rowPlace(role, fields = [{}, {}]) {
  const [name, what, shape, label] = ["name", "role", "shape", "role"].map((kind) => make("span", { class: kind }));
  const [value, cotangent] = fields.map(arrayPlace);
  const head = make("th", { scope: "row" }, name, " ", what, " ", shape); // the spaces are for readers who listen
  const flowing = make("div", { class: "flow" }, cotangent.element, label);
  const cells = [make("td", {}, value.element), make("td", {}, flowing)];
  const element = make("tr", { "data-row": role }, head, ...cells);
  /**
   * @type {(
   *   kind: string, tensor: Tensor | undefined, known: NDArray | null, flow: NDArray | null, word: string,
   *   limits?: Box["limits"], room?: number, digits?: number, high?: number,
   * ) => void}
   */
  const show = (kind, tensor, known, flow, word, limits, room, digits, high) => {
    write(what, kind);
    const { text = "", shape: sides = [] } = tensor?.value ?? {};
    const title = sides.length > 1 && tensor.name === text ? `[…] ${sides.join("×")}` : tensor?.name ?? UNKNOWN;
    write(name, title.replace("e-", "e-\u2060")); // keep 1e-06 on one line
    write(shape, !tensor ? UNKNOWN : kind && `${STRINGS.panel.shape(tensor.value.shape)} ${tensor.value.dtype}`);
    write(label, flow ? word : "");
    set(element, "data-still", flow ? null : "");
    // On stage the numbers of a matrix have the room of both, one below the other if there are two.
    const isMatrix = room && kind && known?.shape.length > 1;
    const alone = isMatrix && !flow;
    set(cells[0], "colspan", alone ? 2 : null);
    set(cells[1], "hidden", alone ? "" : null);
    const most = alone || (isMatrix && high > 1) ? 2 * room : room;
    value.show(known, limits?.value, most, digits, room && !high);
    cotangent.show(flow, limits?.cotangent, most, undefined, room && !high);
    if (isMatrix) set(value.element, "data-long", flow && high > 1 ? true : null);
  };
  return { element, show };
}

/**
 * A number in few digits, to stand in a formula; null where there is none.
 * @param {Pick<NDArray, "shape" | "text"> | null} array
 */
function short(array, staged = false) {
  if (array?.shape.length !== 0) return null;
  if (array.text.length <= LONGEST_NUMBER) return staged ? brief(array.text) : array.text;
  const number = Number(array.text);
  if (!Number.isFinite(number)) return null;
  return isTiny(number) ? number.toExponential(2) : number.toPrecision(3);
}

/** @type {(array: NDArray, rows: Data[][]) => Element} */
const drawRows = (array, rows) =>
  drawMatrix(rows.map((row) => row.map((item) => formatBriefly(item, isFine(array.text) ? 10 : 3))));
/** @type {(array: NDArray | null, most: number) => boolean} */
const isSmall = (array, most) =>
  isWritten(array) && (array.shape.length === 1 ? array.shape[0] <= LONGEST_VECTOR
    : array.shape.length < 3 && array.shape.every((length) => length <= most));
/** @param {NDArray | null} array */
const itemOf = (array) => (array?.shape.length === 0 ? array.data : null);

/**
 * How many digits two numbers need in a sum that is shown, if they cancel; `sign` is that of the second.
 * @type {(parts: Data[], total: Data, staged: boolean, sign?: number) => number | undefined}
 */
function digitsIn(parts, total, staged, sign = 1) {
  if (![...parts, total].every((number) => typeof number === "number")) return undefined;
  const [first, second] = /** @type {number[]} */ (parts);
  return digitsOfSum([first, sign * second], Number(total), staged ? 3 : 6);
}

/**
 * From six to ten digits, where three would show two different numbers as the same.
 * @param {(NDArray | null)[]} arrays
 */
function digitsApart(arrays) {
  const texts = arrays.filter((array) => typeof itemOf(array) === "number").map(({ text }) => text);
  const isEnough = (/** @type {number} */ digits) =>
    !texts.some((one) => texts.some((other) => one !== other && brief(one, digits) === brief(other, digits)));
  return isEnough(3) ? undefined : [6, 7, 8, 9].find(isEnough) ?? 10;
}

/**
 * The formulas of an entry: what it computes, and what it sends to each argument.
 * @param {Trace} trace
 * @param {ReturnType<typeof readings>} read
 * @param {import("./history.js").History} history
 * @param {ReturnType<typeof tangentsOf>} tangents
 * @param {() => boolean} isCovered
 * @param {() => boolean} isAsking
 * @param {() => boolean} staged on stage numbers have three digits
 * @param {Layout["tensors"]} boxes
 */
function formulasOf(trace, read, history, tangents, isCovered, isAsking, staged, boxes) {
  /**
   * Names at the leaves of a tree; `moving` is the argument whose tangent flows, else a cotangent does.
   * @type {(entry: number, moving?: number) => import("./formula.js").Leaves}
   */
  const name = (entry, moving) => (leaf) => {
    const { arguments: given, output, aliases } = trace.entries[entry];
    const flowing = moving === undefined ? output : given[moving];
    const tensor = trace.tensors[/** @type {number} */ (leaf === "g" ? flowing : leaf === "y" ? output : given[leaf])];
    if (leaf === "g") return { node: (moving === undefined ? drawBarName : drawDotName)(tensor.name) };
    return { node: drawName(aliases?.[/** @type {number} */ (leaf)] ?? tensor.name) };
  };
  /**
   * A formula in names and, where each of them has a number and that says more, in numbers: half of them confuse.
   * @type {(
   *   entry: number, tree: Tree, numbers: ((leaf: Leaf) => NDArray | null) | null, digits?: number,
   * ) => Element[]}
   */
  const both = (entry, tree, numbers, digits) => {
    const symbolic = drawTree(tree, name(entry));
    let all = Boolean(numbers);
    const number = (/** @type {Leaf} */ leaf) => {
      const array = numbers(leaf);
      const isExact = digits && typeof itemOf(array) === "number";
      const known = isExact ? withDigits(Number(array.data), digits) : briefly(array);
      all &&= known !== null;
      return { number: known ?? UNKNOWN };
    };
    const numeric = all && drawTree(tree, number);
    return all && numeric.textContent !== symbolic.textContent ? [symbolic, numeric] : [symbolic];
  };
  const written = (/** @type {NDArray} */ { text }) => (staged() ? brief(text) : text);
  const briefly = (/** @type {Pick<NDArray, "shape" | "text"> | null} */ array) => short(array, staged());
  /** @type {(array: NDArray | null) => Element[]} */
  const outcome = (array) =>
    (array && array.text.length > LONGEST_RESULT ? [] : [result(array ? written(array) : UNKNOWN)]);
  /** @type {(array: NDArray | null, most: number) => Element[]} */
  const inNumbers = (array, most) =>
    (array?.shape.length > 1 && isSmall(array, most) ? [drawRows(array, piecesOf(array)[0].rows)] : outcome(array));
  /**
   * Signs before the nodes, but for one that says what the one before it says.
   * @type {(first: string, nodes: Element[]) => [sign: string, node: Element][]}
   */
  const signed = (first, nodes) => nodes
    .filter((node, index) => !index || node.textContent !== nodes[index - 1].textContent)
    .map((node, index) => [index ? "=" : first, node]);
  /** @type {(entry: number, number: number, most: number) => Element} */
  const forward = (entry, number, most) => {
    const { output, arguments: given, formula } = trace.entries[entry];
    const values = (/** @type {Leaf} */ leaf) =>
      read.value(/** @type {number} */ (given[/** @type {number} */ (leaf)]), number);
    const [tree, total] = [trace.formulas[formula], read.value(output, number)];
    const [head, ...parts] = [tree].flat();
    const numberOf = (/** @type {any} */ part) => (part[0] === "number" ? Number(part[1]) : itemOf(values(part)));
    const isLeaf = (/** @type {any} */ part) => typeof part === "number" || part[0] === "number";
    const isSum = (head === "+" || head === "-") && parts.every(isLeaf);
    const digits = isSum ? digitsIn(parts.map(numberOf), itemOf(total), staged(), head === "-" ? -1 : 1) : undefined;
    const tensors = /** @type {number[]} */ ([...given.filter((one) => typeof one === "number"), output]);
    const apart = digitsApart(tensors.map((tensor) => read.value(tensor, number)));
    const nodes = both(entry, tree, values, digits ?? apart);
    const drawn = most ? pictured(entry, tree, values, most) : [];
    nodes.push(...drawn.filter((node) => !node.querySelector("svg")));
    nodes.push(...(apart && itemOf(total) !== null ? [result(total.text)]
      : most ? inNumbers(total, most) : outcome(total)));
    return equation(drawName(trace.tensors[output].name), ...signed("=", nodes));
  };
  /**
   * A formula with arrays in pictures or, if they are small, in numbers: what is multiplied stands side by side. There
   * is none without arrays, and no number in a matrix of more than `most` rows or columns, nor any if that is 0.
   * @type {(entry: number, tree: Tree, values: (leaf: Leaf) => NDArray | null, most: number) => Element[]}
   */
  const pictured = (entry, tree, values, most) => {
    const { arguments: given, output, formula } = trace.entries[entry];
    // Right of a matrix a vector is a column, and so is what comes of it.
    const right = trace.tensors[/** @type {number} */ (given[1])];
    const [head, called] = [trace.formulas[formula]].flat();
    const upright = (head === "@" || called === "solve") && right?.value.shape.length === 1;
    let some = false; // but few numbers in colours, where they don't fit as numbers, say nothing
    const drawn = drawTree(tree, (leaf) => {
      let array = values(leaf);
      if (!hasCells(array)) return { number: briefly(array) ?? UNKNOWN };
      some ||= most > 0 || array.shape.length > 1 || !isSmall(array, most);
      if (upright && array.shape.length === 1) {
        array = { ...array, shape: [...array.shape, 1], data: flat(array).map((item) => [item]) };
      }
      if (isSmall(array, most) && most) return { node: drawRows(array, piecesOf(array)[0].rows) };
      const of = leaf === "g" || leaf === "y" ? output : given[/** @type {number} */ (leaf)];
      const limit = boxes[/** @type {number} */ (of)].limits?.[leaf === "g" ? "cotangent" : "value"];
      return { node: drawPicture(pictureOf(array, limit ?? limitOf(array))) };
    });
    return some ? [drawn] : [];
  };
  /**
   * @type {(
   *   entry: number, argument: number, number: number, isLit: boolean, detail: number, most: number,
   * ) => Element}
   */
  const backward = (entry, argument, number, isLit, detail, most) => {
    const { arguments: given, contributions } = trace.entries[entry];
    const arrived = history.arrived(entry, number);
    const sent = read.contribution(entry, argument, number);
    const tree = trace.formulas[contributions[argument]];
    const values = (/** @type {Leaf} */ leaf) => (leaf === "g" ? arrived : value(entry, leaf, number));
    const isNumber = !Array.isArray(tree); // what it is in numbers is the outcome already
    const nodes = both(entry, tree, isNumber || (isCovered() && !sent) ? null : arrived && values);
    const unfolds = ["sum", "where"].includes([tree].flat()[0]); // a picture of its own; no room for any
    if (isLit && !isNumber && !unfolds) nodes.push(...pictured(entry, tree, values, detail && most));
    // Numbers have their result, unless the reader will be asked for it.
    const due = sent || nodes.length === 1 || isAsking() ? null : read.contribution(entry, argument, number, Infinity);
    if (sent ?? due) nodes.push(...(isLit && detail > 1 ? inNumbers(sent ?? due, most) : outcome(sent ?? due)));
    set(nodes[0], "data-factor", "");
    return equation(drawBarName(trace.tensors[/** @type {number} */ (given[argument])].name), ...signed("+=", nodes));
  };
  /** @type {(entry: number, leaf: "y" | number, number: number) => NDArray | null} */
  const value = (entry, leaf, number) => {
    const { output, arguments: given } = trace.entries[entry];
    return read.value(leaf === "y" ? output : /** @type {number} */ (given[leaf]), number);
  };
  /** @type {(entry: number, number: number) => Element} */
  const pushed = (entry, number) => tangents.formula(entry, number, { name, short: briefly, value, outcome });
  const updated = (/** @type {number} */ number) => drawUpdate(trace, number, { short: briefly, outcome });
  return { forward, backward, pushed, updated };
}

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {import("./flow.js").Flow} flow
 * @param {ReturnType<typeof import("./corners.js").readCorners>} corners
 * @param {() => boolean} isCovered
 * @param {() => boolean} isAsking whether later steps may ask
 * @param {(step: number) => void} go
 * @param {Layout["tensors"]} boxes they say where the colours of a tensor end, here as in the graph
 */
export function panelView(trace, history, flow, corners, isCovered, isAsking, go, boxes) {
  const words = STRINGS.panel;
  const read = readings(trace, history);
  const tangents = tangentsOf(trace, history);
  const [unfold, chosen] = [broadcastingView(trace, history, flow), cornersView(trace, corners)];
  const [lesson, causes] = [lessonView(trace), causesView(trace, go)];
  const phone = matchMedia(NARROW_SCREEN);
  const roomOf = (/** @type {number} */ letters) => (flow.staged() ? letters : undefined);
  const formulas = formulasOf(trace, read, history, tangents, isCovered, isAsking, flow.staged, boxes);
  /** @type {(name: string, tag?: "span" | "code" | "b") => HTMLElement} */
  const field = (name, tag = "span") => make(tag, { "data-field": name });
  const [caption, operation, target, count, memory] =
    /** @type {[string, ("code" | "b")?][]} */
    ([["caption"], ["operation", "code"], ["target", "b"], ["count"], ["memory"]]).map((one) => field(...one));
  const lines = (/** @type {string} */ name) => make("div", { class: "scroll formulas", "data-field": name });
  const [forward, backward] = ["forward", "backward"].map(lines);
  const rule = make("div", { class: "rule" },
    lesson.element, causes.element, operation, forward, backward, chosen.element, unfold.element);

  const rows = Array.from({ length: MOST_INPUTS }, () => rowPlace("input"));
  const subjectRow = rowPlace("output", [{ "data-field": "value" }, { "data-field": "cotangent" }]);
  const more = make("p", { class: "more" });
  const unseen = make("p", { class: "unseen" });
  const flowing = make("th", { scope: "col" });
  const heads = [make("td"), make("th", { scope: "col" }, words.value), flowing];
  const body = make("tbody");
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body);
  const about = make("div", { class: "about" }, table, more);

  const atHand = make("div", { class: "scroll at-hand" }, rule, about);

  const names = /** @type {const} */ (["before", "contribution", "after"]);
  const places = names.map((name) => arrayPlace({ "data-field": name }));
  const span = (/** @type {string} */ name, text = "") => make("span", { class: name }, text);
  const labels = names.map(() => span("label"));
  const [nameCaption, nameFlow, nameSum, ...nameParts] = [caption, flowing, target, ...labels].map(wordPlace);
  const parts = ["", "+", "="].map((sign, index) =>
    make("div", { class: "part" }, span("sign", sign), labels[index], places[index].element));
  const sum = make("div", { class: "sum" }, ...parts);
  const accumulator = make("div", { class: "accumulator" }, make("p", {}, target, count), sum);

  const alone = () => (flow.staged() ? LONGEST_RESULT : LONGEST_ALONE);
  /**
   * A result, whose numbers stand below each other if they are too many for a line.
   * @type {(array: NDArray | null, none: string) => [sign: string, node: Element][]}
   */
  const drawResult = (array, none) => {
    const text = flow.staged() ? brief(array?.text ?? none) : array?.text ?? none;
    if (text.length <= alone() || !isWritten(array)) return [["=", result(text, alone())]];
    if (array.shape.length === 1) return [["=", result(text)]]; // one row, which goes on in the next line
    return piecesOf(array).map(({ rows: numbers }, index) =>
      [index ? "" : "=", drawRows(array, numbers)]);
  };
  /** @type {(step: Step, number: number, most: number) => void} */
  const showFormulas = (step, number, most) => {
    const entry = trace.entries[step.entry];
    const pushes = history.tangents[number] && entry?.pushes;
    set(backward, "data-tangents", pushes ? true : null);
    const subject = trace.tensors[step.tensor];
    const shown = [];
    simpler = [];
    if (entry) {
      const compute = (/** @type {number} */ largest) =>
        forward.replaceChildren(formulas.forward(step.entry, number, largest));
      compute(step.kind === "record" ? LOW : 0); // the rows have what is larger
      if (forward.scrollWidth > forward.clientWidth) compute(0);
      const covered = isCovered() && !history.arrived(step.entry, number); // whether anything flows is an answer
      if (pushes) {
        const current = step.kind === "push forward" ? "true" : null;
        shown.push(make("div", { "data-now": current }, formulas.pushed(step.entry, number)));
      } else if (!covered) entry.contributions.forEach((formula, index) => {
        if (formula === null || shown.length === MOST_INPUTS) return;
        const isLit = step.kind === "accumulate" && step.argument === index;
        const drawn = (/** @type {number} */ detail) =>
          formulas.backward(step.entry, index, number, isLit, detail, most);
        const line = make("div", { "data-now": isLit || null }, drawn(2));
        if (isLit) simpler = [1, 0].map((detail) => () => line.replaceChildren(drawn(detail)));
        shown.push(line);
      });
    } else if (step.kind === "seed" || step.kind === "outcome") {
      const array = step.cotangent ?? step.gradient;
      const known = drawResult(array, words.none);
      const isSum = step.word === ".grad"; // of this pass's cotangent and of what was there
      const name = isSum ? drawName(`${subject.name}.grad`) : drawBarName(subject.name);
      forward.replaceChildren(equation(name, ...known));
    } else if (step.kind === "move") {
      forward.replaceChildren(equation(drawDotName(subject.name), ...drawResult(step.tangent, words.none)));
    } else if (step.formula !== undefined) {
      forward.replaceChildren(formulas.updated(number));
    } else if (subject) {
      const known = drawResult(history.known(step.tensor, number), UNKNOWN);
      forward.replaceChildren(equation(drawName(subject.name), ...known));
    } else forward.replaceChildren(UNKNOWN);
    backward.replaceChildren(...shown);
    for (const box of [forward, backward]) fit(box);
    while (simpler.length && backward.scrollWidth > backward.clientWidth) simplify();
  };
  /** @type {(() => void)[]} */
  let simpler = []; // draws the formula that is lit without the numbers of its result, then with colours for numbers
  const simplify = () => {
    simpler.shift()();
    fit(backward);
  };

  /** On stage a line that is too long has smaller letters, down to the smallest there. */
  const fit = (/** @type {HTMLElement} */ box) => {
    set(box, "style", null);
    const part = flow.staged() ? box.clientWidth / box.scrollWidth : 1;
    if (part < 1) set(box, "style", `--fit: ${Math.max(part, SMALLEST)}`);
  };
  /** @type {Element[]} */
  let byNeed = []; // the rows of the table: first what gets something, then where it comes from
  /**
   * The formula that is lit is seen whole: of those above it the first ones go, and its letters get smaller.
   *
   * On stage, where nobody scrolls, lines that would be cut are left out, and a table without any makes room. Rows that
   * the step is about are placed first, then any others that fit. Rows that don't fit even without headings are named
   * below.
   */
  const bottomOf = (/** @type {Element | null} */ part) => part?.getBoundingClientRect().bottom;
  const bring = (attempt = 0) => {
    set(atHand, "data-tight", attempt > 0 || null);
    if (attempt < 2) write(unseen, ""); // which takes room itself
    about.hidden = false;
    scroll();
    const isCut = (/** @type {Element} */ part) => flow.staged() && bottomOf(part) > bottomOf(atHand);
    for (const line of backward.children) {
      set(line, "hidden", !line.hasAttribute("data-now") && isCut(line) ? "" : null);
    }
    for (const row of body.children) set(row, "hidden", "");
    for (const row of byNeed) {
      set(row, "hidden", null);
      if (isCut(body)) set(row, "hidden", "");
    }
    const left = [...body.children].filter((row) => row.hasAttribute("hidden"));
    about.hidden = left.length === body.children.length;
    if (!attempt && flow.staged() && about.scrollWidth > about.clientWidth) return bring(1); // a name is long
    if (!left.length) return;
    const lost = new Set(left.map((row) => row.querySelector(".name").textContent));
    write(unseen, words.unseen(left.length, [...lost].join(", ")));
    if (attempt < 2) bring(attempt + 1);
  };
  const scroll = () => {
    atHand.scrollTop = 0;
    const lit = backward.querySelector("[data-now]");
    if (!lit || !atHand.clientHeight) return;
    const measure = () => {
      const origin = atHand.getBoundingClientRect().top + atHand.clientTop;
      const { top, bottom } = lit.getBoundingClientRect();
      return { origin, top: top - origin, over: bottom - origin - atHand.clientHeight };
    };
    let { origin, top, over } = measure();
    if (over > top && flow.staged()) {
      set(backward, "style", `--fit: ${SMALLEST}`);
      ({ origin, top, over } = measure());
      if (over > top && simpler.length) {
        simplify();
        return scroll();
      }
    }
    // What is unfolded below it comes into view in the next frame.
    requestAnimationFrame(() => { atHand.scrollTop = Math.min(atHand.scrollTop, Math.max(0, Math.floor(top))); });
    if (over <= 0) return;
    const tops = [forward, ...backward.children].map((line) => line.getBoundingClientRect().top - origin);
    atHand.scrollTop = Math.floor(Math.min(top, ...tops.filter((line) => line >= over)));
  };
  /**
   * How many cotangents, or tangents, come as one array: those of a stack have one axis more than their tensor.
   * @type {(tensor: number, array: NDArray | null) => string}
   */
  const stackOf = (tensor, array) =>
    (array && array.shape.length > trace.tensors[tensor].value.shape.length ? words.stack(array.shape[0]) : "");
  /**
   * An array as a text that is no longer than a line: its shape, if its numbers are too many.
   * @type {(array: NDArray | null) => NDArray | null}
   */
  const inShort = (array) => (!array || array.text.length <= LONGEST_RESULT || isWritten(array) ? array
    : { ...array, text: words.shape(array.shape), shape: [], data: null });
  /**
   * The tensors that a name of the program stands for at a step, in the order in which they were computed.
   * @type {(number: number) => { tensor: number }[]}
   */
  const namedAt = (number) => {
    /** @type {Map<string, number>} */
    const found = new Map();
    trace.tensors.forEach(({ name, unnamed, value: { text } }, tensor) => {
      const own = name.replace(TURN, "");
      if (unnamed || name === text || !read.value(tensor, number)) return;
      found.delete(own); // what is new stands below
      found.set(own, tensor);
    });
    return [...found.values()].map((tensor) => ({ tensor }));
  };
  /**
   * Shows what an entry has computed with, or of a step that is about no tensor the values that have a name.
   * @type {(step: Step, number: number, named: { tensor: number }[], high: number) => void}
   */
  const showRows = (step, number, named, high) => {
    const entry = trace.entries[step.entry];
    const forwards = history.tangents[number];
    const flows = forwards ? "tangent" : "cotangent";
    nameFlow(words[flows], flows);
    const given = (entry?.arguments ?? []).map((tensor, index) => ({ tensor, index }));
    const inputs = /** @type {{ tensor: number, index: number }[]} */ (
      given.filter(({ tensor }) => typeof tensor === "number"));
    const subject = entry?.output ?? step.tensor;
    const digits = digitsApart([...inputs, { tensor: subject }].map(({ tensor }) => read.value(tensor, number)));
    named.slice(-MOST_INPUTS).forEach(({ tensor }, place) => {
      const known = inShort(read.value(tensor, number));
      rows[place].show("", trace.tensors[tensor], known, null, "", undefined, roomOf(SUM_ROOM));
    });
    inputs.slice(0, MOST_INPUTS).forEach(({ tensor, index }, place) => {
      const sent = forwards ? history.cotangent(tensor, number) : read.contribution(step.entry, index, number);
      const label = [forwards ? "" : words.contribution, stackOf(tensor, sent)].filter(Boolean).join(", ");
      const [value, { limits }] = [read.value(tensor, number), boxes[tensor]];
      const room = roomOf(TABLE_ROOM);
      rows[place].show(words.input, trace.tensors[tensor], value, sent, label, limits, room, digits, high);
    });
    const ofTensor = () => (subject === undefined ? null : history.cotangent(subject, number));
    const arrived = entry ? history.arrived(step.entry, number) : ofTensor();
    const [role, value] = [entry ? words.output : words.tensor, read.value(subject, number)];
    const label = [forwards ? "" : words.arrived, stackOf(subject, arrived)].filter(Boolean).join(", ");
    const limits = boxes[subject]?.limits;
    subjectRow.show(role, trace.tensors[subject], value, arrived, label, limits, roomOf(TABLE_ROOM), digits, high);
    const shown = rows.slice(0, inputs.length || named.length);
    /** @type {Element[]} */
    const wanted = (step.kind === "error" || named.length ? shown : [...shown, subjectRow]).map((row) => row.element);
    const getting = rows[inputs.findIndex(({ index }) => index === step.argument)] ?? subjectRow;
    byNeed = [getting.element, subjectRow.element, ...wanted];
    // Rows that stay are left alone: to move them would take the focus from what is in them.
    for (const element of [...body.children]) {
      if (!wanted.includes(element)) element.remove();
    }
    wanted.forEach((element, index) => {
      if (body.children[index] !== element) body.insertBefore(element, body.children[index] ?? null);
    });
    const left = Math.max(inputs.length, named.length) - MOST_INPUTS;
    write(more, left > 0 ? words[named.length ? "others" : "more"](left) : "");
  };

  /** @type {(step: Step, number: number, high: number) => void} */
  const showSum = (step, number, high) => {
    const [sums, moves] = [step.kind === "accumulate", tangents.sum(step, number)];
    const cotangent = sums ? words.cotangentOf(trace.tensors[step.tensor].name) : words.accumulated;
    nameSum(moves ? words.tangentOf(moves.name) : cotangent, moves ? "tangent" : "accumulate");
    write(count, sums ? words.count(step.count, step.of) : "");
    /** @type {NDArray} */
    const nothing = { text: words.nothingYet, shape: [], dtype: "", data: null };
    const arrays = sums ? [step.before ?? nothing, step.contribution, step.after] : moves?.arrays ?? [null, null, null];
    const called = moves ? [...moves.labels, words.tangent] : names.map((name) => words[name]);
    nameParts.forEach((name, index) => name(called[index], called[index] === words.contribution && "contribution"));
    const limit = boxes[step.tensor]?.limits?.cotangent ?? limitOf(...arrays); // one scale, so that the sum can be seen
    const ofPhone = isWritten(arrays[2]) && flat(arrays[2]).length <= FEW ? ROOM_OF_FEW : TABLE_ROOM;
    const ofStage = arrays[2]?.shape.length > 1 ? 2 * TABLE_ROOM : SUM_ROOM;
    const room = roomOf(ofStage) ?? (phone.matches ? ofPhone : undefined);
    const [first, second, total] = arrays.map(itemOf);
    const digits = digitsIn([first, second], total, room !== undefined); // where there is little room, three are shown
    const apart = arrays[0] && digitsApart(arrays);
    places.forEach((place, index) =>
      place.show(arrays[index], limit, room, (index < 2 ? digits : undefined) ?? apart, room && !high));
    set(sum, "data-active", sums || moves?.active || null);
    // Long texts need the whole width, one below the other.
    set(sum, "data-long", arrays.some(isLong) || null);
  };

  const show = (/** @type {number} */ number) => {
    const step = trace.steps[number];
    const entry = trace.entries[step.entry];
    const subject = trace.tensors[entry?.output ?? step.tensor];
    const numbered = entry && step.kind !== "error" && (entry.number ? words.numbered(entry.number) : words.skipped);
    const heading = numbered || words.kinds[step.kind];
    nameCaption(heading ?? words.entry, step.kind === "seed" && "seed");
    write(operation, entry ? `${subject.name} = ${entry.text}` : (subject?.name ?? UNKNOWN));
    chosen.show(number);
    unfold.show(number);
    lesson.show(number);
    causes.show(number);
    const isFull = subject || step.lesson || causes.isShown(number);
    const named = isFull ? [] : namedAt(number);
    set(operation, "data-none", subject ? null : named.length ? "named" : "");
    // Where nothing is known yet, the graph has its room.
    set(element, "data-empty", isFull || named.length ? null : "");
    const tapes = trace.tapes.length > MOST_TAPES ? [step.tape].filter((tape) => tape != null) : trace.tapes.keys();
    const called = (/** @type {number} */ tape) => (trace.tapes.length === 1 ? words.theTape : trace.tapes[tape].name);
    const isEmpty = (/** @type {number} */ tape) => !read.bytes(tape, number) && tape !== step.tape;
    const held = [...tapes].filter((tape) => read.bytes(tape, number) !== undefined && !isEmpty(tape));
    const say = (/** @type {number} */ tape) =>
      words.holds(called(tape), read.bytes(tape, number), read.change(tape, number));
    write(memory, held.map(say).join(" · "));
    const draw = ({ most = LOW, inSum = 0, inRows = 0 } = {}) => {
      showFormulas(step, number, most);
      showSum(step, number, inSum);
      showRows(step, number, named, inRows);
      bring();
      // What does not fit: rows, unfolded pictures, the current formula's numbers.
      return [unseen.textContent.length, Math.max(0, bottomOf(rule) - bottomOf(atHand)), simpler.length ? 0 : 1];
    };
    const least = draw();
    const isMore = flow.staged() && inside.querySelector(".heat, .formulas svg");
    /** @type {(lost: number[]) => boolean} */
    const isRoom = (lost) => lost.every((part, index) => part <= least[index]);
    let [best, drawn] = [{}, {}];
    for (const place of isMore ? WRITTEN : []) {
      if (Object.keys(place).some((part) => part in best)) continue;
      drawn = { ...best, ...place };
      if (isRoom(draw(drawn))) best = drawn;
    }
    if (drawn !== best) draw(best);
    if (step.kind === "accumulate") carry(element, flow);
  };
  /**
   * Whether a contribution can be followed into the sum: not where the panel stands behind a tab.
   * @param {number} number
   */
  const follows = (number) => trace.steps[number].kind === "accumulate" && element.checkVisibility();
  // The accumulator stays in view, below what scrolls.
  const inside = make("div", { class: "body" }, atHand, unseen, accumulator);
  const named = { class: "panel", role: "group", "aria-label": STRINGS.stage.panel };
  const element = make("figure", named, make("figcaption", {}, caption, memory), inside);
  return { element, show, follows };
}
