/** Views of what only some documents have, by the part of the document; bundle.py joins the ones that are needed. */

import SHARED from "../../text/shared.json" with { type: "json" };

export const EXTRAS = Object.fromEntries(SHARED.extras.map((part) => [part, null]));

export const extrasOf = (trace) => Object.keys(EXTRAS).filter((part) => trace[part]);
