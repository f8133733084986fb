import assert from "node:assert/strict";
import { test } from "node:test";

import { readHistory } from "../../../autodiff_edu/player/js/history.js";
import { MOST_LANES, readLanes } from "../../../autodiff_edu/player/js/tape-lanes.js";
import { others, traces } from "./traces.mjs";

const lanesOf = ({ document }) => readLanes(document, readHistory(document));

for (const [name, trace] of Object.entries(traces)) {
  test(`the rows of ${name} are the entries, and what happens to a whole tape`, () => {
    const { rows } = lanesOf(trace);
    assert.deepEqual(rows.flatMap(({ entry }) => entry ?? []), [...trace.document.entries.keys()]);
    const events = trace.document.steps.flatMap(({ kind }, step) =>
      ["pause", "resume", "reset", "release"].includes(kind) ? [step] : []);
    assert.deepEqual(rows.flatMap(({ step }) => step ?? []), events);
  });
}

test("what is lost is lost on all tapes", () => {
  const { document } = traces.two_passes;
  const { lost } = lanesOf(traces.two_passes);
  const reset = document.steps.findIndex(({ kind }) => kind === "reset");
  assert.equal(lost(0, reset - 1), null);
  assert.equal(lost(0, reset), "forgotten");
  const skipped = document.entries.findIndex(({ tapes }) => !tapes.length);
  assert.ok(!lost(skipped, document.steps.length - 1));
  const { document: other } = traces.diamond;
  const { lost: gone } = lanesOf(traces.diamond);
  assert.equal(gone(0, other.steps.length - 1), "released");
  const { document: pair } = traces.two_tapes;
  const both = lanesOf(traces.two_tapes);
  const release = pair.steps.findIndex(({ kind }) => kind === "release");
  assert.equal(both.lost(0, release), null, "the other tape has it");
  assert.equal(both.lost(0, pair.steps.length - 1), "released");
});

const headsOfTapes = (...tapes) => readLanes({ steps: [], entries: [], tapes }, {}).heads;
const headsOf = (...names) => headsOfTapes(...names.map((name) => ({ name })));

test("lanes have the numbers of their tapes", () => {
  assert.deepEqual(headsOf("outer", "inner"), ["1", "2"]);
  assert.deepEqual(headsOf("tape", "tape 1", "tape 2"), ["t", "1", "2"]);
  assert.deepEqual(headsOf("tape 1", "outer", "other"), ["1", "ou", "ot"]);
  assert.deepEqual(headsOf("his 1", "her 1"), ["hi1", "he1"]);
  assert.deepEqual(headsOf("his 1", "her 2", "our 1"), ["h1", "h2", "o1"]);
  assert.deepEqual(headsOf("same 1", "same 1"), ["same 1", "same 1"]);
});

test("reruns are numbered, and a number in the name of their function is not theirs", () => {
  const rerunOf = (reruns) => ({ name: `the rerun of ${reruns}`, reruns });
  assert.deepEqual(headsOfTapes({ name: "t 3" }, rerunOf("block2")), ["3", "↻"]);
  assert.deepEqual(headsOfTapes({ name: "t 3" }, rerunOf("block2"), rerunOf("block2")), ["3", "1", "2"]);
});

test("of many tapes, six have lanes: those at work, and those that were or will be soonest", () => {
  const { document } = others.training;
  const { shown, first } = lanesOf(others.training);
  assert.ok(document.tapes.length > MOST_LANES);
  document.steps.forEach(({ tape }, step) => {
    const lanes = shown(step);
    assert.equal(lanes.length, MOST_LANES);
    assert.deepEqual(lanes, lanes.toSorted((a, b) => a - b));
    assert.ok(tape == null || lanes.includes(tape), `step ${step}`);
    assert.equal(lanes.at(-1) - lanes[0], MOST_LANES - 1, "they are neighbours");
  });
  document.tapes.forEach((_, tape) => {
    assert.equal(first(tape), document.steps.findIndex((step) => step.tape === tape));
  });
  assert.deepEqual(lanesOf(traces.two_tapes).shown(3), [0, 1]);
});
