/** What is known at each step of a trace: values, cotangents, states; read once, and then only looked up. */

import { UNKNOWN } from "./dom.js";
import { readOdd } from "./odd.js";
import SHARED from "../../text/shared.json" with { type: "json" };

/**
 * Reads the trace once, from beginning to end. Per step: the direction, the place in the code, and the backward pass
 * whose cotangents are on show (or null). Per tensor and entry: the changes, each {step, pass, array}.
 */
export function readHistory(trace) {
  const { steps, tensors, entries } = trace;
  const [backward, pass, where] = [[], [], []];
  const [values, cotangents] = [tensors.map(() => []), tensors.map(() => [])];
  const [arrivals, appeared] = [entries.map(() => []), entries.map(() => Infinity)];
  const computed = entries.map(() => "recorded");
  const passes = new Map();
  steps.forEach((step, number) => {
    if (step.pass !== undefined) passes.set(step.pass, { first: number, ...passes.get(step.pass), last: number });
  });
  steps.forEach((step, number) => {
    const know = (tensor, array) => {
      if (array || !values[tensor].length) values[tensor].push({ step: number, array: array ?? tensors[tensor].value });
    };
    const entry = entries[step.entry];
    if (entry && step.pass === undefined) {
      appeared[step.entry] = Math.min(appeared[step.entry], number);
      const skipped = step.kind === "skip" && entry.tapes.length === 0; // by every tape
      if (skipped || step.kind === "cut") computed[step.entry] = step.kind;
      for (const tensor of [...entry.inputs, entry.output]) know(tensor);
    }
    if (step.tensor !== undefined) know(step.tensor, step.kind === "assign" ? step.value : null);
    const change = { step: number, pass: step.pass, array: step.kind === "accumulate" ? step.after : step.cotangent };
    if (step.kind === "seed" || step.kind === "accumulate") cotangents[step.tensor].push(change);
    if (step.kind === "pull back") arrivals[step.entry].push(change);
    const computes = SHARED.computing.includes(step.kind);
    const back = step.pass !== undefined || step.kind === "explain";
    backward.push(back || ((backward[number - 1] ?? false) && !computes));
    // An outer tape may record in the middle of an inner backward pass, whose cotangents stay; after it they go.
    const shown = pass[number - 1] ?? null;
    const over = step.kind === "reset" || (computes && number > passes.get(shown)?.last);
    pass.push(step.pass ?? (over ? null : shown));
    where.push(step.where ?? null);
  });
  const value = (tensor, number) => values[tensor].findLast((change) => change.step <= number)?.array.text ?? UNKNOWN;
  const inPass = (changes, number) =>
    changes.findLast((change) => change.step <= number && change.pass === pass[number])?.array ?? null;
  const arrived = (entry, number) => inPass(arrivals[entry], number);
  const done = (entry, number) => (arrived(entry, number) ? "pulled" : computed[entry]);
  const state = (entry, number) =>
    steps[number].entry === entry ? "now" : appeared[entry] > number ? "waiting" : done(entry, number);
  const cotangent = (tensor, number) => inPass(cotangents[tensor], number);
  /** The step that pulls the entry back: in the pass on show, else in the first that does. */
  const pulled = (entry, number) =>
    (arrivals[entry].find((at) => at.pass === pass[number]) ?? arrivals[entry][0])?.step;
  const turns = [...passes.values()].map(({ first }) => first);
  return { odd: readOdd(trace), backward, pass, where, appeared, turns, value, cotangent, arrived, state, pulled };
}
