/** What flows at a step: quantities that run along the lit lines, and accumulators that grow where they arrive. */

const [SLOWEST, FASTEST] = [450, 100]; // milliseconds; what would be shorter is not seen, and is left out
const SHARE = 0.6; // of the time since the last step, or to the next, so that all of it is over before that
const ARRIVAL = 0.7; // when the quantity is there and the accumulator begins to grow
// A contribution that is followed through the formula takes longer: its bead a third, the rest what is carried on.
const [LONGER, WHOLE, THIRD] = [4, 0.9, 1 / 3];
const [GAP, HEIGHT] = [4, 24]; // between beads that arrive side by side; below each other they are apart already

/** @typedef {ReturnType<typeof readFlow>} Flow */

/** `during` draws a step; the others do something only if that step is the next after the last, on stage slower. */
export function readFlow(staged = () => false) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  /** @type {[number | null, number, number, (() => void)[]]} */
  let [at, since, duration, running] = [null, 0, 0, []];
  let [arrival, growth] = [ARRIVAL, ARRIVAL]; // when the bead is there, and when the accumulator begins to grow
  /** @type {number[] | null} */
  let resting = null; // where in the window a contribution's bead comes to rest
  /** @type {{ x: number, y: number, width: number }[]} */
  const landed = []; // what has been sent on its way at this step, where it arrives
  /** @type {(step: number, draw: () => void, followed?: boolean, lasts?: number) => void} */
  const during = (step, draw, followed = false, lasts = Infinity) => {
    for (const end of running.splice(0)) end();
    const now = performance.now();
    const slowest = (staged() ? 2 : 1) * (followed ? LONGER : 1) * SLOWEST; // in a hall it is followed from afar
    const room = Math.min(slowest, (followed ? WHOLE : SHARE) * Math.min(now - since, lasts));
    [arrival, growth] = followed ? [THIRD, 1] : [ARRIVAL, ARRIVAL];
    resting = null;
    duration = at !== null && step === at + 1 && room >= FASTEST && !calm.matches ? room : 0;
    [at, since] = [step, now];
    landed.splice(0);
    draw();
    duration = 0; // redrawing the same step is not a step
  };
  /** @type {(element: Element, frames: Keyframe[], times: KeyframeAnimationOptions) => Animation} */
  const run = (element, frames, times) => {
    const animation = element.animate(frames, { fill: "backwards", ...times });
    running.push(() => animation.cancel());
    return animation;
  };
  /**
   * Bends a way so that at its end the element stands beside those that arrive there at the same time, not on them.
   * @type {(element: Element, points: number[][]) => number[][]}
   */
  const keepClear = (element, points) => {
    const [[end, y], width] = [points.at(-1), Number(element.querySelector("rect")?.getAttribute("width") ?? 0)];
    let x = end;
    for (const other of [...landed].sort((one, two) => Math.abs(one.x - end) - Math.abs(two.x - end))) {
      const room = (width + other.width) / 2 + GAP;
      if (Math.abs(other.y - y) < HEIGHT && Math.abs(other.x - x) < room) x = other.x + (end < other.x ? -room : room);
    }
    landed.push({ x, y, width });
    return points.map(([along, down], k) => [along + ((x - end) * k) / (points.length - 1 || 1), down]);
  };
  /**
   * Sends an element along a line of points, if things flow; it `rests` in its place after that, or is gone.
   * @type {(element: Element, points: number[][], rests: NDArray | undefined) => boolean}
   */
  const travel = (element, line, rests) => {
    if (!duration) return false;
    const points = rests ? line : keepClear(element, line);
    const gone = [0]; // so far, at each point
    points.slice(1).forEach(([x, y], k) => gone.push(gone[k] + Math.hypot(x - points[k][0], y - points[k][1])));
    const frames = points.map(([x, y], k) =>
      ({ transform: `translate(${x}px, ${y}px)`, offset: gone[k] / (gone.at(-1) || 1), opacity: 1 }));
    frames.at(-1).offset = 1;
    const flight = run(element, frames, { duration: arrival * duration, easing: "ease-in-out" });
    if (!rests) flight.onfinish = () => element.remove();
    return true;
  };
  /**
   * Moves elements from one shift of their places to another, with shifts as [x, y].
   * @param {[element: Element, from: number[], to: number[]][]} moves
   */
  const slide = (moves) => {
    if (!duration) return;
    const shift = (/** @type {number[]} */ [x, y]) => ({ transform: `translate(${x}px, ${y}px)` });
    for (const [element, from, to] of moves) run(element, [shift(from), shift(to)], { duration: arrival * duration });
  };
  const appear = (/** @type {Element[]} */ ...elements) => {
    if (!duration) return;
    const times = { delay: growth * duration, duration: (1 - growth) * duration };
    for (const element of elements) run(element, [{ opacity: 0 }, { opacity: 1 }], times);
  };
  /**
   * Shows what was there before, and from the arrival on what is there now; no number that never was in between.
   * @type {(show: (array: NDArray | null) => void, before: NDArray | null | undefined, after: NDArray) => void}
   */
  const grow = (show, before, after) => {
    if (!duration) return;
    show(before);
    const arrives = () => show(after);
    const timer = setTimeout(arrives, growth * duration);
    running.push(() => { clearTimeout(timer); arrives(); });
  };
  /** How long each part of what is followed through the formula takes; 0 if nothing flows. */
  const third = () => (growth === ARRIVAL ? 0 : THIRD * duration);
  const rest = () => resting;
  const restAt = (/** @type {number[] | null} */ place) => { resting = place; };
  return { staged, during, travel, slide, appear, grow, third, run, rest, restAt };
}
