/**
 * Predict: what is asked before a step is shown, worked out from the trace document alone.
 *
 * A question is {asks, prompt, right, shown, options, mistakes, hint, why}: `asks` is "number", "shape" or
 * "choice" (among `options`), `shown` the right answer as text; `mistakes` lists what is often answered instead, each
 * [answer, hint]; `hint` is for any other; `why` is said with the answer.
 */

import { backwardQuestions } from "./backward-pass.js";
import { compilerPassQuestions } from "./compiler-passes.js";
import { contourQuestions } from "./contours.js";
import { forwardQuestions } from "./forward-pass.js";
import { STRINGS } from "../strings.js";
import { tangentQuestions } from "./tangents.js";

/**
 * @typedef {object} Named
 * @property {(tensor: number) => string} name
 * @property {(entry: number) => string} whole
 * @property {(tape: number) => string} called
 * @property {(entry: number, argument: number) => string} factor
 */
/** @typedef {(step: any, number?: number, ask?: any) => Question | null} Maker */

/** Of these kinds a program asks a few and no more: they are about what the tape does, which is the same each time. */
const MOST = /** @type {Record<string, number>} */ ({ recorded: 2, kept: 2, count: 1, next: 3, fate: 2, cut: 2 });
/** @type {Record<string, string[]>} */
const KINDS = {
  record: ["count", "value", "shape", "kept", "recorded"], skip: ["recorded"], cut: ["cut", "recorded"],
  seed: ["fate"], "pull back": ["next"], accumulate: ["sum"], "push forward": ["pushed"], iterate: ["longer", "curves"],
  compile: ["taken"],
};

/**
 * The questions of a trace: `at(step)` is the one about a step, or null; `about(ask)` one that a drill asks.
 * @param {Trace} trace
 * @param {import("../history.js").History} history
 * @param {boolean} grouped
 */
export function questionsOf(trace, history, grouped) {
  const name = (/** @type {number} */ tensor) => trace.tensors[tensor].name;
  const whole = (/** @type {number} */ entry) => `${name(trace.entries[entry].output)} = ${trace.entries[entry].text}`;
  const called = history.tapeName;
  /** @type {Named["factor"]} */
  const factor = (entry, argument) => {
    const { arguments: given, output } = trace.entries[entry];
    const tensor = /** @type {number} */ (given[argument]);
    return STRINGS.predict.factor(name(output), name(tensor), given.lastIndexOf(tensor) > given.indexOf(tensor));
  };
  const named = { name, whole, called, factor };
  const both = { ...forwardQuestions(trace, history, grouped, named), ...backwardQuestions(trace, history, named) };
  const others = {
    ...tangentQuestions(trace, history, named), ...contourQuestions(trace), ...compilerPassQuestions(trace),
  };
  /** @type {Record<string, Maker>} */
  const makers = { ...both, ...others };
  const about = (/** @type {Ask} */ ask) => {
    const step = trace.steps[ask.step];
    const question = makers[ask.kind](step, ask.step, ask);
    // Where the sentence says "0 up to rounding", 0 is right.
    if (Math.abs(/** @type {any} */ (question?.right)) < 1e-12 && step.text.includes("(0 up")) question.right = 0;
    return question;
  };

  /** The least recent of the kinds that a step allows; only first and whole sums may be a third in a row. */
  const choose = () => {
    /** @type {[Map<number, Question>, Record<string, number>, Record<string, number>, Set<unknown>, string[]]} */
    const [found, asked, latest, done, row] = [new Map(), {}, {}, new Set(), [null, null]];
    /** Whether a step is an outer tape's record of the sum that the next step describes. */
    const isSum = (/** @type {number} */ number) => {
      const [step, next] = trace.steps.slice(number, number + 2);
      return step?.kind === "record" && next?.count > 1 &&
        trace.tensors[trace.entries[step.entry].output].value.text === next.after.text;
    };
    trace.steps.forEach((_, number) => {
      if (isSum(number - 1)) return;
      const at = isSum(number) ? number + 1 : number;
      const { kind, where, argument, count, of, contributions } = trace.steps[at];
      const isWhole = (of > 1 && count === of) || contributions; // the sum that all went for
      const sum = isWhole ? "whole" : count === 2 ? "first" : "";
      // Each turn of a loop does the same, and is asked about once; so is the sum of what they all send.
      /** @param {string} each */
      const place = (each) => where && [each, where.code, where.line, where.columns, argument, sum].join();
      const isVaried = (/** @type {string} */ each) => kind === "compile" || row.some((before) => before !== each);
      /** @param {string} each */
      const isFree = (each) => !(asked[each] >= MOST[each]) && !done.has(place(each)) && (sum || isVaried(each));
      const free = (number && KINDS[kind]?.filter(isFree)) || [];
      free.sort((one, other) => (latest[one] ?? -1) - (latest[other] ?? -1));
      for (const each of free) {
        const question = about({ kind: each, step: at });
        if (!question) continue;
        found.set(number, question);
        [asked[each], latest[each]] = [(asked[each] ?? 0) + 1, number];
        if (where) done.add(place(each));
        row.push(each);
        row.shift();
        return;
      }
    });
    return found;
  };
  /** @type {Map<number, Question> | null} */
  let chosen = null;
  return { at: (/** @type {number} */ number) => (chosen ??= choose()).get(number) ?? null, about };
}
