/** Corners: the entries whose rule chose a slope, and a picture of the slopes on both sides and of the one it took. */

import { draw, make, reveal } from "./dom.js";
import { STRINGS } from "./strings.js";

const [SIDE, EDGE] = [34, 5]; // pixels: how far a line goes from the point, and the room around it

/**
 * The steps at a corner, by what their entry computes: those of the pass on show, once the entry is pulled back.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 */
export function readCorners({ steps, entries }, history) {
  /** @type {Map<string, { entry: number, at: number[] }>} */
  const found = new Map();
  steps.forEach(({ corner, pass, entry }, step) => {
    if (!corner) return;
    const key = `${pass}.${entries[entry].output}`;
    if (!found.has(key)) found.set(key, { entry, at: [] });
    found.get(key).at.push(step);
  });
  /** @type {(tensor: number | undefined, step: number) => number[]} */
  return (tensor, step) => {
    const { entry, at } = found.get(`${history.pass[step]}.${tensor}`) ?? {};
    return at && history.arrived(entry, step) ? at : [];
  };
}

/** @type {(slope: string) => number} */
const toNumber = (slope) => Number(slope.replace("inf", "Infinity"));

/**
 * Where a line of a slope ends, `side` to the left (-1) or to the right (1) of the point. The steepest goes up at 45°.
 * @type {(slope: number, steepest: number, side: number) => number[]}
 */
function endOf(slope, steepest, side) {
  const scale = Number.isFinite(steepest) ? steepest : 1;
  const [rise, run] = Number.isFinite(slope) ? [slope, scale] : [Math.sign(slope), 0];
  const length = SIDE / Math.hypot(run, rise);
  return [side * run * length, -side * rise * length];
}

/**
 * The two one-sided slopes, meeting at the point, and through it the one that the rule takes.
 * @param {Corner} corner
 */
function picture({ left, right, slope }) {
  const slopes = [left, right, slope].map(toNumber); // the last may be complex
  const steepest = Math.max(...slopes.map((each) => Math.abs(each) || 0));
  const [ofLeft, ofRight, ...taken] = [slopes[0], slopes[1], slopes[2], slopes[2]].map((each, k) =>
    endOf(each, steepest, k % 2 ? 1 : -1));
  const through = Number.isNaN(slopes[2]) ? [] : taken;
  const heights = [0, ...[ofLeft, ofRight, ...through].map(([, y]) => y)];
  const [top, bottom] = [Math.min(...heights) - EDGE, Math.max(...heights) + EDGE];
  const [width, height] = [2 * (SIDE + EDGE), bottom - top];
  const lineOf = (/** @type {number[][]} */ points) => points.map(([x, y], k) => `${k ? "L" : "M"}${x} ${y}`).join("");
  return draw("svg", { viewBox: `${-width / 2} ${top} ${width} ${height}`, width, height, "aria-hidden": true },
    draw("path", { class: "sides", d: lineOf([ofLeft, [0, 0], ofRight]) }),
    draw("path", { class: "taken", d: lineOf(through) }), draw("circle", { r: 3.5 }));
}

/**
 * The corners of the entry at hand: as it is pulled back all of them, and at a contribution the one that it has.
 * @param {Trace} trace
 * @param {ReturnType<typeof readCorners>} corners
 */
export function cornersView(trace, corners) {
  const element = make("div", { class: "corners" });
  const words = STRINGS.corner;
  /** @type {(step: number) => Element} */
  const drawCorner = (step) => {
    const { corner, entry, tensor } = trace.steps[step];
    const { element: index, others, left, right, slope } = corner;
    const name = index.length ? `${trace.tensors[tensor].name}[${index.join(", ")}]` : trace.tensors[tensor].name;
    const rows = [["left", words.left, left], ["right", words.right, right], ["taken", words.taken, slope]];
    const list = make("dl", {}, ...rows.map(([kind, term, number]) =>
      make("div", { class: kind }, make("dt", {}, term), make("dd", {}, number))));
    const caption = make("p", { class: "label" }, words.at(name, trace.entries[entry].operation, others));
    return make("div", { "data-corner": step }, caption, picture(corner), list);
  };
  let seen = "";
  const show = (/** @type {number} */ number) => {
    const { kind, entry } = trace.steps[number];
    const all = corners(trace.entries[entry]?.output, number);
    const at = kind === "pull back" ? all : kind === "accumulate" ? all.filter((step) => step === number) : [];
    const box = element.closest(".scroll");
    if (at.join() !== seen) {
      element.replaceChildren(...at.map(drawCorner));
      if (box) box.scrollTop = 0;
    }
    seen = at.join();
    if (box && seen) reveal(box, element, 0);
  };
  return { element, show };
}
