/** Reads back what a page holds packed; packing.py describes it, and packs it. */

import { brief } from "./brief.js";
import * as SHARED from "../../text/shared.json";

/**
 * What the document says at a step besides the sentence, in the order of packing.py.
 * @param {Step} step
 * @param {Trace} trace
 * @param {Map<number, NDArray>} values
 * @returns {unknown[]}
 */
function wordsOf(step, { entries, tensors }, values) {
  const { output, inputs = [], text, number } = /** @type {Partial<Entry>} */ (entries[step.entry] ?? {});
  const named = [step.tensor, output, ...inputs];
  const of = /** @type {Record<string, any>} */ (step);
  /** @type {(NDArray | undefined)[]} */
  const arrays = [...SHARED.arrays, "value"].map((key) => of[key]);
  for (const tensor of named.slice(0, 2)) arrays.push(values.get(tensor) ?? tensors[tensor]?.value);
  const names = named.flatMap((tensor) => tensors[tensor]?.name ?? /** @type {string[]} */ ([]));
  const texts = arrays.map((array) => array?.text);
  const short = texts.map((each) => each && brief(each));
  return [text, number, step.where?.line, step.count, ...texts, ...short, ...names];
}

/**
 * Reads back a text that packing.py has compressed with gzip and written in base64.
 * @param {string} text
 */
function decompress(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Response(bytes).body.pipeThrough(new DecompressionStream("gzip"))).text();
}

/**
 * @typedef {[form: string, ...parts: any[]]} Column
 * @typedef {Record<string, any>} Item a table's row, as an object
 */

/**
 * @param {{ version?: number | null, content?: string, trace?: Trace }} packed
 * @returns {Promise<Content>}
 */
export async function unpack({ version, content: compressed, trace: older }) {
  // Another release may have packed otherwise; what it wrote is refused by its version.
  if (version !== SHARED.version) return /** @type {Content} */ ({ trace: { version: version ?? older?.version } });
  /** @type {{ tables: [count: number, keys: string[], columns: Column[]][], root: Column }} */
  const { tables, root } = JSON.parse(await decompress(compressed));
  const rows = tables.map(([count]) => Array.from({ length: count }, () => /** @type {Item} */ ({})));
  /** @type {(column: Column) => any[]} */
  const read = ([form, ...parts]) => forms[form](...parts);
  /** @type {Record<string, (...parts: any[]) => any[]>} */
  const forms = {
    v: (values) => values,
    "=": (count, value) => Array(count).fill(value),
    s: (digits) => Array.from(digits, (digit) => parseInt(digit, 36)),
    "+": (column) => { let sum = 0; return read(column).map((by) => (sum += by)); },
    "/": (by, column) => read(column).map((number) => number / by),
    "#": (column, indexes) => { const known = read(column); return read(indexes).map((index) => known[index]); },
    "~": (column, numbers) => {
      const all = read(numbers);
      return read(column).map((/** @type {string[]} */ parts, k) =>
        parts.reduce((text, part, i) => text + all[k][i - 1] + part));
    },
    "[": (lengths, column) => {
      const [items, at] = [read(column), { end: 0 }];
      return read(lengths).map((length) => items.slice(at.end, (at.end += length)));
    },
    "|": (...columns) => {
      const all = columns.map(read);
      return all[0].map((_, k) => all.map((column) => column[k]));
    },
    "{": (table, indexes) => read(indexes).map((index) => rows[table][index]),
    "?": (kinds, ...columns) => {
      const left = columns.map((column) => read(column).values());
      return read(kinds).map((kind) => left[kind].next().value);
    },
  };
  tables.forEach(([, keys, columns], table) => columns.forEach((column, k) => {
    read(column).forEach((value, row) => { rows[table][row][keys[k]] = value; });
  }));
  for (const row of rows.flat()) {
    if (row.shape && row.dtype && !("data" in row)) row.data = JSON.parse(row.text.replaceAll(" ", ","));
  }
  const [content] = read(root);
  const { trace } = /** @type {{ trace: Trace }} */ (content);
  // Steps that say the same with other words are one row as yet.
  /** @type {Map<number, NDArray>} */
  const values = new Map(); // of tensors that were assigned to
  trace.steps = trace.steps.map((step) => {
    if (step.kind === "assign") values.set(step.tensor, step.value);
    const words = wordsOf(step, trace, values);
    const parts = /** @type {(number | string)[]} */ (/** @type {unknown} */ (step.text));
    return { ...step, text: parts.map((part) => words[/** @type {number} */ (part)] ?? part).join("") };
  });
  return content;
}
