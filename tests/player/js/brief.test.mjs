import assert from "node:assert/strict";
import { test } from "node:test";

import { brief, digitsOfSum, withDigits } from "../../../autodiff_edu/player/js/brief.js";
import { traces } from "./traces.mjs";

test("three significant digits, and never fewer than stand before the point", () => {
  const pairs = {
    "0.666667": "0.667", "-0.666667": "-0.667", 15: "15", "1234.56": "1235", 123457: "123457",
    "99999.6": "100000", "2.125": "2.13", "0.999996": "1.00", "0.000123456": "0.000123", "1.23457e-05": "1.23e-05",
    "-1.23457e+06": "-1.23e+06", "9.99957e-05": "1.00e-04", "0.333333-2.66667j": "0.333-2.67j",
    "0.400": "0.400", 2412.5004: "2412.5004",
    "[[0.333333 2] [nan -inf]]": "[[0.333 2] [nan -inf]]",
  };
  for (const [text, short] of Object.entries(pairs)) assert.equal(brief(text), short);
});

test("the numbers of sentences are those of the arrays, in brief", () => {
  const { document } = traces.cubic;
  let said = 0;
  for (const { kind, text, after } of document.steps) {
    if (kind !== "accumulate" || after.shape.length) continue;
    assert.ok(text.includes(` is now ${brief(after.text)}.`), text);
    said++;
  }
  assert.ok(said);
});

test("summands have the digits that their sum needs, and no more", () => {
  assert.equal(digitsOfSum([0.50005312, -0.5], 5.312e-05, 3), 7);
  assert.equal(withDigits(0.50005312, 7), "0.5000531");
  assert.equal(digitsOfSum([0.3213, 2.284], 2.6053, 3), 6); // not 0.321 + 2.28 = 2.61
  assert.equal(digitsOfSum([0.123456789, -0.123456788], 1e-9, 6), 9); // the sum is 9.99999999e-10
  assert.equal(digitsOfSum([1000000.0000005, -1e6], 5.00004e-07, 6), 14);
  assert.equal(withDigits(1000000.0000005, 14), "1000000.0000005");
  assert.equal(digitsOfSum([2.4120004, -0.412], 2.0000004, 3), 8); // as many as their sum has
  for (const [parts, total] of [[[0.5, 0.25049], 0.75049], [[0.3, -0.3], 0], [[0.3, -0.3], 5e-17]]) {
    assert.equal(digitsOfSum(parts, total, 3), undefined, parts.join());
  }
});
