import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST_LANES, readLanes } from "../../../autodiff_edu/player/js/lanes.js";
import { others, traces } from "./traces.mjs";

for (const [name, { document, lanes }] of Object.entries(traces)) {
  test(`at every step of ${name}, each tape has of an entry what Python says`, () => {
    const { of, rows } = readLanes(document);
    const all = (some) => Array.from({ length: some.length }, (_, k) => k);
    document.steps.forEach((_, step) => {
      const found = all(document.entries).map((entry) => all(document.tapes).map((tape) => of(entry, tape, step)));
      assert.deepEqual(found, lanes[step], `step ${step}`);
    });
    assert.deepEqual(rows.flatMap(({ entry }) => entry ?? []), all(document.entries));
    const events = document.steps.flatMap(({ kind }, step) =>
      ["pause", "resume", "reset", "release"].includes(kind) ? [step] : []);
    assert.deepEqual(rows.flatMap(({ step }) => step ?? []), events);
  });
}

test("what is lost is lost on all tapes", () => {
  const { document } = traces.two_passes;
  const { lost } = readLanes(document);
  const reset = document.steps.findIndex(({ kind }) => kind === "reset");
  assert.equal(lost(0, reset - 1), null);
  assert.equal(lost(0, reset), "forgotten");
  const skipped = document.entries.findIndex(({ tapes }) => !tapes.length);
  assert.ok(!lost(skipped, document.steps.length - 1));
  const { document: other } = traces.diamond;
  const { lost: gone } = readLanes(other);
  assert.equal(gone(0, other.steps.length - 1), "released");
  const { document: pair } = traces.two_tapes;
  const both = readLanes(pair);
  const release = pair.steps.findIndex(({ kind }) => kind === "release");
  assert.equal(both.lost(0, release), null, "the other tape has it");
  assert.equal(both.lost(0, pair.steps.length - 1), "released");
});

test("a pause ends with its block, and with a reset", () => {
  const computing = { kind: "record", tape: 1 };
  const fates = ["resume", "reset", "watch"].map((kind) => {
    const [first, second] = [{ ...computing, entry: 0 }, { ...computing, entry: 1 }];
    const steps = [{ kind: "pause", tape: 0 }, first, { kind, tape: 0 }, second];
    const entries = [{ tapes: [1] }, { tapes: [1] }];
    const { of } = readLanes({ steps, entries, tapes: [{ name: "a" }, { name: "b" }] });
    return [of(0, 0, 3), of(1, 0, 3)];
  });
  assert.deepEqual(fates, [["paused", ""], ["paused", ""], ["paused", "paused"]]);
});

const headsOf = (...names) => readLanes({ steps: [], entries: [], tapes: names.map((name) => ({ name })) }).heads;

test("lanes have the numbers of their tapes", () => {
  assert.deepEqual(headsOf("outer", "inner"), ["1", "2"]);
  assert.deepEqual(headsOf("tape", "tape 1", "tape 2"), ["t", "1", "2"]);
  assert.deepEqual(headsOf("tape 1", "outer", "other"), ["1", "ou", "ot"]);
  assert.deepEqual(headsOf("his 1", "her 1"), ["hi1", "he1"]);
  assert.deepEqual(headsOf("his 1", "her 2", "our 1"), ["h1", "h2", "o1"]);
  assert.deepEqual(headsOf("same 1", "same 1"), ["same 1", "same 1"]);
});

test("of many tapes, six have lanes: those at work, and those that were or will be soonest", () => {
  const { document } = others.training;
  const { shown, first } = readLanes(document);
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
  assert.deepEqual(readLanes(traces.two_tapes.document).shown(3), [0, 1]);
});
