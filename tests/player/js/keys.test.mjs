/** What a key does that is held down. */

import assert from "node:assert/strict";
import test from "node:test";

import { handleKey } from "../../../autodiff_edu/player/js/keys.js";

test("a key that opens and closes acts once while it is held down, and one that steps goes on", () => {
  const count = (key) => {
    let done = 0;
    const actions = new Proxy({}, { get: () => () => { done += 1; } });
    for (const repeat of [false, true, true]) {
      handleKey({ key, repeat, target: { matches: () => false }, stopPropagation() {}, preventDefault() {} }, actions);
    }
    return done;
  };
  assert.deepEqual(["?", "f", "ArrowRight"].map(count), [1, 1, 3]);
});
