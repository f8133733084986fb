import assert from "node:assert/strict";
import { test } from "node:test";

import { readReach } from "../../../autodiff_edu/player/js/wave.js";
import { others, traces } from "./traces.mjs";

const reachOf = ({ document, layout }) => readReach(document, layout);
const tensorsIn = (steps, pass) => new Set(steps.filter((step) => step.pass === pass && step.tensor !== undefined)
  .map(({ tensor }) => tensor));

test("the first backward pass is the one that runs back, of several tapes, too", () => {
  for (const name of ["diamond", "two_tapes", "nested", "two_passes"]) {
    const { document: { steps }, layout } = traces[name];
    const { pass } = steps.find(({ kind }) => kind === "seed");
    const reach = reachOf(traces[name]);
    assert.deepEqual(new Set(reach.tensors.keys()), tensorsIn(steps, pass), name);
    assert.equal(reach.pushes, false);
    const used = steps.filter((step) => step.kind === "accumulate" && step.pass === pass);
    assert.ok(reach.links.size >= new Set(used.map(({ entry, argument }) => `${entry} ${argument}`)).size, name);
    assert.ok([...reach.links].every((link) => layout.links[link]));
  }
});

test("nothing runs back through a cut, and without a pass nothing runs back at all", () => {
  const { document: { entries, steps }, layout } = traces.a_cut;
  const cut = steps.find(({ kind }) => kind === "cut").entry;
  assert.ok(layout.entries[cut].every((link) => !reachOf(traces.a_cut).links.has(link)), entries[cut].text);
  const forward = { entries, steps: steps.filter(({ pass }) => pass === undefined) };
  assert.equal(readReach(forward, layout).tensors.size, 0);
});

test("tangents run forward, and a folded loop is reached if something in it is", () => {
  assert.ok(reachOf(traces.forward_mode).pushes);
  const { layout } = others.training;
  const loop = layout.groups.findIndex(({ kind }) => kind === "loop");
  assert.ok(reachOf(others.training).groups.has(loop));
});
