/** Formulas as MathML: the trees of program/formulas.py with the user's names in, or with the numbers. */

import { build, shorten } from "./dom.js";
import * as SHARED from "../../text/shared.json";

/**
 * @typedef {(leaf: Leaf) => { node?: Element, number?: string }} Leaves what stands for a leaf: a name, or a number
 * @typedef {[node: Element, binds: number]} Bound
 */

/** @type {(tag: string, ...rest: [attributes?: Record<string, any>, ...children: (Node | string)[]]) => Element} */
const math = (tag, ...rest) => build(document.createElementNS("http://www.w3.org/1998/Math/MathML", tag), ...rest);
const row = (/** @type {Node[]} */ ...parts) => math("mrow", {}, ...parts);
const sign = (/** @type {string} */ text, attributes = {}) => math("mo", attributes, text);
const bracket = (/** @type {string} */ text) => sign(text, { stretchy: "false" });
/** @type {(text: string, longest?: number) => Element} */
const code = (text, longest) => math("mtext", { class: text.length > 30 ? "long" : null }, shorten(text, longest));

/** How tightly anything but an operator binds; those of SHARED.operators are between 0 and 4. */
const [COMPARED, NEGATIVE, PRODUCT, FRACTION, APPLIED, POWER, ATOM] = [1, 2.5, 4, 5, 5, 6, 7];
/** Functions that are written without parentheses where their argument needs none. */
const PLAIN_CALLS = new Set([
  "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "log",
  "sign",
]);

/** A leaf's name, {name}; of a cotangent with a bar; or its number, {text}. */
export const drawName = (/** @type {string} */ name) => math("mi", {}, shorten(name));
// panel.css draws a bar of any length, and a dot clear of the letters, in place of the characters,
// which are kept for readers who copy the formula
export const drawPicture = (/** @type {Element} */ picture) => math("mtext", {}, picture);
export const drawBarName = (/** @type {string} */ name) => math("mrow", { class: "bar" }, drawName(name), sign("¯"));

/**
 * Draws a tree. `leaf` gives for "g", "y" or an argument's index what stands there: {node} or {number}.
 * The result binds as tightly as `need`, if necessary by parentheses; a comparison that is counted with, as 1 or 0,
 * stands in brackets. `open` says that a product goes on at its right.
 * @param {Tree} tree
 * @param {Leaves} leaf
 */
export function drawTree(tree, leaf, need = 0, open = false) {
  const [node, binds] = shape(tree, leaf, open);
  if (binds >= need) return node;
  return binds === COMPARED && need > COMPARED + 1 ? row(bracket("["), node, bracket("]")) : parenthesize(node);
}

const isTall = (/** @type {Element} */ node) => node.querySelector("mfrac, mroot, mtable, munder") !== null;

/** With an exponent. Fonts without mathematics put it on top of its base, so that a line of text is made low. */
const drawPower = (/** @type {Element} */ base, /** @type {Element} */ exponent) =>
  math("msup", {}, isTall(base) ? base : math("mpadded", { height: "0.4em" }, base), exponent);

/** In parentheses, which grow with fractions and tables, and not with letters that reach below the line. */
function parenthesize(/** @type {Node[]} */ ...parts) {
  const inside = row(...parts);
  const stretchy = isTall(inside);
  return row(sign("(", { stretchy }), inside, sign(")", { stretchy }));
}

/** @type {(tree: Tree, leaf: Leaves, open: boolean) => Bound} */
function shape(tree, leaf, open) {
  if (!Array.isArray(tree)) {
    const { node, number } = leaf(tree);
    return node ? [node, ATOM] : numeral(number);
  }
  const [head, ...parts] = tree;
  const inside = (/** @type {Tree} */ part, need = 0) => drawTree(part, leaf, need);
  if (head === "number") return numeral(String(parts[0]));
  if (head === "name") return [drawName(parts[0]), ATOM];
  if (head === "bar") return [drawBarName(parts[0]), ATOM];
  if (head === "code") return [code(parts[0]), ATOM];
  if (head === "neg") return [row(sign("−", { form: "prefix" }), drawTree(parts[0], leaf, 3, open)), NEGATIVE];
  if (head === "not") return [row(sign("¬"), inside(parts[0], ATOM)), APPLIED];
  if (head === "/") return [math("mfrac", {}, inside(parts[0]), inside(parts[1])), FRACTION];
  if (head === "**") return [drawPower(inside(parts[0], ATOM), inside(parts[1])), POWER];
  if (head === "transpose") return [drawPower(inside(parts[0], ATOM), sign("⊤", { lspace: "0", rspace: "0" })), POWER];
  if (head === "index") return [row(inside(parts[0], ATOM), bracket("["), code(parts[1]), bracket("]")), ATOM];
  if (head === "sum") return [row(summation(parts[1]), inside(parts[0], PRODUCT)), NEGATIVE];
  if (head === "where") return [cases(parts, inside), ATOM];
  if (head === "call") return drawCall(parts, leaf, inside, open);
  const { drawn: text, binds } = /** @type {Record<string, any>} */ (SHARED.operators)[head];
  const product = binds === PRODUCT;
  const space = head === "@" ? "0.1em" : "0.25em"; // matrices stand side by side
  const operator = sign(text, { form: "infix", lspace: space, rspace: space });
  const right = drawTree(parts[1], leaf, binds + 1, product && open);
  return [row(drawTree(parts[0], leaf, binds, product), operator, right), binds];
}

