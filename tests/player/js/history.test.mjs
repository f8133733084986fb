import assert from "node:assert/strict";
import { test } from "node:test";

import { latest, readHistory } from "../../../autodiff_edu/player/js/history.js";
import { STRINGS } from "../../../autodiff_edu/player/js/strings.js";
import { traces } from "./traces.mjs";

const textOf = (array) => array?.text ?? null;

for (const [name, { document, steps }] of Object.entries(traces)) {
  test(`at every step of ${name}, what is known is what Python folds`, () => {
    const history = readHistory(document);
    assert.equal(steps.length, document.steps.length);
    const [tensors, entries, tapes] = ["tensors", "entries", "tapes"].map((part) => [...document[part].keys()]);
    steps.forEach((wanted, step) => {
      const found = {
        values: tensors.map((tensor) => textOf(history.known(tensor, step))),
        cotangents: tensors.map((tensor) => textOf(history.cotangent(tensor, step))),
        arrived: entries.map((entry) => textOf(history.arrived(entry, step))),
        states: entries.map((entry) => history.state(entry, step)),
        lanes: entries.map((entry) => tapes.map((tape) => history.lane(entry, tape, step))),
        unconnected: tensors.filter((tensor) => history.missed(tensor, step)),
        paused: history.paused[step],
        pass: history.pass[step],
        backward: history.backward[step],
        tangents: history.tangents[step],
        update: history.update[step],
        where: history.where[step],
      };
      assert.deepEqual(found, wanted, `step ${step}`);
      const shown = tensors.map((tensor) => history.value(tensor, step));
      assert.deepEqual(shown, wanted.values.map((text) => text ?? "—"));
    });
  });
}

test("the latest change is found wherever one looks", () => {
  const changes = [1, 4, 4, 9].map((step, number) => ({ step, number }));
  const found = Array.from({ length: 12 }, (_, step) => latest(changes, step)?.number);
  assert.deepEqual(found, [undefined, 0, 0, 0, 2, 2, 2, 2, 2, 3, 3, 3]);
  assert.equal(latest([], 5), undefined);
  assert.equal(latest(undefined, 5), undefined);
});

test("the direction, and where the passes turn", () => {
  const kinds = ({ steps }, history) => steps.map(({ kind }, step) => `${kind} ${history.backward[step] ? "←" : "→"}`);
  const { document } = traces.diamond;
  const history = readHistory(document);
  const seed = document.steps.findIndex(({ kind }) => kind === "seed");
  assert.deepEqual(history.turns, [seed]);
  assert.deepEqual(history.backward, document.steps.map((_, step) => step >= seed));
  assert.deepEqual(history.backward.map((_, step) => history.pushing(step)), document.steps.map(() => false));

  const twice = traces.two_passes.document;
  const passes = readHistory(twice);
  const seeds = [...twice.steps.keys()].filter((step) => twice.steps[step].kind === "seed");
  assert.deepEqual(passes.turns, seeds);
  const between = kinds(twice, passes).slice(seeds[0], seeds[1] + 1);
  assert.deepEqual([between[0], between.at(-1)], ["seed ←", "seed ←"]);
  assert.ok(between.includes("assign →"), "an assignment between two passes does not go back");

  const forward = traces.forward_mode.document;
  const pushes = readHistory(forward);
  assert.ok(pushes.backward.every((back) => !back));
  const moves = forward.steps.map(({ kind }) => ["move", "push forward"].includes(kind));
  forward.steps.forEach((_, step) => assert.ok(!moves[step] || pushes.pushing(step), `step ${step}`));
  assert.equal(pushes.turns.length, 2);
});

test("what goes on at a step is a word, which the heading has a text for", () => {
  const phases = (name) => {
    const { document } = traces[name];
    const [history, runs] = [readHistory(document), []];
    document.steps.forEach((_, step) => {
      const phase = history.phase(step);
      assert.ok(STRINGS.heading[phase], phase);
      if (phase !== runs.at(-1)) runs.push(phase);
    });
    return runs;
  };
  assert.deepEqual(phases("diamond"), ["forward", "backward"]);
  assert.deepEqual(phases("two_passes"), ["forward", "backward", "update", "backward"]);
  assert.deepEqual(phases("forward_mode"), ["forward", "tangents", "forward", "tangents"]);
  const { document } = traces.two_passes;
  const kinds = ["error", "explain"].map((kind) => ({ ...document, steps: [{ ...document.steps[0], kind }] }));
  assert.deepEqual(kinds.map((each) => readHistory({ ...each, states: [{}] }).phase(0)), ["error", "explain"]);
});

test("a tape has its name where there are several", () => {
  assert.equal(readHistory(traces.diamond.document).tapeName(0), "the tape");
  const { document } = traces.two_tapes;
  assert.deepEqual([0, 1].map(readHistory(document).tapeName), document.tapes.map(({ name }) => name));
});

test("the step at which a pass comes to an entry", () => {
  const { document } = traces.two_passes;
  const history = readHistory(document);
  document.entries.forEach((_, entry) => {
    const pulls = [...document.steps.keys()].filter((step) =>
      document.steps[step].kind === "pull back" && document.steps[step].entry === entry);
    document.steps.forEach((__, at) => {
      const own = pulls.find((step) => document.steps[step].pass === history.pass[at]);
      assert.equal(history.pulled(entry, at), own ?? pulls[0], `entry ${entry} at step ${at}`);
    });
    const computed = document.steps.findIndex((step) => step.entry === entry && step.pass === undefined);
    assert.equal(history.appeared[entry], computed);
  });
});
