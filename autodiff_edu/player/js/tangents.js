/** Tangents, for the panel: which arguments of an entry move, how that moves its output, and what adds up. */

import { UNKNOWN } from "./dom.js";
import { drawDotName, drawTree, equation } from "./formula.js";
import { STRINGS } from "./strings.js";

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 */
export function tangentsOf(trace, history) {
  /** @type {(entry: number, argument: number, number: number) => NDArray | null} */
  const tangent = (entry, argument, number) =>
    history.cotangent(/** @type {number} */ (trace.entries[entry].arguments[argument]), number);
  /**
   * The arguments that move; before a pass has come to the entry, all that can.
   * @type {(entry: number, number: number) => number[]}
   */
  const moving = (entry, number) => {
    const { pushes = [] } = trace.entries[entry];
    const known = history.arrived(entry, number);
    return [...pushes.keys()].filter((k) => pushes[k] !== null && (!known || tangent(entry, k, number)));
  };

  /**
   * How the tangents of the arguments add up to the output's, in names and, once they are known, in numbers. The panel
   * gives the `name` and the `value` of a leaf of a tree, a `short` text for a value, and what to draw as an `outcome`.
   * @type {(entry: number, number: number, panel: {
   *   name: (entry: number, moving: number) => import("./formula.js").Leaves,
   *   short: (array: NDArray | null) => string | null,
   *   value: (entry: number, leaf: "y" | number, number: number) => NDArray | null,
   *   outcome: (array: NDArray) => Element[],
   * }) => Element}
   */
  const formula = (entry, number, { name, short, value, outcome }) => {
    const { output, pushes } = trace.entries[entry];
    const arrived = history.arrived(entry, number);
    let all = true;
    /** @type {(k: number) => import("./formula.js").Leaves} */
    const numeral = (k) => (leaf) => {
      const known = short(leaf === "g" ? tangent(entry, k, number) : value(entry, leaf, number));
      all &&= known !== null;
      return { number: known ?? UNKNOWN };
    };
    /** @type {(leaves: (k: number) => import("./formula.js").Leaves) => [sign: string, node: Element][]} */
    const sum = (leaves) => moving(entry, number).map((k, index) =>
      [index ? "+" : "=", drawTree(trace.formulas[pushes[k]], leaves(k), index ? 3 : 0)]);
    const lines = [sum((k) => name(entry, k))];
    const numeric = arrived ? sum(numeral) : [];
    if (arrived) {
      lines.push(...(all ? [numeric] : []), outcome(arrived).map((node) =>
        /** @type {[string, Element]} */ (["=", node])));
    }
    const said = (/** @type {[string, Element][]} */ line) => line.map(([, node]) => node.textContent).join("+");
    const differ = lines.filter((line, index) => !index || said(line) !== said(lines[index - 1]));
    return equation(drawDotName(trace.tensors[output].name), ...differ.flat());
  };

  /**
   * What is shown of a tangent's sum: two parts, or one and nothing else, and what they add up to.
   * @param {Step} step
   * @param {number} number
   */
  const sum = ({ kind, entry, tensor, tangent: total, contributions }, number) => {
    if (!history.tangents[number]) return null;
    const { name } = trace.tensors[tensor ?? trace.entries[entry]?.output] ?? { name: "" };
    /** @type {NDArray} */
    const nothing = { text: STRINGS.panel.nothingElse, shape: [], dtype: "", data: null };
    const parts = kind === "push forward" ? moving(entry, number) : [];
    const of = (/** @type {number} */ k) =>
      STRINGS.panel.from(trace.tensors[/** @type {number} */ (trace.entries[entry].arguments[k])].name);
    const arrays = parts.map((k) => contributions?.[k] ?? total);
    if (parts.length === 1) arrays.push(nothing);
    const two = arrays.length === 2 ? arrays : [null, null];
    const labels = [0, 1].map((index) => (two[index] && parts[index] !== undefined ? of(parts[index]) : "\u00a0"));
    return { name, arrays: [...two, total ?? null], labels, active: two === arrays };
  };
  return { formula, sum };
}
