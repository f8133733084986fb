import assert from "node:assert/strict";
import { test } from "node:test";

import { readLanes } from "../../../autodiff_edu/player/js/tape-lanes.js";
import { readTurns } from "../../../autodiff_edu/player/js/loop-turns.js";
import { traces } from "./traces.mjs";

const { document, layout } = traces.loop; // each turn has three entries
const read = () => readTurns(readLanes(document).rows, document, { ...layout, open: false });
const turns = layout.groups.filter(({ kind }) => kind === "turn").length;
const rows = document.steps.filter(({ kind }) => ["pause", "resume", "reset", "release"].includes(kind)).length;
const entriesIn = (shown) => shown.filter(({ turn }) => turn === undefined).map(({ entry }) => entry);

test("where the graph is open at first there are no turns", () => {
  const all = readLanes(document).rows;
  const { shown, follow, most } = readTurns(all, document, { ...layout, open: true });
  const parts = (some) => some.map(({ entry, step }) => ({ entry, step }));
  assert.deepEqual(parts(shown()), parts(all));
  assert.equal(most, all.length);
  assert.equal(follow(0), false);
});

test("each turn is a row until it opens with the step, and closes behind it", () => {
  const list = read();
  assert.ok(turns > 3);
  assert.equal(list.shown().length, turns + rows);
  assert.equal(list.most, turns + document.entries.length + rows);
  assert.deepEqual(list.shown().slice(0, turns).map(({ entry }) => entry), [...Array(turns).keys()].map((k) => 3 * k));
  assert.equal(list.follow(4), true);
  assert.deepEqual(entriesIn(list.shown()).slice(0, 3), [3, 4, 5]);
  assert.equal(list.follow(5), false, "the same turn");
  assert.equal(list.follow(6), true);
  assert.deepEqual(entriesIn(list.shown()).slice(0, 3), [6, 7, 8]);
  assert.equal(list.shown().length, turns + 3 + rows);
});

test("what the reader opens stays open, and what the reader closes stays closed within the turn", () => {
  const list = read();
  const of = (entry) => list.shown().find((row) => row.turn !== undefined && row.entry === entry).turn;
  list.follow(0);
  list.toggle(of(3));
  list.follow(6);
  assert.deepEqual(entriesIn(list.shown()).filter((entry) => entry !== undefined), [3, 4, 5, 6, 7, 8]);
  list.toggle(of(6));
  assert.deepEqual(entriesIn(list.shown()).filter((entry) => entry !== undefined), [3, 4, 5]);
  assert.equal(list.isOpen(of(6)), false);
  list.follow(7);
  assert.equal(list.isOpen(of(6)), false);
  list.follow(9);
  list.follow(7);
  assert.equal(list.isOpen(of(6)), true, "and opens when the step comes back");
  list.toggle(of(3));
  assert.equal(list.isOpen(of(3)), false);
  for (let k = 0; k < 2; k++) list.toggle(of(6)); // closed, and opened again by the reader's own hand
  list.follow(9);
  assert.equal(list.isOpen(of(6)), true);
});

test("a row stands where it is shown, or where the closed turn around it is", () => {
  const list = read();
  list.follow(4);
  assert.equal(list.place(0), 0);
  assert.equal(list.place(2), 0);
  assert.equal(list.place(3), 2); // after the two turns' own rows
  assert.equal(list.place(5), 4);
  assert.equal(list.place(6), 5);
  assert.equal(list.shown()[list.place(5)].entry, 5);
  assert.deepEqual(list.shown()[list.place(5)].within, [list.shown()[1].turn]);
});
