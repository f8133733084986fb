/** What is known at each step of a trace: values, cotangents, states; read once, and then only looked up. */

import { UNKNOWN } from "./dom.js";
import { readOdd } from "./odd.js";
import { STRINGS } from "./strings.js";
import * as SHARED from "../../text/shared.json";

/** @typedef {ReturnType<typeof readHistory>} History */

/** What happens in a pass that pushes tangents forward; in all other passes cotangents are pulled back. */
const PUSHES = ["move", "push forward"];

/**
 * The last of some changes, which are in order, that has happened at a step.
 * @template {{ step: number }} C
 * @param {C[] | undefined} changes
 * @param {number} step
 * @returns {C | undefined}
 */
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
 * Reads the trace once, from beginning to end. Per step: the direction, the place in the code, the pass whose
 * cotangents or tangents are on show (or null), and whether these, or else those of the next pass, are `tangents`.
 * Per tensor the values, and per tensor and entry the cotangents or tangents of each pass, as changes, each
 * {step, array}.
 * @param {Trace} trace
 */
export function readHistory(trace) {
  const { steps, tensors, entries } = trace;
  /** @type {[boolean[], (number | null)[], (Where | null)[]]} */
  const [backward, pass, where] = [[], [], []];
  /** @typedef {Map<number, Change[]>} ByPass */
  /** @type {[Change[][], ByPass[]]} */
  const [values, cotangents] = [tensors.map(() => /** @type {Change[]} */ ([])), tensors.map(() => new Map())];
  /** @type {[ByPass[], number[]]} */
  const [arrivals, appeared] = [entries.map(() => new Map()), entries.map(() => Infinity)];
  /** @type {(changes: ByPass, number: number, change: Change) => void} */
  const note = (changes, number, change) => {
    if (!changes.has(number)) changes.set(number, []);
    changes.get(number).push(change);
  };
  const computed = entries.map(() => "recorded");
  /** @type {Map<number, { first: number, last: number, forward: boolean }>} */
  const passes = new Map();
  steps.forEach((step, number) => {
    if (step.pass === undefined) return;
    const forward = PUSHES.includes(step.kind);
    passes.set(step.pass, { first: number, forward, ...passes.get(step.pass), last: number });
  });
  steps.forEach((step, number) => {
    /** @type {(tensor: number, array?: NDArray) => void} */
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
    const change = { step: number, array: step.after ?? step.cotangent ?? step.tangent };
    if (change.array && step.tensor !== undefined) note(cotangents[step.tensor], step.pass, change);
    if (step.kind === "pull back" || step.kind === "push forward") note(arrivals[step.entry], step.pass, change);
    const [computes, pushes] = [SHARED.computing, PUSHES].map((kinds) => kinds.includes(step.kind));
    const back = step.pass !== undefined || step.kind === "explain";
    backward.push(!pushes && (back || ((backward[number - 1] ?? false) && !computes)));
    // An outer tape may record in the middle of an inner backward pass, whose cotangents stay; after it they go.
    const shown = pass[number - 1] ?? null;
    const over = step.kind === "reset" || (computes && number > passes.get(shown)?.last);
    pass.push(step.pass ?? (over ? null : shown));
    where.push(step.where ?? null);
  });
  /** @type {boolean[]} */
  const tangents = [];
  for (let number = steps.length - 1, next = /** @type {number | null} */ (null); number >= 0; number--) {
    next = steps[number].pass ?? next;
    tangents[number] = passes.get(pass[number] ?? next)?.forward ?? false;
  }
  /** @type {(tensor: number, number: number) => NDArray | null} */
  const known = (tensor, number) => latest(values[tensor], number)?.array ?? null;
  /** @type {(tensor: number, number: number) => string} */
  const value = (tensor, number) => known(tensor, number)?.text ?? UNKNOWN;
  /** @type {(changes: ByPass, number: number) => NDArray | null} */
  const inPass = (changes, number) => latest(changes.get(pass[number]), number)?.array ?? null;
  /** @type {(entry: number, number: number) => NDArray | null} */
  const arrived = (entry, number) => inPass(arrivals[entry], number);
  /** @type {(entry: number, number: number) => string} */
  const done = (entry, number) => (!arrived(entry, number) ? computed[entry] : tangents[number] ? "pushed" : "pulled");
  /** @type {(entry: number, number: number) => string} */
  const state = (entry, number) =>
    steps[number].entry === entry ? "now" : appeared[entry] > number ? "waiting" : done(entry, number);
  /** @type {(tensor: number, number: number) => NDArray | null} */
  const cotangent = (tensor, number) => inPass(cotangents[tensor], number);
  /**
   * Whether tangents are on show at a step that is not one of a backward pass.
   * @param {number} number
   */
  const pushing = (number) => !backward[number] && pass[number] !== null && tangents[number];
  /**
   * The step at which a pass comes to the entry: the pass on show, else the first that does.
   * @type {(entry: number, number: number) => number | undefined}
   */
  const pulled = (entry, number) => (arrivals[entry].get(pass[number]) ?? [...arrivals[entry].values()][0])?.[0].step;
  /** @param {number} tape */
  const tapeName = (tape) => (trace.tapes.length === 1 ? STRINGS.tape.only : trace.tapes[tape].name);
  const turns = [...passes.values()].map(({ first }) => first);
  const found = { odd: readOdd(trace), backward, pass, tangents, pushing, where, appeared, turns };
  return { ...found, tapeName, changes: values, known, value, cotangent, arrived, state, pulled };
}