/**
 * A number: with a sign it binds like a negation, with a power of ten like a function, a complex one like a sum.
 * @param {string} text
 * @returns {Bound}
 */
function numeral(text) {
  if (/^-[^+-]*(e[+-]?\d+)?$/.test(text)) {
    return [row(sign("−", { form: "prefix" }), math("mn", {}, text.slice(1))), NEGATIVE];
  }
  if (/^[\d.]+e[+-]?\d+$/.test(text)) return [math("mn", {}, text), APPLIED];
  return [math("mn", {}, text), /^[\d.]+$|^[a-zA-Z]+$/.test(text) ? ATOM : 2];
}

/**
 * The sign of a sum, with the axes below it that it goes along, if not along all of them.
 * @param {string} [axes]
 */
function summation(axes) {
  const large = sign("∑", { largeop: "true", movablelimits: "false" });
  return axes === undefined ? large : math("munder", {}, large, math("mtext", {}, axes));
}

/** @type {(call: any[], leaf: Leaves, inside: (part: Tree, need?: number) => Element, open: boolean) => Bound} */
function drawCall([name, ...parts], leaf, inside, open) {
  if (name === "sqrt") return [math("msqrt", {}, inside(parts[0])), ATOM];
  if (name === "cbrt") return [math("mroot", {}, inside(parts[0]), math("mn", {}, "3")), ATOM];
  if (name === "absolute" || name === "fabs") return [row(sign("|"), inside(parts[0]), sign("|")), ATOM];
  if (name === "conjugate") return [drawPower(inside(parts[0], ATOM), sign("*")), POWER];
  const word = math("mi", { mathvariant: "normal" }, shorten(name));
  if (PLAIN_CALLS.has(name) && parts.length === 1 && !open) {
    const [node, binds] = shape(parts[0], leaf, false);
    if (binds >= POWER) return [row(word, math("mspace", { width: "0.2em" }), node), APPLIED];
  }
  const comma = () => sign(",", { form: "infix", separator: "true", lspace: "0", rspace: "0.25em" });
  const listed = parts.flatMap((part, index) => [...(index ? [comma()] : []), inside(part)]);
  return [row(word, parenthesize(...listed)), ATOM];
}

/** @type {(parts: any[], inside: (part: Tree) => Element) => Element} */
function cases([condition, yes, no], inside) {
  /**
   * @param {Tree} value
   * @param {Node[]} words
   */
  const line = (value, ...words) => math("mtr", {}, math("mtd", {}, inside(value)), math("mtd", {}, ...words));
  const table = math("mtable", {}, line(yes, code("where\u00a0"), inside(condition)), line(no, code("elsewhere")));
  return row(sign("{", { stretchy: "true", form: "prefix" }), table);
}

/** The name of a tensor's tangent, with a dot. */
export const drawDotName = (/** @type {string} */ name) => math("mrow", { class: "dot" }, drawName(name), sign("˙"));

/**
 * A line of formulas with signs in between, given as [sign, node] pairs after the first node.
 * @param {Element} first
 * @param {[sign: string, node: Element][]} others
 */
export function equation(first, ...others) {
  const space = () => math("mspace", { width: "0.28em" }); // the sign's own is not drawn beside a text
  const parts = others.map(([text, node]) =>
    row(space(), sign(text, { form: "infix", lspace: "0", rspace: "0" }), space(), node));
  return math("math", { displaystyle: "true" }, row(row(first), ...parts));
}
/**
 * A table of numbers, in brackets that panel.css draws, for fonts without mathematics have none that grow.
 * @type {(rows: string[][]) => Element}
 */
export const drawMatrix = (rows) => {
  const cell = (/** @type {string} */ text) => math("mtd", {}, math("mn", {}, text));
  return row(math("mtable", { class: "matrix" }, ...rows.map((items) => math("mtr", {}, ...items.map(cell)))));
};
/** @type {(text: string, longest?: number) => Element} */
export const result = (text, longest) =>
  (/^[^\s[\]]+$/.test(text) && text.length < 26 ? numeral(text)[0] : code(text, longest));
