/** What is known at each step of a trace: values, cotangents, states; read once, and then only looked up. */

import { UNKNOWN } from "./dom.js";
import { readOdd } from "./odd.js";
import SHARED from "../../text/shared.json" with { type: "json" };

/** The last of some changes, which are in order, that has happened at a step. */
export function latest(changes, step) {
  let [low, high] = [0, changes?.length ?? 0];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (changes[middle].step <= step) low = middle + 1;
    else high = middle;
  }
  return changes?.[low - 1];
}

/**
 * Reads the trace once, from beginning to end. Per step: the direction, the place in the code, and the backward pass
 * whose cotangents are on show (or null). Per tensor the values, and per tensor and entry the cotangents of each
 * pass, as changes, each {step, array}.
 */
export function readHistory(trace) {
  const { steps, tensors, entries } = trace;
  const [backward, pass, where] = [[], [], []];
  const [values, cotangents] = [tensors.map(() => []), tensors.map(() => new Map())];
  const [arrivals, appeared] = [entries.map(() => new Map()), entries.map(() => Infinity)];
  const note = (changes, number, change) => {
    if (!changes.has(number)) changes.set(number, []);
    changes.get(number).push(change);
  };
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
    const change = { step: number, array: step.kind === "accumulate" ? step.after : step.cotangent };
    if (step.kind === "seed" || step.kind === "accumulate") note(cotangents[step.tensor], step.pass, change);
    if (step.kind === "pull back") note(arrivals[step.entry], step.pass, change);
    const computes = SHARED.computing.includes(step.kind);
    const back = step.pass !== undefined || step.kind === "explain";
    backward.push(back || ((backward[number - 1] ?? false) && !computes));
    // An outer tape may record in the middle of an inner backward pass, whose cotangents stay; after it they go.
    const shown = pass[number - 1] ?? null;
    const over = step.kind === "reset" || (computes && number > passes.get(shown)?.last);
    pass.push(step.pass ?? (over ? null : shown));
    where.push(step.where ?? null);
  });
  const value = (tensor, number) => latest(values[tensor], number)?.array.text ?? UNKNOWN;
  const inPass = (changes, number) => latest(changes.get(pass[number]), number)?.array ?? null;
  const arrived = (entry, number) => inPass(arrivals[entry], number);
  const done = (entry, number) => (arrived(entry, number) ? "pulled" : computed[entry]);
  const state = (entry, number) =>
    steps[number].entry === entry ? "now" : appeared[entry] > number ? "waiting" : done(entry, number);
  const cotangent = (tensor, number) => inPass(cotangents[tensor], number);
  /** The step that pulls the entry back: in the pass on show, else in the first that does. */
  const pulled = (entry, number) => (arrivals[entry].get(pass[number]) ?? [...arrivals[entry].values()][0])?.[0].step;
  const turns = [...passes.values()].map(({ first }) => first);
  return { odd: readOdd(trace), backward, pass, where, appeared, turns, value, cotangent, arrived, state, pulled };
}
