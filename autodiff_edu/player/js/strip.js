/**
 * The strip under the scrubber: how what is computed anew, under one name, changes over all steps.
 *
 * The tensors loss, loss.2, loss.3 are one curve, and so are the targets of the passes where the code has no name for
 * them. Numbers are drawn as they are, arrays as their norms; each curve has a scale of its own. Where nothing changes
 * there is no strip.
 */

import { draw, make, set, write } from "./dom.js";
import { latest } from "./history.js";
import { STRINGS } from "./strings.js";

const FEWEST_VALUES = 3; // values that make a curve
const MOST_CURVES = 4; // curves at once; each has a colour and a dash
const UNNAMED = /^t\d+$/; // a name that is not the reader's

/** A number as it is, of anything else the norm; NaN where there is none to draw. */
function heightOf({ shape, data, norm }) {
  if (!shape.length) return typeof data === "number" ? data : NaN;
  return Number(norm ?? Math.hypot(...[data ?? NaN].flat(Infinity).map(Number)));
}

/** What is drawn: {name, points, low, high}, the targets first, then what is assigned to, then the rest. */
function readCurves({ steps, tensors }, { changes }) {
  const targets = new Set(steps.filter(({ kind }) => kind === "seed").map(({ tensor }) => tensor));
  const families = new Map();
  tensors.forEach(({ name, kind }, tensor) => {
    if (kind === "constant") return;
    const rank = targets.has(tensor) ? 0 : kind === "computed" ? 2 : 1;
    const own = kind === "variable" ? name : name.replace(/\.\d+$/, "");
    const family = rank === 0 && UNNAMED.test(name) ? STRINGS.strip.target : own;
    const curve = families.get(family) ?? { name: family, rank, points: [] };
    curve.rank = Math.min(curve.rank, rank);
    for (const { step, array } of changes[tensor]) {
      curve.points.push({ step, text: array.text, scalar: !array.shape.length, height: heightOf(array) });
    }
    families.set(family, curve);
  });
  return [...families.values()].flatMap((curve) => {
    curve.points.sort((one, other) => one.step - other.step);
    const heights = curve.points.map(({ height }) => height).filter(Number.isFinite);
    const [low, high] = [Math.min(...heights), Math.max(...heights)];
    return heights.length >= FEWEST_VALUES && low < high ? [{ ...curve, low, high, heights }] : [];
  }).sort((one, other) => one.rank - other.rank);
}

/** A value holds until the next one; where it is not finite there is a gap. */
function stairsOf({ points, low, high }, end) {
  const parts = points.flatMap(({ step, height }, k) => {
    if (!Number.isFinite(height)) return [];
    const y = ((high - height) / (high - low)).toFixed(3);
    const starts = !Number.isFinite(points[k - 1]?.height);
    return [starts ? `M${step} ${y}` : `V${y}`, `H${points[k + 1]?.step ?? end}`];
  });
  return parts.join("");
}

function trendOf({ name, points, heights }) {
  const [words, from, to] = [STRINGS.strip, heights[0], heights.at(-1)];
  const way = from < to ? "rises" : from > to ? "falls" : "goes";
  return words[way](points[0].scalar ? name : words.norm(name), rounded(from), rounded(to), heights.length);
}

const rounded = (height) => String(Number(height.toPrecision(4)));

/** Null where nothing changes. While `isCovered()`, what is still to come is not told. */
export function stripView(trace, history, go, isCovered) {
  const [words, last, curves] = [STRINGS.strip, trace.steps.length - 1, readCurves(trace, history)];
  if (!curves.length) return null;
  const box = { viewBox: `0 0 ${last} 1`, preserveAspectRatio: "none", role: "img" };
  const [picture, now] = [draw("svg", box), make("i", {})];
  const [band, list] = [make("div", { class: "band" }, picture, now), make("div", { class: "chips" })];
  const element = make("div", { class: "curves" }, band, list);
  const drawn = []; // the latest last
  let current = 0;

  for (const curve of curves) {
    curve.label = make("span", {});
    curve.line = draw("path", { d: stairsOf(curve, last) });
    const sample = draw("svg", { viewBox: "0 0 20 8", "aria-hidden": true }, draw("path", { d: "M0 4H20" }));
    const about = { type: "button", "aria-pressed": false, title: words.about(curve.name) };
    curve.chip = make("button", about, sample, curve.label);
    curve.chip.addEventListener("click", () => { toggle(curve); arrange(); });
    curve.chip.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const following = curve.points.filter(({ step }) => (step - current) * by > 0).at(by < 0 ? -1 : 0);
      if (following) go(following.step);
    });
    list.append(curve.chip);
  }
  const toggle = (curve) => {
    const at = drawn.indexOf(curve);
    if (at >= 0) drawn.splice(at, 1);
    else {
      if (drawn.length === MOST_CURVES) drawn.shift();
      curve.ink = [...Array(MOST_CURVES).keys()].find((ink) => drawn.every((other) => other.ink !== ink));
      drawn.push(curve);
    }
  };
  const arrange = () => {
    for (const curve of curves) {
      const on = drawn.includes(curve);
      set(curve.chip, "aria-pressed", on);
      for (const part of [curve.chip, curve.line]) set(part, "data-ink", on ? curve.ink : null);
    }
    picture.replaceChildren(...drawn.map(({ line }) => line));
    tell(current);
  };
  /** Writes what the curves that are drawn have at a step. */
  const tell = (step) => {
    set(picture, "aria-label", isCovered() ? words.covered : drawn.map(trendOf).join(" ") || words.none);
    for (const curve of curves) {
      const known = curve.chip.dataset.ink !== undefined && latest(curve.points, step);
      if (!known) write(curve.label, curve.name);
      else if (known.scalar) write(curve.label, words.value(curve.name, known.text));
      else write(curve.label, words.size(curve.name, rounded(known.height)));
    }
  };
  const stepAt = ({ clientX }) => {
    const { left, width } = picture.getBoundingClientRect();
    return Math.max(0, Math.min(last, ((clientX - left) / width) * last));
  };
  band.addEventListener("pointermove", (event) => {
    const step = Math.round(stepAt(event));
    set(band, "title", words.at(step + 1));
    tell(step);
  });
  band.addEventListener("pointerleave", () => tell(current));
  band.addEventListener("click", (event) => {
    const at = stepAt(event);
    const changes = drawn.flatMap(({ points }) => points.map(({ step }) => step));
    const nearer = (one, other) => (Math.abs(other - at) < Math.abs(one - at) ? other : one);
    go(changes.length ? changes.reduce(nearer) : Math.round(at));
  });
  const show = (step) => {
    current = step;
    set(element, "style", `--portion: ${step / last}`);
    tell(step);
  };
  for (const curve of curves.slice(0, MOST_CURVES)) toggle(curve);
  arrange();
  return { element, show };
}
