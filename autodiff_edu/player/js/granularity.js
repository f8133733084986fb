/** How far one move goes: to the next operation, line, turn of a loop, or pass. Where each leads is worked out once. */

/** @typedef {"operation" | "line" | "turn" | "pass"} Size */

export const RECORDS = new Set(["record", "cut", "skip"]);
const HEADING = /^\s*(?:async\s+)?(?:for|while)\b/;

/**
 * The steps at which a turn of a loop of the program begins, by its own lines: of loops within each other the
 * outermost. The step after a loop counts too. There are none where the program's text is not known.
 * @param {Pick<Trace, "steps" | "code" | "calls">} trace
 */
function readHeadings({ steps, code, calls }) {
  /** @type {Set<number>} */
  const begun = new Set();
  /** @type {(call: number | undefined, outer: number | undefined) => boolean} */
  const isWithin = (call, outer) => call === outer || (call !== undefined && isWithin(calls[call].caller, outer));
  /** @type {Map<number, Map<number, number>>} */
  const indents = new Map(code.map(({ first_line: first, lines }, each) => [each, new Map(lines.flatMap((line, k) =>
    (HEADING.test(line) ? [[first + k, line.search(/\S/)]] : [])))]));
  /** @type {{ call: number | undefined, indent: number } | undefined} */
  let loop;
  steps.forEach(({ kind, where, call, passed = [] }, number) => {
    const lines = kind === "line" && where ? [...passed, [where.code, where.line]] : passed;
    for (const [each, line] of lines) {
      const indent = indents.get(each)?.get(line);
      if (indent === undefined) continue;
      if (loop && isWithin(call, loop.call) && (call !== loop.call || indent > loop.indent)) continue;
      loop = { call, indent };
      begun.add(number);
    }
  });
  return begun;
}

/**
 * The sizes that a trace has, from the smallest to the largest, and where each lands: at the last steps of its lines
 * or turns, where all that they made is on show; at the first steps of its passes; and at the last step of all. A turn
 * is one of the outermost loop, and begins with what its tape watches; every turn and every pass begins a line, too, or
 * a loop of one line would be one move.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {Pick<Layout, "groups" | "tensors">} layout
 */
export function readSizes(trace, history, { groups, tensors }) {
  const { steps, entries } = trace;
  const last = steps.length - 1;
  const headings = readHeadings(trace);
  /** @type {Map<number, string>} */
  const headed = new Map(); // by entry
  if (headings.size > 1) {
    let heading = "";
    steps.forEach(({ entry }, number) => {
      if (headings.has(number)) heading = `heading ${number}`;
      if (entry !== undefined && !headed.has(entry)) headed.set(entry, heading);
    });
  }
  const turns = entries.map(({ output }, entry) => {
    /** @type {[string | null, string]} */
    let [turn, inner] = [null, `entry ${entry}`];
    for (let group = tensors[output]?.group ?? -1; group >= 0; group = groups[group].parent) {
      if (groups[group].kind === "loop") turn = inner;
      inner = `group ${group}`;
    }
    return turn ?? headed.get(entry) ?? null; // the lines of a long loop are known for its first turns only
  });
  const ends = new Map(steps.map((step, number) => [step.pass, number]));
  const open = steps.map(() => /** @type {number | null} */ (null)); // the pass under way, of several the latest
  for (const first of history.turns) open.fill(steps[first].pass, first, ends.get(steps[first].pass) + 1);
  const known = headings.size > 1 ? [...headings] : [];
  /** @type {Record<"turn" | "pass" | "line", Set<number>>} */
  const starts = { turn: new Set(known), pass: new Set(), line: new Set() };
  let tail = last + 1; // what tells the outcome at the end is part of no turn
  while (["release", "outcome"].includes(steps[tail - 1]?.kind)) tail--;
  /** @type {(string | null)[]} */
  let [turn, place, pass] = [null, null, null];
  let hasJustBegun = false; // whether nothing has been computed since the last heading
  /** @param {number} number */
  const opens = (number) => {
    const { kind, what } = steps[number] ?? {};
    return kind === "watch" || what === "condition" || (kind === "line" && headings.has(number));
  };
  steps.forEach(({ entry }, number) => {
    const word = history.phase(number);
    const passes = word === "backward" || word === "tangents"; // what a tape does after a pass belongs to it
    const now = open[number] !== null ? `pass ${open[number]}` : passes ? pass : word;
    if (now !== pass) starts.pass.add(number);
    pass = now;
    const own = number >= tail ? null : entry === undefined ? turn : turns[entry];
    // Between two headings of the program no other turn begins, nor right after the last heading, before anything is
    // computed. A turn that records nothing is its heading alone.
    if (own !== turn && !(number > known[0] && (number < known.at(-1) || hasJustBegun))) {
      let begin = number;
      while (opens(begin - 1) && !headings.has(begin)) begin--;
      starts.turn.add(begin);
    }
    hasJustBegun = headings.has(number) || (hasJustBegun && entry === undefined);
    turn = own;
    // A watch belongs to the line that first reads the tensor, wherever it is written.
    let user = number;
    while (steps[user]?.kind === "watch") user++;
    const { where, call } = steps[RECORDS.has(steps[user]?.kind) ? user : number];
    const there = where ? `${where.code}:${where.line} in ${call}` : place;
    if (there !== place) starts.line.add(number);
    place = there;
  });
  for (const start of [...starts.turn, ...starts.pass]) starts.line.add(start);
  const landings = Object.entries(starts).map(/** @returns {[Size, number[]]} */ ([size, found]) =>
    [size, [...new Set([...[...found].map((step) => step - (size === "pass" ? 0 : 1)), last])]
      .filter((step) => step > 0).sort((one, other) => one - other)]);
  landings.sort(([, one], [, other]) => other.length - one.length);
  /** @type {[Size, number[] | null][]} */
  const sizes = [["operation", null]];
  for (const [size, found] of landings) {
    if (found.length > 1 && found.length < (sizes.at(-1)[1]?.length ?? last)) sizes.push([size, found]);
  }
  return sizes;
}

/**
 * Where a move from a step lands, forward (1) or back (-1).
 * @type {(landings: number[] | null, step: number, way: 1 | -1) => number}
 */
export function landing(landings, step, way) {
  if (!landings) return step + way;
  let [low, high] = [0, landings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (landings[middle] < step + (way > 0 ? 1 : 0)) low = middle + 1;
    else high = middle;
  }
  return way > 0 ? (landings[low] ?? step) : (landings[low - 1] ?? 0);
}
