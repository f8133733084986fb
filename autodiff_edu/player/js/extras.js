/** Views of what only some documents have, by the part of the document; html.py joins the ones that are needed. */

export const EXTRAS = { sweep: null, contours: null };

export const extrasOf = (trace) => Object.keys(EXTRAS).filter((part) => trace[part]);
