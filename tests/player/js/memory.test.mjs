import assert from "node:assert/strict";
import { test } from "node:test";

import { readCurves } from "../../../autodiff_edu/player/js/curves.js";
import { memoryCurve, readMemory } from "../../../autodiff_edu/player/js/memory.js";
import { traces } from "./traces.mjs";

const tapes = [{ name: "tape", persistent: false }, { name: "the rerun of f", persistent: false, reruns: "f" }];
const steps = [
  { kind: "line", tape: null, memory: null }, { kind: "record", tape: 0, memory: 16 },
  { kind: "pull back", tape: 0, memory: 8 }, { kind: "record", tape: 1, memory: 24 },
  { kind: "seed", tape: 1, memory: 24 }, { kind: "release", tape: 1, memory: 0 },
  { kind: "release", tape: 0, memory: 0 },
];

test("the bytes of a tape after each step, and what the step did to them", () => {
  const { bytes, change } = readMemory({ steps, tapes });
  assert.deepEqual(steps.map((_, step) => bytes(0, step)), [undefined, 16, 8, 8, 8, 8, 0]);
  assert.deepEqual(steps.map((_, step) => change(0, step)), [0, 16, -8, 0, 0, 0, -8]);
  assert.deepEqual(steps.map((_, step) => change(1, step)), [0, 0, 0, 24, 0, -24, 0]);
});

test("where a checkpoint runs again, the bytes of all tapes together are the first curve", () => {
  const [{ points }] = memoryCurve({ steps, tapes });
  assert.deepEqual(points.map(({ step, height }) => [step, height]), [[1, 16], [2, 8], [3, 32], [5, 8], [6, 0]]);
  const [{ name, low, high }] = readCurves({ steps, tapes, tensors: [] }, { changes: [] });
  assert.deepEqual([name, low, high], ["bytes held", 0, 32]);
  assert.deepEqual(memoryCurve({ steps, tapes: [tapes[0]] }), []);
  assert.deepEqual(memoryCurve(traces.two_tapes.document), []);
});
