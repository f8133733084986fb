/** Predict's question about a tangent: how far an operation's output moves, given how far its inputs do. */

import { askNumber, askShape, isNumber, numberIn, sameShape } from "../answers.js";
import { STRINGS } from "../strings.js";

/**
 * @param {Trace} trace
 * @param {import("../history.js").History} history
 * @param {import("./index.js").Named} named
 */
export function tangentQuestions({ entries, tensors }, history, { name, whole, factor }) {
  const { hints, ...words } = STRINGS.predict;
  /** @type {(moving: number[], mistake: (k: number, index: number) => Mistake) => Mistake[]} */
  const mistaken = (moving, mistake) => moving.map(mistake);

  /** @type {(step: Step, number: number) => Question | null} */
  const pushed = ({ entry, tangent, contributions }, number) => {
    const { output } = entries[entry];
    const given = /** @type {number[]} */ (entries[entry].arguments); // some are texts, which do not move
    const tangents = given.map((each) => (Number.isInteger(each) ? history.cotangent(each, number) : null));
    const moving = [...given.keys()].filter((k) => tangents[k]);
    const prompt = (/** @type {"number" | "shape"} */ asks) => words.pushes[asks](name(output), whole(entry));
    if (!moving.length || !tangent.dtype) return null;
    const value = tensors[output].value;
    const known = (/** @type {number} */ k) => tensors[given[k]].value;
    if (tangent.shape.length) {
      const stacked = tangent.shape.length > value.shape.length;
      if (!stacked && moving.every((k) => sameShape(tangents[k].shape, tangent.shape))) return null; // says nothing
      /** @type {Mistake[]} */
      const mistakes = [
        [value.shape, stacked && hints.stacked(tangent.shape[0])],
        ...mistaken(moving, (k) => [tangents[k].shape, hints.tangentShape(name(given[k]))]),
        [tangent.shape.toReversed(), hints.reversed],
      ];
      return askShape(tangent, { prompt: prompt("shape"), mistakes, hint: hints.likeOutput });
    }
    if (![tangent, ...moving.map((k) => tangents[k])].every(isNumber)) return null;
    const parts = moving.map((k) => numberIn(contributions?.[k] ?? tangent));
    const locals = moving.map((k, index) => parts[index] / numberIn(tangents[k]));
    const right = numberIn(tangent);
    const several = moving.length > 1;
    const slope = (/** @type {number} */ k) => hints.slope(factor(entry, k), tangents[k].text);
    /** @type {Mistake[]} */
    const all = [
      ...mistaken(moving, (k, index) => [parts[index], several && hints.part(name(given[k]))]),
      [locals.reduce((sum, local) => sum + local), several ? hints.locals : slope(moving[0])],
      ...mistaken(moving, (k, index) => [locals[index], slope(k)]),
      ...mistaken(moving, (k) => [numberIn(tangents[k]), hints.moved(name(given[k]))]),
      [-right, hints.sign],
      [numberIn(value), hints.valueNotTangent(name(output))],
      ...mistaken(moving, (k) => [numberIn(known(k)), hints.valueNotTangent(name(given[k]))]),
      [1 / right, hints.reciprocal],
      [null, hints.path],
    ];
    const mistakes = all.filter(([wrong]) => wrong === null || Number.isFinite(wrong));
    return askNumber(tangent, { prompt: prompt("number"), mistakes, hint: several ? hints.pushAll : hints.push });
  };
  return { pushed };
}
