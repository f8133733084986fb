/** The bytes that tapes hold, rising and falling: at a step, and as a curve where something runs again to save them. */

import { latest } from "./history.js";
import { STRINGS } from "./strings.js";

/**
 * `bytes(tape, step)` is what a tape holds after a step, undefined before its first; `change` is what the step did.
 * @param {Pick<Trace, "steps" | "tapes">} trace
 */
export function readMemory({ steps, tapes }) {
  const changes = tapes.map(() => /** @type {{ step: number, bytes: number }[]} */ ([]));
  steps.forEach(({ memory, tape }, step) => {
    if (memory != null) changes[tape].push({ step, bytes: memory });
  });
  const bytes = (/** @type {number} */ tape, /** @type {number} */ step) => latest(changes[tape], step)?.bytes;
  const change = (/** @type {number} */ tape, /** @type {number} */ step) =>
    (bytes(tape, step) ?? 0) - (bytes(tape, step - 1) ?? 0);
  return { bytes, change };
}

/**
 * What all tapes hold together, for curves.js; nothing where no checkpoint runs again.
 * @param {Pick<Trace, "steps" | "tapes">} trace
 */
export function memoryCurve({ steps, tapes }) {
  if (!tapes.some(({ reruns }) => reruns)) return [];
  const held = tapes.map(() => 0);
  const points = steps.flatMap(({ memory, tape }, step) => {
    if (memory == null || memory === held[tape]) return [];
    held[tape] = memory;
    const height = held.reduce((sum, each) => sum + each, 0);
    return [{ step, text: String(height), scalar: true, height }];
  });
  return [{ name: STRINGS.strip.memory, rank: -1, points }];
}
