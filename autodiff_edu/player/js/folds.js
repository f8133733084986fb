/** Folding: which groups are folded, and where that leaves everything else. layout.py says how it works. */

/** @typedef {ReturnType<typeof readFolds>} Folds */

/** @param {Layout} layout */
export function readFolds({ groups, folded: height, open }) {
  const folded = groups.map(() => !open);
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
  /** @param {number} group */
  const toggle = (group) => { folded[group] = !folded[group]; settle(); };
  settle();
  return { around, cover, up, toggle, isFolded: (/** @type {number} */ group) => folded[group] };
}
