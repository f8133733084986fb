/** Formulas as MathML: the trees of rules/written.py with the user's names in, or with the numbers. */

import { build, shorten } from "./dom.js";

const math = (tag, ...rest) => build(document.createElementNS("http://www.w3.org/1998/Math/MathML", tag), ...rest);
const row = (...parts) => math("mrow", {}, ...parts);
const sign = (text, attributes = {}) => math("mo", attributes, text);
const code = (text) => math("mtext", {}, shorten(text));

/** Each binary operator: how it is written, how tightly it binds, and how tightly its right side must. */
const INFIX = {
  "|": ["∨", 0, 1], "&": ["∧", 0, 1],
  "<": ["<", 1, 2], "<=": ["≤", 1, 2], ">": [">", 1, 2], ">=": ["≥", 1, 2], "==": ["=", 1, 2], "!=": ["≠", 1, 2],
  "+": ["+", 2, 3], "-": ["−", 2, 3],
  "*": ["·", 4, 5], "@": ["@", 4, 5], "//": ["div", 4, 5], "%": ["mod", 4, 5],
};
const [NEGATIVE, FRACTION, APPLIED, POWER, ATOM] = [2.5, 5, 5, 6, 7];

/** What the entries' names for operations are as trees; all others are calls. */
const OPERATIONS = {
  add: "+", subtract: "-", multiply: "*", divide: "/", power: "**", float_power: "**", matmul: "@", remainder: "%",
  floor_divide: "//", less: "<", less_equal: "<=", greater: ">", greater_equal: ">=", equal: "==", not_equal: "!=",
  negative: "neg", where: "where", logical_and: "&", logical_or: "|", logical_not: "not",
};

/** Small words of the tables of rules, as a reader writes them; of their other arguments nothing is to be seen. */
const one = ["number", 1];
const WORDS = {
  lowered: (p) => (Array.isArray(p) && p[0] === "number" ? ["number", p[1] - 1] : ["-", p, one]),
  direction: (x) => ["call", "sign", x],
  log_of_base: (x) => ["call", "log", x],
  or_one: (x) => x,
  square: (x) => ["**", x, ["number", 2]],
  reciprocal: (x) => ["/", one, x],
  exp: (x) => ["**", ["name", "e"], x],
  exp2: (x) => ["**", ["number", 2], x],
  float_power: (x, p) => ["**", x, p],
  floor_divide: (x, y) => ["//", x, y],
  shared: (g, count) => ["/", g, count],
  permute_back: (g, ndim, axes) => (axes?.[0] === "name" ? ["transpose", g] : ["call", "transpose", g, axes]),
  like: (g) => ["call", "reshape", g],
  spread: (g) => ["call", "spread", g],
  restore: (g) => ["call", "spread", g],
  scatter: (g, index) => ["call", "scatter", g, index],
  right: (axis) => axis,
  length: () => ["name", "n"],
  pull: (g) => ["call", "backward", g], // of a custom gradient
};
const NAMES = {
  LOG2: ["call", "log", ["number", 2]],
  LOG10: ["call", "log", ["number", 10]],
  DEGREE: ["/", ["name", "π"], ["number", 180]],
};
const PLAIN_CALLS = new Set([
  "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "log",
  "sign",
]);

/** The tree of what an entry computes; the index of x[...] and other arguments that are no tensors are text. */
export function forwardTree({ operation, arguments: given, parameters }) {
  const leaves = given.map((argument, index) => (typeof argument === "string" ? literal(argument) : index));
  if (operation === "getitem") return ["index", leaves[0], given[1]];
  if (operation === "swapaxes" || operation === "transpose") {
    if (["", "-1,-2"].includes(given.slice(1).join())) return ["transpose", leaves[0]];
  }
  const words = Object.entries(parameters).map(([name, text]) => ["code", `${name}=${text}`]);
  return OPERATIONS[operation] ? [OPERATIONS[operation], ...leaves] : ["call", operation, ...leaves, ...words];
}

/** Puts in for arguments what is no tensor: text, and numbers, which are tensors named as they are written. */
export function withLiterals(tree, { arguments: given }, tensors) {
  if (Number.isInteger(tree)) {
    const argument = given[tree];
    if (argument === undefined) return ["code", "…"];
    if (typeof argument === "string") return literal(argument);
    const { name, kind } = tensors[argument];
    return kind === "constant" && literal(name)[0] === "number" ? literal(name) : tree;
  }
  if (!Array.isArray(tree) || ["number", "name", "code"].includes(tree[0])) return tree;
  if (tree[0] === "index") return [tree[0], withLiterals(tree[1], { arguments: given }, tensors), tree[2]];
  const heads = tree[0] === "call" ? 2 : 1;
  const parts = tree.slice(heads).map((part) => withLiterals(part, { arguments: given }, tensors));
  return [...tree.slice(0, heads), ...parts];
}

const literal = (text) => (text.trim() && Number.isFinite(Number(text)) ? ["number", Number(text)] : ["code", text]);

/** Rewrites the small words; −ȳ · x reads better than (−ȳ) · x, and a product without parentheses in it. */
export function simplified(tree) {
  if (!Array.isArray(tree) || ["number", "code"].includes(tree[0])) return tree;
  if (tree[0] === "name") return Object.hasOwn(NAMES, tree[1]) ? NAMES[tree[1]] : tree;
  if (tree[0] === "index") return ["index", simplified(tree[1]), tree[2]];
  const heads = tree[0] === "call" ? 2 : 1;
  const [head, parts] = [tree.slice(0, heads), tree.slice(heads).map(simplified)];
  if (head[0] === "call" && Object.hasOwn(WORDS, head[1])) {
    const word = WORDS[head[1]](...parts);
    return word[0] === "call" && word[1] === head[1] ? word : simplified(word);
  }
  const [kind, [left, right]] = [head[0], parts];
  if (["*", "/", "@"].includes(kind) && left?.[0] === "neg") return ["neg", [kind, left[1], right]];
  if (["*", "@"].includes(kind) && right?.[0] === kind) return [kind, simplified([kind, left, right[1]]), right[2]];
  if (kind === "**" && right?.[0] === "number" && right[1] === 1) return left;
  return [...head, ...parts];
}

