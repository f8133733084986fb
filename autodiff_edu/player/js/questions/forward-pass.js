/** Predict's questions about what is computed: its value, its shape, and what the tape does with it. */

import { askChoice, askNumber, askShape, isNumber, numberIn, sameShape } from "../answers.js";
import { STRINGS } from "../strings.js";

const SHORT = 6; // characters of a number that can be worked out in the head
const MOST_OPTIONS = 4;

/**
 * `grouped` says whether the graph's groups tell how many entries there are.
 * @param {Trace} trace
 * @param {import("../history.js").History} history
 * @param {boolean} grouped
 * @param {import("./index.js").Named} named
 */
export function forwardQuestions({ steps, entries, tensors, formulas }, { appeared }, grouped, named) {
  const { name, whole, called } = named;
  const { hints, why, ...words } = STRINGS.predict;
  const followed = new Set(entries.flatMap(({ tapes, output }) => (tapes.length ? [output] : [])));
  for (const { kind, tensor } of steps) if (kind === "watch") followed.add(tensor);

  // Nobody is offered a cut who has never met one.
  const cuts = steps.some(({ kind }) => kind === "cut");
  /** @type {Record<string, string>} */
  const fated = words.recorded;
  const fates = Object.keys(fated).filter((fate) => fate !== "cut" || cuts);

  /** @type {(step: Step, number: number) => Question | null} */
  const value = ({ entry }, number) => {
    const { output, inputs, text } = entries[entry];
    const array = tensors[output].value;
    if (appeared[entry] < number || !isNumber(array)) return null; // an outer tape records what is known already
    if (array.text.length > SHORT) return null;
    const right = numberIn(array);
    /** @type {Mistake[]} */
    const given = inputs.map((input) => [Number(tensors[input].value.text), hints.input(name(input))]);
    /** @type {Mistake[]} */
    const mistakes = [...given, [-right, hints.sign], [1 / right, hints.reciprocal]];
    return askNumber(array, { prompt: words.value(name(output), text), mistakes, hint: hints.compute });
  };

  /**
   * Of shapes only those that are not simply the inputs' are worth a question.
   * @type {(step: Step, number: number) => Question | null}
   */
  const shape = ({ entry }, number) => {
    const { inputs, output, text } = entries[entry];
    const array = tensors[output].value;
    const others = inputs.filter((input) => !sameShape(tensors[input].value.shape, array.shape));
    if (appeared[entry] < number || !array.shape.length || !others.length || !array.dtype) return null;
    /** @type {Mistake[]} */
    const mistakes = others.map((input) => [tensors[input].value.shape, hints.inputShape(name(input))]);
    mistakes.push([array.shape.toReversed(), hints.reversed]);
    return askShape(array, { prompt: words.shapeOf(name(output), text), mistakes, hint: hints.shape });
  };

  /** @param {Step} step */
  const recorded = ({ kind, entry, tape }) => {
    const about = { prompt: words.willRecord(whole(entry), called(tape)), hint: hints.recorded };
    return askChoice(fates.map((fate) => fated[fate]), fated[kind], about);
  };

  /**
   * Which values the derivatives of an entry are written with. A number in the code is there anyway, and not asked for.
   * @param {Step} step
   */
  const kept = ({ entry }) => {
    const { contributions, inputs: all, output } = entries[entry];
    const inputs = all.filter((input) => followed.has(input) || tensors[input].name !== tensors[input].value.text);
    const given = /** @type {number[]} */ (entries[entry].arguments); // some are texts, which are not inputs
    /** @type {Set<number>} */
    const used = new Set();
    const read = (/** @type {Tree} */ tree) => {
      if (Array.isArray(tree)) tree.slice(1).forEach(read);
      else if (tree === "y") used.add(output);
      else if (inputs.includes(given[/** @type {number} */ (tree)])) used.add(given[/** @type {number} */ (tree)]);
    };
    const sent = contributions.filter((formula) => formula !== null);
    // Where nobody asked for a source, what would flow there is not written down.
    if (!sent.length || given.some((each, k) => followed.has(each) && contributions[k] === null)) return null;
    for (const formula of sent) read(["formula", formulas[formula]]);
    const order = [...new Set([...inputs, output])];
    /** @param {Set<number>} some */
    const written = (some) => order.filter((each) => some.has(each)).map(name).join(words.and) || words.nothing;
    const sets = [used, new Set(inputs), new Set([output]), new Set(), ...inputs.map((input) => new Set([input]))];
    const options = [...new Set(sets.map(written))].slice(0, MOST_OPTIONS).sort();
    const prompt = words.kept(whole(entry), inputs.length < all.length);
    const about = { prompt, hint: hints.kept, why: why.kept(written(used)) };
    return askChoice(options, written(used), about);
  };

  /**
   * How many entries a line adds: asked before the first of several operations.
   * @type {(step: Step, number: number) => Question | null}
   */
  const count = ({ where, tape }, number) => {
    /** @param {Step | undefined} step */
    const isHere = (step) => step?.tape === tape && ["record", "cut", "skip"].includes(step.kind) &&
      step.where?.code === where.code && step.where.line === where.line;
    if (!where || grouped) return null;
    const isBetween = (/** @type {Step | undefined} */ step) => step?.kind === "watch";
    let [start, end] = [number - 1, number];
    while (isBetween(steps[start])) start -= 1;
    if (isHere(steps[start])) return null;
    while (isHere(steps[end]) || isBetween(steps[end])) end += 1;
    const all = steps.slice(number, end).filter(isHere);
    const right = all.filter(({ kind }) => kind !== "skip").length;
    const about = { prompt: words.count(where.line, called(tape)), hint: hints.count };
    return all.length < 2 ? null : askNumber({ data: right, text: String(right) }, about);
  };

  /** @param {Step} step */
  const cut = ({ entry }) => {
    const { inputs: [input], output, operation } = entries[entry];
    const prompt = words.cut(whole(entry), name(output), name(input));
    /** @type {Partial<Question>} */
    const about = { prompt, mistakes: [["0", hints.zero]], hint: hints.recorded, why: why.stops(operation) };
    return askChoice(["0", "1", "None"], "None", about);
  };
  return { value, shape, recorded, kept, count, cut };
}
