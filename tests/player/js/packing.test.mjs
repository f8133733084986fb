import assert from "node:assert/strict";
import { test } from "node:test";

import { unpacked } from "../../../autodiff_edu/player/js/packing.js";
import { odd, packed } from "./traces.mjs";

for (const [name, { page, content }] of Object.entries(packed)) {
  test(`${name} comes back as it was packed`, () => assert.deepEqual(unpacked(page), content));
}

test("odd values come back", () => {
  assert.ok(odd.content.trace.odd.length > 10);
  assert.ok(Object.is(odd.content.trace.zero, -0)); // which is not the same as 0 below
  assert.deepEqual(unpacked(odd.page), odd.content);
});

test("what another release has packed is left alone, and its version told", () => {
  const { page } = packed.diamond;
  for (const version of [0, 99, "4", "<b>"]) assert.deepEqual(unpacked({ ...page, version }), { trace: { version } });
  assert.deepEqual(unpacked({ ...page, version: null }), { trace: { version: undefined } });
  assert.deepEqual(unpacked({ trace: { version: 2 } }), { trace: { version: 2 } });
});
