/** Folding: which groups are folded, and where that leaves everything else. layout.py says how it works. */

/** @typedef {ReturnType<typeof readFolds>} Folds */

const GAP = 20; // from left to right; what is empty beyond that is left out
const MARGIN = 12; // on both sides

/** @param {Layout} layout */
export function readFolds({ groups, folded: height, open, tensors, links }) {
  const folded = groups.map(() => !open);
  /** @type {Set<number>} */
  const chosen = new Set(); // by the reader
  /** @type {number[]} */
  let followed = []; // unfolded for the step at hand alone
  /**
   * The group and those around it, from the inside.
   * @type {(group: number) => number[]}
   */
  const around = (group) => (group < 0 ? [] : [group, ...around(groups[group].parent)]);
  /**
   * The folded box in which a group cannot be seen; -1 where it can.
   * @param {number} group
   */
  const cover = (group) => covers[group] ?? -1;
  /** @type {[number[], { top: number, bottom: number, cut: number }[]]} */
  let [covers, strips] = [[], []]; // strips: those cut out of the picture, from top to bottom
  /** @type {{ from: number, to: number, at: number }[]} */
  let columns = []; // what is not empty from top to bottom, and where it begins now, from left to right
  const settle = () => {
    let cut = 0;
    covers = []; // a group stands after the one that it is in
    groups.forEach(({ parent }, group) => {
      const outer = covers[parent] ?? -1;
      covers.push(outer < 0 && folded[group] ? group : outer);
    });
    strips = groups.flatMap((group, index) => {
      if (cover(index) !== index) return [];
      const strip = { top: group.y + height, bottom: group.y + group.height, cut };
      cut += strip.bottom - strip.top;
      return [strip];
    });
    columns = [];
    for (const [from, to] of spans().sort(([a], [b]) => a - b)) {
      const last = columns.at(-1);
      if (last && from <= last.to + GAP) last.to = Math.max(last.to, to);
      else columns.push({ from, to, at: last ? last.at + last.to - last.from + GAP : MARGIN });
    }
  };
  /** Where each thing that can be seen begins and ends, from left to right. */
  const spans = () => {
    const isSeen = (/** @type {Box | Link} */ { group }) => cover(group) < 0;
    /** @type {(box: { x: number, width: number }) => number[]} */
    const span = ({ x, width }) => [x, x + width];
    const found = tensors.filter(isSeen).map(span);
    for (const link of links) if (isSeen(link) && !isFolded(link.into)) found.push([link.points[2], link.points[2]]);
    groups.forEach((group, index) => {
      if (cover(group.parent) >= 0) return;
      const { x, width, folded: box, side } = group;
      const label = { x: side === "left" ? x : x + width - box.width, width: box.width };
      if (folded[index]) found.push(span(box));
      else found.push(span(label), [x, x], [x + width, x + width]);
    });
    return found;
  };
  /**
   * Where a height of the whole picture is when the strips above it are gone.
   * @param {number} y
   */
  const up = (y) => {
    let [low, high] = [0, strips.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (strips[middle].top < y) low = middle + 1;
      else high = middle;
    }
    const last = strips[low - 1];
    return last ? Math.max(y, last.bottom) - last.cut - (last.bottom - last.top) : y;
  };
  /**
   * Where a distance from the left of the whole picture is when what is empty is gone.
   * @param {number} x
   */
  const across = (x) => {
    let [low, high] = [0, columns.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (columns[middle].from <= x) low = middle + 1;
      else high = middle;
    }
    const column = columns[Math.max(0, low - 1)];
    return column ? column.at + Math.min(x, column.to) - column.from : x;
  };
  /**
   * Where a line passes the border of a group: a folded box is narrower than its frame, and the lines keep their order.
   * @type {(x: number, group: number | undefined) => number}
   */
  const passing = (x, group) => {
    if (!isFolded(group)) return across(x);
    const { x: left, width, folded: box } = groups[group];
    return across(box.x) + box.width * (0.1 + 0.8 * (x - left) / width);
  };
  /**
   * The points of a link as it is drawn.
   * @param {Link} link
   */
  const points = ({ points: [x, top, bentX, bent, bottom], out_of: from, into }) =>
    [passing(x, from), up(top), passing(bentX, into), up(bent), up(bottom)];
  const isFolded = (/** @type {number | undefined} */ group) => folded[group] ?? false;
  const width = () => columns.length && across(columns.at(-1).to) + MARGIN;
  /** @param {number} group */
  const toggle = (group) => {
    chosen.add(group);
    followed = followed.filter((each) => each !== group);
    folded[group] = !folded[group];
    settle();
  };
  /**
   * Unfolds what is around some groups, as print/folding.py does, and folds what was around others before; what the
   * reader has folded or unfolded stays so. Says whether that changes anything.
   * @param {number[]} some
   */
  const follow = (some) => {
    const wanted = [...new Set(some.flatMap(around))].filter((group) => !chosen.has(group));
    if (open || !wanted.length || String(wanted) === String(followed)) return false;
    for (const group of followed) folded[group] = true;
    for (const group of wanted) folded[group] = false;
    followed = wanted;
    settle();
    return true;
  };
  settle();
  return { around, cover, up, across, points, width, toggle, follow, isFolded };
}
