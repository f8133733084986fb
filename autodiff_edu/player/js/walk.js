/** Walking about in the graph with the keys: up and down along the lines, sideways among those that lead to one box. */

/**
 * `coverOf` gives the folded group that hides a tensor, or -1, and `placeOf` its place in the picture. The walk begins
 * at `start()`; `visit` hears where it is, undefined when it is over, and `go` the tensor at which Enter was pressed.
 * @param {HTMLElement} box which has the focus
 * @param {Trace} trace
 * @param {{
 *   coverOf: (tensor: number) => number, placeOf: (tensor: number) => { x: number, width: number },
 *   start: () => number | undefined, visit: (tensor: number | undefined) => void, go: (tensor: number) => void,
 * }} graph
 */
export function walkWithKeys(box, { entries }, { coverOf, placeOf, start, visit, go }) {
  /** @type {[Map<number, number[]>, Map<number, number[]>]} */
  const [inputs, outputs] = [new Map(), new Map()]; // by tensor
  for (const entry of entries) {
    inputs.set(entry.output, entry.inputs);
    for (const input of entry.inputs) {
      if (!outputs.has(input)) outputs.set(input, []);
      outputs.get(input).push(entry.output);
    }
  }
  const middle = (/** @type {number} */ tensor) => { const { x, width } = placeOf(tensor); return x + width / 2; };
  /**
   * Where the lines lead from a tensor, from left to right: to other tensors, and one in each folded group. Lines
   * within a folded group are followed until they leave it.
   * @type {(tensor: number, lines: Map<number, number[]>) => number[]}
   */
  const along = (tensor, lines) => {
    const [here, ahead, passed] = [coverOf(tensor), [tensor], new Set([tensor])];
    /** @type {Map<number | string, number>} */
    const found = new Map();
    while (ahead.length) {
      for (const next of lines.get(ahead.pop()) ?? []) {
        if (passed.has(next)) continue;
        passed.add(next);
        const cover = coverOf(next);
        if (cover >= 0 && cover === here) ahead.push(next);
        else found.set(cover < 0 ? next : `group ${cover}`, next);
      }
    }
    return [...found.values()].sort((one, other) => middle(one) - middle(other));
  };
  /** @type {number | undefined} */
  let at;
  /** @type {number[]} */
  let beside = []; // those to which the same box leads
  const stand = (/** @type {number | undefined} */ tensor) => { at = tensor; visit(at); };
  const follow = (/** @type {Map<number, number[]>} */ lines) => {
    const ahead = at === undefined ? [start()] : along(at, lines);
    if (!ahead.length || ahead[0] === undefined) return;
    beside = ahead;
    const from = middle(at ?? ahead[0]);
    stand(ahead.reduce((best, one) => (Math.abs(middle(one) - from) < Math.abs(middle(best) - from) ? one : best)));
  };
  const turn = (/** @type {number} */ by) => stand(beside[beside.indexOf(at) + by] ?? at);
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowUp: () => follow(inputs), ArrowDown: () => follow(outputs),
    ArrowLeft: () => turn(-1), ArrowRight: () => turn(1), Enter: () => go(at), Escape: () => stand(undefined),
  };
  box.addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, altKey, metaKey, shiftKey } = event;
    if (target !== box || ctrlKey || altKey || metaKey || shiftKey || !keys[key]) return;
    // Before the walk begins, the other keys are the player's.
    if (at === undefined && !["ArrowUp", "ArrowDown"].includes(key)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[key]();
  });
  box.addEventListener("blur", () => { if (at !== undefined) stand(undefined); });
}
