import assert from "node:assert/strict";
import { test } from "node:test";

import { readFolds } from "../../../autodiff_edu/player/js/folds.js";
import { traces } from "./traces.mjs";

const FOLDED = 20;
/** Two groups below each other; in the first, two more. */
const groups = [
  { parent: -1, y: 100, height: 300 }, { parent: 0, y: 120, height: 80 }, { parent: 0, y: 250, height: 100 },
  { parent: -1, y: 500, height: 60 },
];
const read = (open) => readFolds({ groups, folded: FOLDED, open });
const all = (some) => groups.map((_, group) => some(group));

test("what is open covers nothing and moves nothing", () => {
  const folds = read(true);
  assert.deepEqual(all(folds.isFolded), [false, false, false, false]);
  assert.deepEqual(all(folds.cover), [-1, -1, -1, -1]);
  for (const y of [0, 100, 333, 1000]) assert.equal(folds.up(y), y);
  assert.deepEqual(folds.around(2), [2, 0]);
  assert.deepEqual(folds.around(-1), []);
});

test("a long picture is folded at first, and the outermost box covers what is in it", () => {
  const folds = read(false);
  assert.deepEqual(all(folds.isFolded), [true, true, true, true]);
  assert.deepEqual(all(folds.cover), [0, 0, 0, 3]);
  assert.equal(folds.cover(-1), -1);
});

test("a fold stays until it is undone, inside others too", () => {
  const folds = read(true);
  folds.toggle(1);
  assert.deepEqual(all(folds.cover), [-1, 1, -1, -1]);
  folds.toggle(0);
  assert.deepEqual(all(folds.cover), [0, 0, 0, -1]);
  assert.ok(folds.isFolded(1));
  folds.toggle(0);
  assert.deepEqual(all(folds.cover), [-1, 1, -1, -1], "the inner one is folded still");
  folds.toggle(1);
  assert.deepEqual(all(folds.cover), [-1, -1, -1, -1]);
});

test("what stands below a folded box moves up by what is cut out, and what stands in it to its lower edge", () => {
  const folds = read(true);
  folds.toggle(0); // cuts out from 120 to 400
  const places = { 0: 0, 100: 100, 120: 120, 121: 120, 300: 120, 400: 120, 401: 121, 500: 220, 1000: 720 };
  for (const [y, up] of Object.entries(places)) assert.equal(folds.up(Number(y)), up, y);
  folds.toggle(3); // and from 520 to 560
  assert.deepEqual([500, 520, 540, 560, 600].map(folds.up), [220, 240, 240, 240, 280]);
  folds.toggle(1); // inside what is folded: no more is cut out
  assert.deepEqual([400, 500, 600].map(folds.up), [120, 220, 280]);
  folds.toggle(0);
  assert.deepEqual([140, 200, 201, 250, 600].map(folds.up), [140, 140, 141, 190, 500]);
});

test("in a real picture boxes keep their order when all is folded", () => {
  const { layout } = traces.loop;
  const folds = readFolds({ ...layout, open: true });
  layout.groups.forEach((_, group) => folds.toggle(group));
  const outside = layout.tensors.filter(({ group }) => folds.cover(group) < 0).map(({ y }) => y).sort((a, b) => a - b);
  const moved = outside.map(folds.up);
  assert.deepEqual(moved, moved.toSorted((a, b) => a - b));
  assert.equal(layout.height - folds.up(layout.height), layout.groups[0].height - layout.folded);
});
