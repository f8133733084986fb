/** The formula of an assignment, W := W − 0.5 · W̄: a variable's new value from its old one and its cotangent. */

import { drawBarName, drawName, drawTree, equation } from "./formula.js";

/**
 * The formula in names and, where all of it is numbers, in numbers.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {number} number
 * @param {{ short: (array: NDArray | null) => string | null, outcome: (array: NDArray | null) => Element[] }} written
 */
export function drawUpdate({ steps, tensors, formulas }, history, number, { short, outcome }) {
  const { tensor, value, formula, from = tensor } = steps[number];
  const { name } = tensors[from];
  const tree = formulas[formula];
  const before = number ? history.known(from, number - 1) : null;
  const numberOf = (/** @type {Leaf} */ leaf) => short(leaf === "g" ? history.cotangent(from, number) : before);
  const hasNames = /"(bar|name)"/.test(JSON.stringify(tree)); // of other variables, or of the program's own lines
  const isKnown = !hasNames && short(value) !== null && [0, "g"].every((leaf) => numberOf(/** @type {Leaf} */ (leaf)));
  const symbolic = drawTree(tree, (leaf) => ({ node: (leaf === "g" ? drawBarName : drawName)(name) }));
  const numeric = isKnown ? [drawTree(tree, (leaf) => ({ number: numberOf(leaf) }))] : [];
  const others = [...numeric, ...outcome(value)].map((node) => /** @type {[string, Element]} */ (["=", node]));
  return equation(drawName(tensors[tensor].name), [":=", symbolic], ...others);
}
