/** The formula of an assignment, W := W − 0.5 · W̄: a variable's new value from its old one and its cotangent. */

import { drawBarName, drawName, drawTree, equation } from "./formula.js";

/** @typedef {Pick<NDArray, "shape" | "text">} Short */

/**
 * The formula in names and, where all of it is numbers, in numbers.
 * @param {Trace} trace
 * @param {number} number
 * @param {{ short: (array: Short) => string | null, outcome: (array: NDArray | null) => Element[] }} written
 */
export function drawUpdate({ steps, tensors, formulas }, number, { short, outcome }) {
  const { tensor, value, formula, in_numbers: inNumbers, numbers, from = tensor } = steps[number];
  const { name } = tensors[from];
  const symbolic = drawTree(formulas[formula], (leaf) => ({ node: (leaf === "g" ? drawBarName : drawName)(name) }));
  const numberOf = (/** @type {Leaf} */ leaf) => short({ shape: [], text: numbers[/** @type {number} */ (leaf)] });
  const numeric = numbers ? [drawTree(formulas[inNumbers], (leaf) => ({ number: numberOf(leaf) }))] : [];
  const others = [...numeric, ...outcome(value)].map((node) => /** @type {[string, Element]} */ (["=", node]));
  return equation(drawName(tensors[tensor].name), [":=", symbolic], ...others);
}
