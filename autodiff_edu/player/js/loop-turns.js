/** The turns of loops in the tape's list: where the graph is folded at first, each turn is one row, which opens. */

/**
 * `rows` are those of tape-lanes.js. `shown()` lists what you see from top to bottom: such a row, or {turn, entry}, a
 * turn and its first entry; each has the turns that it is `within`. `follow(row)` opens the turns around a row, and
 * closes those that it opened before; `toggle(turn)` opens or closes one. `place(row)` is where a row is shown, or
 * the closed turn around it.
 * @param {import("./tape-lanes.js").Row[]} rows
 * @param {Pick<Trace, "entries">} trace
 * @param {Pick<Layout, "groups" | "tensors" | "open">} layout
 */
export function readTurns(rows, { entries }, { groups, tensors, open }) {
  /** @type {(group: number) => number[]} */
  const around = (group) => {
    if (open || !(group >= 0)) return [];
    return [...around(groups[group].parent), ...(groups[group].kind === "turn" ? [group] : [])];
  };
  /** @type {(number[] | null)[]} */
  const within = rows.map(({ entry }) => (entry === undefined ? null : around(tensors[entries[entry].output]?.group)));
  // What happens to a whole tape between two entries of a loop belongs to the turn that is under way.
  /**
   * @param {number} turn
   * @param {number[]} next
   */
  const isOn = (turn, next) => next.some((other) => groups[other].parent === groups[turn].parent);
  /** @type {number[]} */
  let next = [];
  const following = within.map(() => /** @type {number[]} */ (null));
  for (let row = rows.length - 1; row >= 0; row--) [following[row], next] = [next, within[row] ?? next];
  within.forEach((turns, row) => {
    within[row] = turns ?? (within[row - 1] ?? []).filter((turn) => isOn(turn, following[row]));
  });

  /** @typedef {{ within: number[], turn?: number, entry?: number, step?: number }} Line */
  /** @type {[Line[], Line[]]} */
  const [lines, lineOf] = [[], []];
  rows.forEach((row, number) => {
    const turns = within[number];
    turns.forEach((turn, depth) => {
      if (!within[number - 1]?.includes(turn)) lines.push({ turn, entry: row.entry, within: turns.slice(0, depth) });
    });
    lineOf.push({ ...row, within: turns });
    lines.push(lineOf.at(-1));
  });
  /** @type {[Set<number>, Set<number>]} */
  const [opened, lent] = [new Set(), new Set()]; // lent: those that opened by themselves, and close by themselves
  /** @type {[Line[] | null, string | null]} */
  let [seen, latest] = [null, null];
  const shown = () => (seen ??= lines.filter((line) => line.within.every((turn) => opened.has(turn))));
  const change = (/** @type {number} */ turn, /** @type {boolean} */ isOpen) => {
    opened[isOpen ? "add" : "delete"](turn);
    seen = null;
  };
  const follow = (/** @type {number} */ row) => {
    const turns = within[row];
    if (turns.join() === latest) return false;
    latest = turns.join();
    for (const turn of lent) if (!turns.includes(turn) && lent.delete(turn)) change(turn, false);
    for (const turn of turns) if (!opened.has(turn)) { change(turn, true); lent.add(turn); }
    return !seen;
  };
  const toggle = (/** @type {number} */ turn) => {
    lent.delete(turn);
    change(turn, !opened.has(turn));
  };
  const place = (/** @type {number} */ row) => {
    const closed = within[row].find((turn) => !opened.has(turn));
    return closed === undefined ? shown().indexOf(lineOf[row]) : shown().findIndex(({ turn }) => turn === closed);
  };
  return { shown, follow, toggle, place, isOpen: (/** @type {number} */ turn) => opened.has(turn), most: lines.length };
}
