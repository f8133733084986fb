import assert from "node:assert/strict";
import { test } from "node:test";

import { readCuts } from "../../../autodiff_edu/player/js/cuts.js";
import { readHistory } from "../../../autodiff_edu/player/js/history.js";
import { traces } from "./traces.mjs";

const read = ({ document }) => ({ document, cuts: readCuts(document, readHistory(document)) });
const stepsOf = ({ steps }, kind, wanted = {}) => [...steps.keys()].filter((step) =>
  steps[step].kind === kind && Object.entries(wanted).every(([key, value]) => steps[step][key] === value));

test("what is cut, skipped, computed in a pause or never reached is marked", () => {
  const { document, cuts } = read(traces.marks);
  const last = document.steps.length - 1;
  const output = (start) => document.entries.find(({ text }) => text.startsWith(start)).output;
  assert.equal(cuts.mark(output("fixed * fixed"), last), "skip");
  assert.equal(cuts.mark(output("x * 5"), last), "unconnected");
  assert.equal(cuts.mark(output("x * 5"), 0), null, "not before the pass has ended");
  assert.equal(cuts.mark(document.entries.at(-1).output, last), null);
  const cut = document.entries.findIndex(({ text }) => text.startsWith("stop_gradient"));
  assert.equal(cuts.stops(cut), "cut");
  assert.equal(cuts.stops(document.entries.findIndex(({ text }) => text === "x * 5")), undefined);

  const paused = read(traces.stopped);
  const [during] = paused.document.entries.filter(({ tapes }) => !tapes.length);
  assert.equal(paused.cuts.mark(during.output, paused.document.steps.length - 1), "paused");
  const [pause, resume] = ["pause", "resume"].map((kind) => stepsOf(paused.document, kind)[0]);
  const names = [pause - 1, pause, resume - 1, resume].map(paused.cuts.paused);
  assert.deepEqual(names, [[], ["the tape"], ["the tape"], []]);
});

test("a tensor leads to where it is computed, and in a backward pass to where it is pulled back or added to", () => {
  const { document, cuts } = read(traces.diamond);
  const last = document.steps.length - 1;
  document.entries.forEach(({ output, inputs }, entry) => {
    const [record] = stepsOf(document, "record", { entry });
    const [pulled] = stepsOf(document, "pull back", { entry });
    assert.equal(cuts.stepOfTensor(output, 0), record);
    assert.equal(cuts.stepOfTensor(output, last), pulled);
    assert.equal(cuts.stepOfEntry(entry, 0), record);
    assert.equal(cuts.stepOfEntry(entry, last), pulled);
    inputs.forEach((_, input) => {
      assert.equal(cuts.stepOfUse(entry, input, 0), record);
      const argument = document.entries[entry].arguments.findIndex((__, k) => cuts.inputOf(entry, k) === input);
      assert.equal(cuts.stepOfUse(entry, input, last), stepsOf(document, "accumulate", { entry, argument })[0]);
      assert.ok(cuts.flowsBack(entry, input));
    });
  });
  const a = document.tensors.findIndex(({ name }) => name === "a");
  assert.equal(cuts.stepOfTensor(a, 0), stepsOf(document, "watch")[0]);
  assert.equal(cuts.stepOfTensor(a, last), stepsOf(document, "accumulate", { tensor: a })[0]);
});

test("an argument that is a text is not an input", () => {
  const { document, cuts } = read(traces.einsum);
  assert.equal(typeof document.entries[0].arguments[0], "string");
  assert.deepEqual([1, 2].map((argument) => cuts.inputOf(0, argument)), [0, 1]);
  assert.ok(cuts.flowsBack(0, 0) && cuts.flowsBack(0, 1) && !cuts.flowsBack(0, 2));
});
