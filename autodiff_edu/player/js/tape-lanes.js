/** Several tapes side by side: what each of them has of each entry, and what happens to a whole tape. */

/** @typedef {{ entry?: number, step?: number }} Row */
export const MOST_LANES = 6;

/**
 * Reads the trace once. `rows` are the lines of the list from top to bottom: {entry} or, for what happens to a whole
 * tape, {step}. `shown(step)` are the tapes that have a lane then, and `first(tape)` is the first step of a tape.
 * @param {Pick<Trace, "steps" | "entries" | "tapes">} trace
 * @param {Pick<import("./history.js").History, "lane">} history
 */
export function readLanes({ steps, entries, tapes }, history) {
  /** @type {[Row[], Set<number>]} */
  const [rows, met] = [[], new Set()];
  // The first and the last step of each.
  const spans = tapes.map(() => /** @type {{ first: number, last: number } | null} */ (null));
  steps.forEach(({ kind, entry, tape }, number) => {
    if (tape != null) spans[tape] = { first: number, ...spans[tape], last: number };
    if (entry !== undefined && !met.has(entry)) {
      met.add(entry);
      rows.push({ entry });
    }
    if (["pause", "resume", "reset", "release"].includes(kind)) rows.push({ step: number });
  });
  /**
   * What became of an entry on all the tapes that had it, if none of them has it whole any more.
   * @type {(entry: number, step: number) => string | 0 | false | null}
   */
  const lost = (entry, step) => {
    const fates = entries[entry].tapes.map((tape) => history.lane(entry, tape, step));
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
  return { rows, lost, shown, first, heads: headsOf(tapes.map(nameOf)) };
}

/** @type {(tape: Trace["tapes"][number], index: number, tapes: Trace["tapes"]) => string} */
const nameOf = ({ name, reruns }, index, tapes) => {
  const all = tapes.filter((tape) => tape.reruns === reruns);
  return !reruns ? name : all[1] ? `↻ ${all.indexOf(tapes[index]) + 1}` : "↻";
};

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
