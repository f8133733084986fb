import assert from "node:assert/strict";
import { test } from "node:test";

import { readFolds } from "../../../autodiff_edu/player/js/folds.js";
import { traces } from "./traces.mjs";

const FOLDED = 20;
/** Two groups below each other; in the first, two more. */
const groups = [
  { parent: -1, y: 100, height: 300 }, { parent: 0, y: 120, height: 80 }, { parent: 0, y: 250, height: 100 },
  { parent: -1, y: 500, height: 60 },
].map((group) => ({ ...group, x: 0, width: 900, side: "left", folded: { x: 400, width: 100 } }));
const read = (open, more) => readFolds({ groups, folded: FOLDED, open, tensors: [], links: [], ...more });
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

test("what is around the step is unfolded for it alone, and what the reader chose stays", () => {
  const folds = read(false);
  assert.ok(folds.follow([1]));
  assert.deepEqual(all(folds.isFolded), [false, false, true, true]);
  assert.ok(!folds.follow([1]), "nothing changes");
  assert.ok(!folds.follow([-1]), "what is in no group leaves them as they are");
  assert.ok(folds.follow([2, 3]));
  assert.deepEqual(all(folds.isFolded), [false, true, false, false]);
  folds.toggle(1); // unfolds it
  folds.toggle(2); // folds it
  folds.follow([3]);
  assert.deepEqual(all(folds.isFolded), [true, false, true, false]);
  folds.follow([2]);
  assert.deepEqual(all(folds.isFolded), [false, false, true, true]);
  assert.ok(!read(true).follow([1]), "where all is open it stays so");
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

test("what is empty from top to bottom is left out, and everything keeps its order and its width", () => {
  const tensors = [
    { group: -1, x: 50, width: 60 }, { group: -1, x: 780, width: 100 }, { group: 1, x: 10, width: 880 },
  ];
  const passing = { group: -1, points: [80, 0, 650, 50, 700] };
  const folds = read(false, { tensors, links: [passing] });
  // the box at the left, the folded groups, the line, the box at the right: each 20 apart, 12 from the sides
  assert.deepEqual([50, 110, 400, 500, 650, 780, 880].map(folds.across), [12, 72, 92, 192, 212, 232, 332]);
  assert.equal(folds.width(), 344);
  assert.equal(folds.across(300), 72, "nothing is there");
  assert.deepEqual(folds.points(passing), [42, 0, 212, 50, 380]);
  for (const group of [0, 1, 2, 3]) folds.toggle(group);
  assert.deepEqual([0, 10, 450, 890, 900].map(folds.across), [12, 22, 462, 902, 912], "it is full now");
});

test("lines end at a folded box in the order in which they would go in, and begin at it likewise", () => {
  const folds = read(false);
  const [left, right] = [folds.across(400), folds.across(500)];
  const xs = [0, 300, 900].map((x) => folds.points({ points: [5, 0, x, 50, 100], into: 0 })[2]);
  assert.deepEqual(xs, xs.toSorted((a, b) => a - b));
  assert.ok(left < xs[0] && xs[2] < right);
  assert.equal(folds.points({ points: [300, 400, 0, 450, 460], out_of: 0 })[0], xs[1]);
  folds.toggle(0);
  assert.equal(folds.points({ points: [5, 0, 300, 50, 100], into: 0 })[2], folds.across(300));
});

test("in a real picture nothing that can be seen is out of the picture or over something else", () => {
  const { layout } = traces.loop;
  for (const open of [true, false]) {
    const folds = readFolds({ ...layout, open });
    const seen = layout.tensors.filter(({ group }) => folds.cover(group) < 0).map((box) =>
      ({ ...box, x: folds.across(box.x), y: folds.up(box.y) }));
    layout.groups.forEach(({ folded: { x, width }, y }, group) => {
      if (folds.cover(group) === group) {
        seen.push({ x: folds.across(x), y: folds.up(y), width, height: layout.folded });
      }
    });
    seen.forEach((box, k) => {
      assert.ok(box.x >= 0 && box.x + box.width <= folds.width());
      for (const other of seen.slice(0, k)) {
        assert.ok(box.x + box.width <= other.x || other.x + other.width <= box.x ||
          box.y + box.height <= other.y || other.y + other.height <= box.y);
      }
    });
  }
});
