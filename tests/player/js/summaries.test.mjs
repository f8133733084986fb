import assert from "node:assert/strict";
import { test } from "node:test";

import { readSizes } from "../../../autodiff_edu/player/js/granularity.js";
import { readHistory } from "../../../autodiff_edu/player/js/history.js";
import { summarize } from "../../../autodiff_edu/player/js/summaries.js";
import { others } from "./traces.mjs";

const summariesOf = ({ document, layout }, wanted) => {
  const history = readHistory(document);
  const landings = new Map(readSizes(document, history, layout)).get(wanted);
  return landings.flatMap((at, nth) => summarize(document, history, wanted, (landings[nth - 1] ?? -1) + 1, at) || []);
};

test("a line is summed up by what its name got, and by what it hands on", () => {
  assert.deepEqual(summariesOf(others.series, "line").map((text) => text.replace(/^Line \d+/, "Line")), [
    "Line: t is t * x / k, which is 0.8.",
    "Line: t is t * x / k, which is 0.32.",
    "Back through s += t: the cotangent of s is now 1 and that of t₂ 1.",
    "Back through t = t * x / k: the cotangent of t is now 0.4 and that of x 0.4.",
    "Back through s += t: the cotangent of t is now 1.4.",
    "Back through t = t * x / k: the cotangent of x is now 1.8.",
  ]);
});

test("a turn is summed up by its names", () => {
  assert.deepEqual(summariesOf(others.series, "turn"), [
    "Turn 1: t = 0.8, s = 0.8.",
    "Turn 2: t = 0.32, s = 1.12.",
    "Back through turn 2: the cotangent of s is now 1, that of t 0.4 and that of x 0.4.",
    "Back through turn 1: the cotangent of x is now 1.8.",
  ]);
  const [first] = summariesOf(others.training, "turn");
  assert.match(first, /^Turn 1: .*loss = [^;]*; after the update, /);
  assert.ok(first.split(", ").length <= 4);
});

test("a number has all its digits, so that its turns can be told apart", () => {
  const after = summariesOf(others.newton, "turn").map((text) => text.split("after the update, ")[1]);
  assert.deepEqual(after, ["x = 2.1.", "x = 2.09457.", "x = 2.09455.", "x = 2.09455."]);
});
