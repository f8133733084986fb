/** What test_js.py wrote down: real traces, and what Python says about them. */

import { readFileSync } from "node:fs";

export const { traces, others, packed, odd, drills, dampings, predictions } =
  JSON.parse(readFileSync(process.env.AUTODIFF_TRACES, "utf8"));