/** A leaf's name, {name}; of a cotangent with a bar; or its number, {text}. */
export const named = (name) => math("mi", {}, shorten(name));
// panel.css draws a bar of any length in place of the character, which is there for whoever copies the formula
export const barred = (name) => math("mrow", { class: "bar" }, named(name), sign("¯"));

/**
 * Draws a tree. `leaf` gives for "g", "y" or an argument's index what stands there: {node} or {number}.
 * The result binds as tightly as `need`, if need be by parentheses; `open` says that a product goes on at its right.
 */
export function drawn(tree, leaf, need = 0, open = false) {
  const [node, binds] = shape(tree, leaf, open);
  return binds >= need ? node : fenced(node);
}

const fenced = (...parts) => row(sign("("), ...parts, sign(")"));

function shape(tree, leaf, open) {
  if (!Array.isArray(tree)) {
    const { node, number } = leaf(tree);
    return node ? [node, ATOM] : numeral(number);
  }
  const [head, ...parts] = tree;
  const inside = (part, need = 0) => drawn(part, leaf, need);
  if (head === "number") return numeral(String(Number(Number(parts[0]).toPrecision(6))));
  if (head === "name") return [named(parts[0]), ATOM];
  if (head === "code") return [code(parts[0]), ATOM];
  if (head === "neg") return [row(sign("−", { form: "prefix" }), drawn(parts[0], leaf, 3, open)), NEGATIVE];
  if (head === "not") return [row(sign("¬"), inside(parts[0], ATOM)), APPLIED];
  if (head === "/") return [math("mfrac", {}, inside(parts[0]), inside(parts[1])), FRACTION];
  if (head === "**") return [math("msup", {}, inside(parts[0], ATOM), inside(parts[1])), POWER];
  if (head === "transpose") return [math("msup", {}, inside(parts[0], ATOM), sign("⊤")), POWER];
  if (head === "index") return [row(inside(parts[0], ATOM), sign("["), code(parts[1]), sign("]")), ATOM];
  if (head === "sum") return [row(sign("∑", { movablelimits: "true" }), inside(parts[0], 4)), NEGATIVE];
  if (head === "where") return [cases(parts, inside), ATOM];
  if (head === "call") return called(parts, leaf, inside, open);
  const [text, binds, right] = INFIX[head];
  const product = binds === 4;
  const operator = sign(text, { form: "infix", lspace: "0.25em", rspace: "0.25em" });
  return [row(drawn(parts[0], leaf, binds, product), operator, drawn(parts[1], leaf, right, product && open)), binds];
}

/** A number: with a sign it binds like a negation, and a complex one like a sum. */
function numeral(text) {
  if (/^-[^+-]*(e[+-]?\d+)?$/.test(text)) {
    return [row(sign("−", { form: "prefix" }), math("mn", {}, text.slice(1))), NEGATIVE];
  }
  return [math("mn", {}, text), /^[\d.]+(e[+-]?\d+)?$|^[a-zA-Z]+$/.test(text) ? ATOM : 2];
}

function called([name, ...parts], leaf, inside, open) {
  if (name === "sqrt") return [math("msqrt", {}, inside(parts[0])), ATOM];
  if (name === "cbrt") return [math("mroot", {}, inside(parts[0]), math("mn", {}, "3")), ATOM];
  if (name === "absolute" || name === "fabs") return [row(sign("|"), inside(parts[0]), sign("|")), ATOM];
  if (name === "conjugate") return [math("msup", {}, inside(parts[0], ATOM), sign("*")), POWER];
  const word = math("mi", { mathvariant: "normal" }, shorten(name));
  const given = parts.filter((part) => part?.[0] !== "name"); // a parameter that was not given
  if (PLAIN_CALLS.has(name) && given.length === 1 && !open) {
    const [node, binds] = shape(given[0], leaf, false);
    if (binds >= POWER) return [row(word, math("mspace", { width: "0.2em" }), node), APPLIED];
  }
  const comma = () => sign(",", { separator: "true" });
  const listed = given.flatMap((part, index) => [...(index ? [comma()] : []), inside(part)]);
  return [row(word, fenced(...listed)), ATOM];
}

function cases([condition, yes, no], inside) {
  const line = (value, ...words) => math("mtr", {}, math("mtd", {}, inside(value)), math("mtd", {}, ...words));
  const table = math("mtable", {}, line(yes, code("where\u00a0"), inside(condition)), line(no, code("elsewhere")));
  return row(sign("{", { stretchy: "true", form: "prefix" }), table);
}

/** A line of formulas with signs in between, given as [sign, node] pairs after the first node. */
export function equation(first, ...others) {
  const space = { form: "infix", lspace: "0.28em", rspace: "0.28em" };
  const parts = others.flatMap(([text, node]) => [sign(text, space), node]);
  return math("math", { displaystyle: "true" }, row(first, ...parts));
}
export const result = (text) => (/^[^\s[\]]+$/.test(text) && text.length < 26 ? numeral(text)[0] : code(text));
