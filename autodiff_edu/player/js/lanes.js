/** Several tapes side by side: what each of them has of each entry, and what happens to a whole tape. */

const LOST = { reset: "forgotten", release: "released" };

/**
 * Reads the trace once. `rows` are the lines of the list from top to bottom: {entry} or, for what happens to a whole
 * tape, {step}. `of(entry, tape, step)` says what a tape has of an entry: "recorded", "cut", "skip", "paused",
 * "backward" or "tangents" (its own pass computes it, for others to record), "forgotten", "released" or "".
 */
export function readLanes({ steps, entries, tapes }) {
  const [rows, met, paused, passes] = [[], new Set(), new Set(), new Map()];
  const lanes = entries.map(() => tapes.map(() => ({ from: Infinity, fate: "", lost: Infinity, as: "" })));
  const held = tapes.map(() => []); // the lanes of the entries that each tape has now
  const begin = (lane, from, fate) => { if (lane.from > from) Object.assign(lane, { from, fate }); };
  steps.forEach(({ kind, pass, tape }, number) => {
    const as = kind === "move" ? "tangents" : "backward";
    if (pass !== undefined) passes.set(pass, { first: number, as, ...passes.get(pass), tape, last: number });
  });
  steps.forEach(({ kind, entry, tape, pass }, number) => {
    if (entry !== undefined && !met.has(entry)) {
      met.add(entry);
      rows.push({ entry });
    }
    if (kind === "pause") paused.add(tape);
    if (kind === "resume" || kind === "reset") paused.delete(tape);
    if (["pause", "resume", "reset", "release"].includes(kind)) rows.push({ step: number });
    for (const lane of LOST[kind] ? held[tape].splice(0) : []) Object.assign(lane, { lost: number, as: LOST[kind] });
    if (entry === undefined || pass !== undefined) return;
    const lane = lanes[entry][tape];
    begin(lane, number, kind === "record" ? "recorded" : kind);
    if (kind !== "skip") held[tape].push(lane);
    for (const other of paused) begin(lanes[entry][other], number, "paused");
    for (const { first, last, as, tape: puller } of passes.values()) {
      if (first < number && number < last && puller !== tape) begin(lanes[entry][puller], number, as);
    }
  });
  const of = (entry, tape, step) => {
    const { from, fate, lost, as } = lanes[entry][tape];
    return step < from ? "" : step < lost ? fate : as;
  };
  /** What became of an entry on all the tapes that had it, if none of them has it whole any more. */
  const lost = (entry, step) => {
    const fates = entries[entry].tapes.map((tape) => of(entry, tape, step));
    return fates.length && fates.every((fate) => fate === "forgotten" || fate === "released") ? fates[0] : null;
  };
  return { rows, of, lost };
}
