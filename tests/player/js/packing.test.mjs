import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../../autodiff_edu/player/js/packing.js";
import { odd, packed } from "./traces.mjs";

for (const [name, { page, content }] of Object.entries(packed)) {
  test(`${name} comes back as it was packed`, async () => assert.deepEqual(await unpack(page), content));
}

test("odd values come back", async () => {
  assert.ok(odd.content.trace.odd.length > 10);
  assert.ok(Object.is(odd.content.trace.zero, -0)); // which is not the same as 0 below
  assert.deepEqual(await unpack(odd.page), odd.content);
});

test("what another release has packed is left alone, and its version told", async () => {
  const { page } = packed.diamond;
  for (const version of [0, 4, 99, "5", "<b>"]) {
    assert.deepEqual(await unpack({ ...page, version }), { trace: { version } });
  }
  assert.deepEqual(await unpack({ ...page, version: null }), { trace: { version: undefined } });
  assert.deepEqual(await unpack({ trace: { version: 2 } }), { trace: { version: 2 } });
});

test("what was damaged is an error", async () => {
  const { page } = packed.diamond;
  for (const content of [page.content.slice(0, 400), `AAAA${page.content.slice(4)}`, "*"]) {
    await assert.rejects(unpack({ ...page, content }));
  }
});
