/** NaN and infinities: the steps at which they are born, the lines of those steps, and the steps that they spoil. */

import * as SHARED from "../../text/shared.json";

// The text of an array names its smallest and its largest element at least; "infj" is part of a complex number.
const ODD = new RegExp(SHARED.odd);

/**
 * "nan", "inf" or "-inf", if such a number is in the text of an array; else null.
 * @param {string} [text]
 */
export const nonfiniteIn = (text) => ODD.exec(text ?? "")?.[1] ?? null;

/**
 * `births`, each {step, kind, where}, the first of each line only in `lines`; and the `last` step that is spoilt.
 * @param {Trace} trace
 */
export function readNonfinite({ steps, tensors, entries }) {
  const births = steps.flatMap(({ born: kind, where }, step) => (kind ? [{ step, kind, where }] : []));
  /** @type {Map<string, typeof births[number]>} */
  const lines = new Map();
  for (const birth of births) {
    const line = birth.where && `${birth.where.code}.${birth.where.line}`;
    if (line && !lines.has(line)) lines.set(line, birth);
  }
  /** @param {Step} step */
  const isOdd = ({ entry, pass, ...step }) => {
    const computed = entry !== undefined && pass === undefined ? [tensors[entries[entry].output].value] : [];
    const parts = /** @type {Record<string, any>} */ (step);
    return [...computed, ...SHARED.arrays.map((name) => parts[name])].some((array) => nonfiniteIn(array?.text));
  };
  return { births, lines: [...lines.values()], last: births.length ? steps.findLastIndex(isOdd) : -1 };
}
