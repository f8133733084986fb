import assert from "node:assert/strict";
import { test } from "node:test";

import { landing, readSizes } from "../../../autodiff_edu/player/js/granularity.js";
import { readHistory } from "../../../autodiff_edu/player/js/history.js";
import { others, traces } from "./traces.mjs";

const sizesOf = ({ document, layout }) => new Map(readSizes(document, readHistory(document), layout));

test("a training has a landing for each line, pass and turn, the largest last", () => {
  const { document: { steps }, layout } = others.training;
  const sizes = sizesOf(others.training);
  assert.deepEqual([...sizes.keys()], ["operation", "line", "pass", "turn"]);
  const turns = sizes.get("turn");
  assert.equal(turns.length, layout.groups.find(({ kind }) => kind === "loop").times, "the first begins at step 0");
  for (const step of turns.slice(0, -1)) {
    assert.deepEqual([steps[step].kind, steps[step + 1].kind], ["assign", "watch"], `step ${step}`);
  }
  const passes = sizes.get("pass").slice(0, -1).map((step) => steps[step].kind);
  assert.deepEqual(passes.slice(0, 3), ["seed", "assign", "watch"]);
  assert.ok(turns.every((step) => sizes.get("line").includes(step)));
});

test("a loop of one line moves by turns of one entry, forward and back", () => {
  const { document, layout } = traces.power;
  const steps = document.steps.length;
  for (const [size, found] of readSizes(document, readHistory(document), layout)) {
    if (!found) continue;
    assert.equal(found.at(-1), steps - 1, size);
    assert.deepEqual(found, [...new Set(found)].sort((a, b) => a - b), size);
  }
  const { document: { entries, steps: all } } = traces.loop;
  const turns = sizesOf(traces.loop).get("turn");
  const lineOf = (step) => entries[all[step].entry]?.where.line;
  const final = lineOf(all.findLastIndex(({ kind }) => kind === "record"));
  const forward = turns.filter((step) => all[step].kind === "record");
  assert.equal(forward.length, 6);
  assert.ok(forward.every((step) => lineOf(step) === final));
  assert.equal(turns.filter((step) => all[step].kind === "accumulate").length, 6);
});

test("turns that are not alike, and two alone, are found by the program's lines", () => {
  const { document: { steps, entries } } = others.branches;
  const turns = sizesOf(others.branches).get("turn");
  const forward = turns.filter((step) => steps[step].tape !== null && steps[step].pass === undefined);
  const conditions = entries.flatMap(({ operation }, entry) => (operation === "greater" ? [entry] : []));
  assert.equal(conditions.length, 4);
  const asked = conditions.map((entry) => steps.findIndex((step) => step.entry === entry));
  for (const step of asked.slice(1)) assert.ok(turns.includes(step - 1), `before step ${step}`);
  assert.ok(forward.length >= 4);

  const { document } = others.twice;
  const watches = document.steps.flatMap(({ kind }, step) => (kind === "watch" ? [step] : []));
  assert.equal(watches.length, 2);
  const begin = watches[1] - 1;
  assert.match(document.steps[begin].text, /turn 2 of the loop begins/);
  assert.ok(sizesOf(others.twice).get("turn").includes(begin - 1));
});

test("a turn that begins with a call begins only once, even the last one", () => {
  const { document: { steps } } = others.calling;
  const turns = sizesOf(others.calling).get("turn");
  assert.equal(turns.length, 3);
  assert.ok(steps.some(({ what }) => what === "call"));
  assert.deepEqual(turns.map((step) => steps[step].kind), ["assign", "assign", "assign"]);
});

test("without a loop or a pass there is no such size", () => {
  assert.ok(!sizesOf(traces.diamond).has("turn"));
  assert.deepEqual([...sizesOf(others.walk).keys()], ["operation"]);
});

test("a move lands at the next landing, at the ends where there is none", () => {
  const from = (way) => [0, 2, 3, 8, 9].map((step) => landing([3, 7, 9], step, way));
  assert.deepEqual(from(1), [3, 3, 7, 9, 9]);
  assert.deepEqual(from(-1), [0, 0, 0, 7, 7]);
  assert.deepEqual([landing(null, 4, 1), landing(null, 4, -1)], [5, 3]);
});
