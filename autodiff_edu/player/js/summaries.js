/** What a whole line, or a whole turn of a loop, has come to: the sentence of a move that is larger than a step. */

import { flat } from "./array.js";
import { brief } from "./brief.js";
import { RECORDS } from "./granularity.js";
import { STRINGS } from "./strings.js";

const MOST = 5; // names in a sentence
const FEW = 4; // numbers of an array that a sentence writes, as text/formatting.py does
const BACKWARD = new Set(["seed", "pull back", "accumulate"]);
const LINE = /^.*?line \d+(?:, in [^:]+)?: /i; // how the sentence of a step begins
const ASSIGNMENT = /^(\w+)\s*(?:([-+*/@%]|\*\*|\/\/)=|=)(?!=)\s*(.+)$/;

/**
 * The program's line, without what is beside it; empty for a line that is only a part of a statement.
 * @param {Trace} trace
 * @param {Where} where
 */
function readLine({ code }, { code: part, line }) {
  const text = code[part].lines[line - code[part].first_line]?.trim().replace(/\s+#[^"']*$/, "") ?? "";
  const opened = text.match(/[([{]/g)?.length ?? 0;
  return opened === (text.match(/[)\]}]/g)?.length ?? 0) && !/[\\,:;]$/.test(text) ? text : "";
}

/**
 * The numbers of an array if they are few; else nothing, and a sentence has its shape. A number has all its digits, so
 * that one sees how it changes from turn to turn.
 * @param {NDArray} array
 */
const write = (array) =>
  (!array.shape.length ? array.text : array.shape.length > 1 || flat(array).length > FEW ? "" : brief(array.text));

/**
 * What a sentence has room for: the latest, and of many those with few numbers.
 * @param {Map<string, NDArray>} all
 */
function choose(all) {
  const few = [...all].filter(([, array]) => write(array));
  return (all.size > MOST && few.length ? few : [...all]).slice(-MOST);
}

/**
 * Sums up the steps from one to another: nothing where the last one's own sentence says all there is to say.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {import("./granularity.js").Size} size
 * @param {number} first
 * @param {number} last
 */
export function summarize(trace, history, size, first, last) {
  const { steps, entries, tensors } = trace;
  const words = STRINGS.summary;
  while (first < last && steps[first].kind === "line") first++; // such as the call that a trace begins with
  const range = steps.slice(first, last + 1);
  const kinds = new Set(range.map(({ kind }) => kind));
  /** @type {(name: string) => string} */
  const written = (name) => name.replace(/[₀-₉]+$/, ""); // as the program writes it, whichever of its values it is
  const made = () => {
    /** @type {Map<string, NDArray>} */
    const found = new Map();
    /** @type {Set<string>} */
    const updated = new Set(); // listed last: the loss was computed before these new values
    for (const { kind, entry, tensor, value } of range) {
      const named = value ? tensor : RECORDS.has(kind) ? entries[entry].output : undefined;
      if (named === undefined || tensors[named].unnamed) continue;
      const name = written(tensors[named].name);
      found.set(name, value ?? history.known(named, last));
      updated[value ? "add" : "delete"](name);
    }
    const chosen = choose(found);
    const [computed, assigned] = [false, true].map((wanted) => chosen.filter(([name]) => updated.has(name) === wanted)
      .map(([name, array]) => words.value(name, write(array), array.shape)).join(", "));
    return [computed, assigned].filter(Boolean).join(words.then);
  };
  /** What it hands on: the cotangents of what it was computed from, not of what it has computed itself. */
  const handed = () => {
    const own = new Set(range.map(({ kind, entry }) => kind === "pull back" && entries[entry].output));
    /** @type {Map<string, NDArray>} */
    const found = new Map();
    for (const { kind, tensor, after } of range) {
      if (kind === "accumulate" && !own.has(tensor)) found.set(tensors[tensor].name, after);
    }
    const [few, many] = [true, false].map((wanted) => choose(found).filter(([, array]) => !write(array) !== wanted));
    const parts = few.map(([name, array], nth) => words.cotangents[nth ? "next" : "first"](name, write(array)));
    if (many.length) parts.push(words.contributions(many.map(([name, array]) => words.value(name, "", array.shape))));
    return words.list(parts);
  };
  const goesBack = [...kinds].every((kind) => BACKWARD.has(kind));
  if (size === "turn") {
    const numbered = range.filter(({ entry }) => entry !== undefined);
    const numbers = new Set(numbered.map(({ entry }) => entries[entry].turns?.[0]?.[1]));
    const [number] = numbers;
    if (numbers.size !== 1 || number === undefined || kinds.has("error")) return null;
    const said = goesBack ? handed() : made();
    return said && words[goesBack ? "back" : "forward"](words.turn(number), said);
  }
  const { where, text } = steps[last];
  if (size !== "line" || range.filter(({ kind }) => kind !== "watch").length < 2 || !where) return null;
  const line = readLine(trace, where);
  if (goesBack) {
    const said = handed();
    return line && said && words.back(line, said);
  }
  kinds.delete("watch");
  if (![...kinds].every((kind) => RECORDS.has(kind)) || !RECORDS.has(steps[last].kind) || !LINE.test(text)) return null;
  const output = tensors[entries[steps[last].entry].output];
  const [, name, operator, value] = ASSIGNMENT.exec(line.replace(/^return\b/, `${written(output.name)} =`)) ?? [];
  const [start] = LINE.exec(text);
  if (name === written(output.name)) {
    const expression = operator ? `${name} ${operator} ${/^[\w.]+$/.test(value) ? value : `(${value})`}` : value;
    return start + words.is(name, expression, write(output.value), output.value.shape);
  }
  const said = made();
  return said && `${start}${said}.`;
}
