/** Several tapes side by side: what each of them has of each entry, and what happens to a whole tape. */

/** @type {Record<string, string>} */
const LOST = { reset: "forgotten", release: "released" };
/** @typedef {{ entry?: number, step?: number }} Row */
/** @typedef {{ from: number, fate: string, lost: number, as: string }} Lane */
/** @type {Lane} */
const NONE = { from: Infinity, fate: "", lost: Infinity, as: "" };
export const MOST_LANES = 6;

/**
 * Reads the trace once. `rows` are the lines of the list from top to bottom: {entry} or, for what happens to a whole
 * tape, {step}. `of(entry, tape, step)` says what a tape has of an entry: "recorded", "cut", "skip", "paused",
 * "backward" or "tangents" (its own pass computes it, for others to record), "forgotten", "released" or "".
 * `shown(step)` are the tapes that have a lane then, and `first(tape)` is the first step of a tape.
 * @param {Pick<Trace, "steps" | "entries" | "tapes">} trace
 */
export function readLanes({ steps, entries, tapes }) {
  /** @typedef {{ first: number, last: number, as: string, tape: number }} Span */
  /** @type {[Row[], Set<number>, Set<number>, Map<number, Span>]} */
  const [rows, met, paused, passes] = [[], new Set(), new Set(), new Map()];
  /** @type {Map<number, Lane>[]} */
  const lanes = entries.map(() => new Map()); // by tape
  const held = tapes.map(() => /** @type {Lane[]} */ ([])); // the lanes of the entries that each tape has now
  // The first and the last step of each.
  const spans = tapes.map(() => /** @type {{ first: number, last: number } | null} */ (null));
  /** @type {(entry: number, tape: number, from: number, fate: string) => void} */
  const begin = (entry, tape, from, fate) => {
    if (!lanes[entry].has(tape)) lanes[entry].set(tape, { from, fate, lost: Infinity, as: "" });
  };
  steps.forEach(({ kind, pass, tape }, number) => {
    const as = kind === "move" ? "tangents" : "backward";
    if (pass !== undefined) passes.set(pass, { first: number, as, ...passes.get(pass), tape, last: number });
    if (tape != null) spans[tape] = { first: number, ...spans[tape], last: number };
  });
  /** @type {Map<number, Span>} */
  const open = new Map(); // the passes that are under way
  steps.forEach(({ kind, entry, tape, pass }, number) => {
    if (entry !== undefined && !met.has(entry)) {
      met.add(entry);
      rows.push({ entry });
    }
    if (pass !== undefined) open.set(pass, passes.get(pass));
    if (open.get(pass)?.last === number) open.delete(pass);
    if (kind === "pause") paused.add(tape);
    if (kind === "resume" || kind === "reset") paused.delete(tape);
    if (["pause", "resume", "reset", "release"].includes(kind)) rows.push({ step: number });
    for (const lane of LOST[kind] ? held[tape].splice(0) : []) Object.assign(lane, { lost: number, as: LOST[kind] });
    if (entry === undefined || pass !== undefined) return;
    begin(entry, tape, number, kind === "record" ? "recorded" : paused.has(tape) ? "paused" : kind);
    if (kind !== "skip") held[tape].push(lanes[entry].get(tape));
    for (const other of paused) begin(entry, other, number, "paused");
    for (const { tape: puller, as } of open.values()) if (puller !== tape) begin(entry, puller, number, as);
  });
  /** @type {(entry: number, tape: number, step: number) => string} */
  const of = (entry, tape, step) => {
    const { from, fate, lost, as } = lanes[entry].get(tape) ?? NONE;
    return step < from ? "" : step < lost ? fate : as;
  };
  /**
   * What became of an entry on all the tapes that had it, if none of them has it whole any more.
   * @type {(entry: number, step: number) => string | 0 | false | null}
   */
  const lost = (entry, step) => {
    const fates = entries[entry].tapes.map((tape) => of(entry, tape, step));
    return fates.length && fates.every((fate) => fate === "forgotten" || fate === "released") ? fates[0] : null;
  };
  const all = [...tapes.keys()];
  /**
   * Those that are at work at the step, and then those that were or will be soonest; in order.
   * @param {number} step
   */
  const shown = (step) => {
    if (tapes.length <= MOST_LANES) return all;
    /** @param {{ first: number, last: number }} each */
    const away = ({ first, last }) => Math.max(first - step, step - last, 0);
    const near = all.filter((tape) => spans[tape]).sort((a, b) => away(spans[a]) - away(spans[b]) || b - a);
    return near.slice(0, MOST_LANES).sort((a, b) => a - b);
  };
  const first = (/** @type {number} */ tape) => spans[tape]?.first ?? 0;
  return { rows, of, lost, shown, first, heads: headsOf(tapes.map(({ name }) => name)) };
}

/**
 * What stands above the lanes: their own numbers, or where tapes have numbers in their names, those of the tapes.
 * @param {string[]} names
 */
function headsOf(names) {
  const numbers = names.map((name) => name.match(/\d+$/)?.[0]);
  if (!numbers.some(Boolean)) return names.map((_, lane) => String(lane + 1));
  /**
   * @param {string} name
   * @param {number} letters
   */
  const start = (name, letters) => Array.from(name).slice(0, letters).join("");
  /** @type {((name: string, tape: number) => string)[]} */
  const ways = [
    (name, tape) => numbers[tape] ?? start(name, 1), (name, tape) => numbers[tape] ?? start(name, 2),
    (name, tape) => start(name, 1) + (numbers[tape] ?? ""), (name, tape) => start(name, 2) + (numbers[tape] ?? ""),
  ];
  const all = ways.map((way) => names.map(way));
  return all.find((heads) => new Set(heads).size === heads.length) ?? names;
}
