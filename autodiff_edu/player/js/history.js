/** What is known at each step of a trace: values, cotangents, states; worked out once, then looked up. */

import { UNKNOWN } from "./dom.js";
import { readNonfinite } from "./nonfinite.js";
import { STRINGS } from "./strings.js";

/** @typedef {ReturnType<typeof readHistory>} History */

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
 * Applies the `states` of the trace from the first step to the last. For each step: the direction, the place in the
 * code, the pass whose cotangents or tangents are on show (or null), whether that pass, or else the next, pushes
 * `tangents`, whether it is part of an `update` of variables, and the tapes that are `paused`. For each tensor the
 * values, and for each tensor and entry the cotangents or tangents of each pass, as changes: {step, array}.
 * @param {Trace} trace
 */
export function readHistory(trace) {
  const { steps, states, tensors, entries } = trace;
  /** @typedef {Record<"backward" | "tangents" | "update" | "over", boolean>} Flags */
  /** @type {(Flags & { pass: number | null, paused: number[] })[]} */
  const flags = [];
  /** @typedef {Map<number, Change[]>} ByPass */
  const values = tensors.map(() => /** @type {Change[]} */ ([]));
  const [cotangents, arrivals] = [tensors, entries].map((some) => some.map(() => /** @type {ByPass} */ (new Map())));
  const [appeared, computed] = [entries.map(() => Infinity), entries.map(() => "waiting")];
  const unconnected = tensors.map(() => /** @type {Map<number, number>} */ (new Map())); // by pass: since which step
  const lanes = entries.map(() => /** @type {Map<number, { step: number, fate: string }[]>} */ (new Map())); // by tape
  /** @type {<V>(lists: Map<number, V[]>, key: number, item: V) => void} */
  const note = (lists, key, item) => {
    if (!lists.has(key)) lists.set(key, []);
    lists.get(key).push(item);
  };
  states.forEach(({ values: known = [], unconnected: missed = [], lanes: begun = [], flow, fate, ...flag }, step) => {
    const before = flags.at(-1) ??
      { backward: false, tangents: false, update: false, over: false, pass: null, paused: [] };
    const now = { ...before, ...flag };
    flags.push(now);
    const { tensor, entry, value } = steps[step];
    for (const each of known) values[each].push({ step, array: value ?? tensors[each].value });
    for (const each of missed) unconnected[each].set(now.pass, step);
    for (const [each, tape, word] of begun) note(lanes[each], tape, { step, fate: word });
    if (flow) {
      const change = { step, array: steps[step][flow], fate };
      if (tensor !== undefined) note(cotangents[tensor], now.pass, change);
      if (fate) note(arrivals[entry], now.pass, change);
    } else if (fate) [appeared[entry], computed[entry]] = [step, fate];
  });
  const [backward, tangents] = [flags.map((each) => each.backward), flags.map((each) => each.tangents)];
  const [pass, paused] = [flags.map((each) => each.pass), flags.map((each) => each.paused)];
  const update = flags.map((each) => each.update);
  const first = new Map(steps.map((step, number) => /** @type {const} */ ([step.pass, number])).reverse()); // by pass
  first.delete(undefined);
  const turns = [...first.values()].sort((a, b) => a - b);
  /** @type {(tensor: number, number: number) => NDArray | null} */
  const known = (tensor, number) => latest(values[tensor], number)?.array ?? null;
  /** @type {(tensor: number, number: number) => string} */
  const value = (tensor, number) => known(tensor, number)?.text ?? UNKNOWN;
  /** @type {(changes: ByPass, number: number) => Change | undefined} */
  const inPass = (changes, number) => latest(changes.get(pass[number]), number);
  /** @type {(entry: number, number: number) => NDArray | null} */
  const arrived = (entry, number) => inPass(arrivals[entry], number)?.array ?? null;
  /** @type {(entry: number, number: number) => string} */
  const done = (entry, number) => inPass(arrivals[entry], number)?.fate ?? computed[entry];
  /** @type {(entry: number, number: number) => string} */
  const state = (entry, number) =>
    steps[number].entry === entry ? "now" : appeared[entry] > number ? "waiting" : done(entry, number);
  /** @type {(tensor: number, number: number) => NDArray | null} */
  const cotangent = (tensor, number) => inPass(cotangents[tensor], number)?.array ?? null;
  /**
   * What each backward pass has for a tensor in the end, at the step that adds the last part.
   * @param {number} tensor
   */
  const totals = (tensor) => [...cotangents[tensor].values()].flatMap((changes) => {
    const total = changes.at(-1);
    return steps[total.step].tangent ? [] : [total];
  });
  /**
   * Whether tangents are on show at a step that is not one of a backward pass.
   * @param {number} number
   */
  const pushing = (number) => !backward[number] && pass[number] !== null && tangents[number];
  /**
   * What goes on at a step, as the heading says it: strings.js has its words. Steps in a row with the same are a phase.
   * @param {number} number
   * @returns {"forward" | "backward" | "tangents" | "update" | "over" | "explain" | "error"}
   */
  const phase = (number) => {
    const { kind, within } = steps[number];
    if (kind === "error" || kind === "explain") return kind;
    if (flags[number].over) return "over";
    if (update[number]) return "update";
    return backward[number] || within !== undefined ? "backward" : pushing(number) ? "tangents" : "forward";
  };
  /**
   * The step at which a pass comes to the entry: the pass on show, else the first that does.
   * @type {(entry: number, number: number) => number | undefined}
   */
  const pulled = (entry, number) => (arrivals[entry].get(pass[number]) ?? [...arrivals[entry].values()][0])?.[0].step;
  /**
   * Whether the pass on show has ended without reaching a tensor that it might have reached.
   * @type {(tensor: number, number: number) => boolean}
   */
  const missed = (tensor, number) => unconnected[tensor].get(pass[number]) <= number;
  /**
   * What a tape has of an entry, as document.py says; "" for nothing.
   * @type {(entry: number, tape: number, number: number) => string}
   */
  const lane = (entry, tape, number) => latest(lanes[entry].get(tape), number)?.fate ?? "";
  /** @param {number} tape */
  const tapeName = (tape) => (trace.tapes.length === 1 ? STRINGS.tape.only : trace.tapes[tape].name);
  const where = steps.map((step) => step.where ?? null);
  const ofSteps = { odd: readNonfinite(trace), backward, update, phase, pass, tangents, pushing, paused, where, turns };
  const looked = { known, value, cotangent, totals, arrived, state, pulled, missed, lane };
  return { ...ofSteps, ...looked, changes: values, computed, appeared, tapeName };
}
