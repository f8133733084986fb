import assert from "node:assert/strict";
import { test } from "node:test";

import { foldArrays } from "../../../autodiff_edu/player/js/literals.js";

const numbers = "0.12345678901234, 0.98765432109876, 3.0";

test("an array that takes more than a line is folded to its shape", () => {
  const rows = `[[${numbers}], [${numbers}]]`;
  assert.equal(foldArrays(`Q = np.array(${rows})`), "Q = np.array(…)  # 2×3");
  assert.equal(foldArrays(`Q = np.array([${rows}, ${rows}, ${rows}, ${rows}])`), "Q = np.array(…)  # 4×2×3");
  assert.equal(foldArrays(`w = np.array([${numbers}])`), "w = np.array(…)  # length 3");
  const single = `w = np.array([${numbers}], dtype=np.float32)`;
  assert.equal(foldArrays(single), "w = np.array(…, dtype=np.float32)  # length 3");
  const twice = `y = np.array([${numbers}]) + np.array([[1.0], [2.0]]) * np.array(${rows})`;
  assert.equal(foldArrays(twice), "y = np.array(…) + np.array([[1.0], [2.0]]) * np.array(…)  # length 3, 2×3");
});

test("what fits on a line stays, and so does a remark", () => {
  for (const line of [
    "w = np.array([1.0, 2.0])", "# forward",
    `w_bar = ${"x * ".repeat(30)}x`, `w = x + np.array([1.0, 2.0])${" + x".repeat(20)}`,
    "w = np.array([0.9, 1.9])  # computed outside of this program",
  ]) assert.equal(foldArrays(line), line);
  const line = `w = np.array([${numbers}])  # w later on`;
  assert.equal(foldArrays(line), "w = np.array(…)  # length 3, w later on");
});
