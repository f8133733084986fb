/**
 * The strip under the scrubber: the curves of what changes over the steps, drawn up to the step at hand and faint after
 * it, and the size of one cotangent on a logarithmic scale. A trace in which nothing changes has no strip.
 */

import { formatHeight, formatPower, formatRange, readCotangents, readCurves, stairsOf, trendOf } from "./curves.js";
import { draw, make, set, write } from "./dom.js";
import { latest } from "./history.js";
import { STRINGS } from "./strings.js";

const MOST_CURVES = 4; // curves at once; each has a colour and a dash

/**
 * @typedef {import("./curves.js").Curve & {
 *   label: HTMLElement, line: SVGPathElement, zero: SVGPathElement | "", chip: HTMLButtonElement, ink?: number,
 * }} Shown
 */

/**
 * Null where nothing changes. While `isCovered()`, what is still to come is not told.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {(step: number) => void} go
 * @param {() => boolean} isCovered
 */
export function stripView(trace, history, go, isCovered) {
  /** @type {[typeof STRINGS.strip, number, Shown[]]} */
  const [words, last, curves] =
    [STRINGS.strip, trace.steps.length - 1, /** @type {Shown[]} */ (readCurves(trace, history))];
  const cotangents = readCotangents(trace, history);
  if (!curves.length && !cotangents.length) return null;
  const box = { viewBox: `0 0 ${last} 1`, preserveAspectRatio: "none", role: "img" };
  const [picture, now] = [draw("svg", box), make("i", {})];
  const ends = ["high", "low"].map((end) => make("span", { class: `end ${end}` }));
  const [band, list] = [make("div", { class: "band" }, picture, now, ...ends), make("div", { class: "chips" })];
  const options = [...cotangents.map(({ name }) => words.cotangent(name)), words.noCotangent]
    .map((text, index) => make("option", { value: index }, text));
  const which = make("select", { "aria-label": words.which, title: words.which }, ...options);
  const size = make("span", {});
  const chosen = make("label", { class: "cotangent" }, which, size);
  chosen.hidden = !cotangents.length;
  which.addEventListener("change", () => arrange());
  const fall = draw("path", { class: "fall" });
  const element = make("div", { class: "curves" }, band, make("div", { class: "legend-row" }, list, chosen));
  /** @type {Shown[]} */
  const drawn = []; // the latest last
  let current = 0;

  for (const curve of curves) {
    curve.label = make("span", {});
    const zero = curve.low < 0 && curve.high > 0 && !curve.log;
    curve.line = draw("path", { d: stairsOf(curve, last) });
    curve.zero = zero ? draw("path", { class: "zero", d: `M0 ${curve.high / (curve.high - curve.low)}H${last}` }) : "";
    const sample = draw("svg", { viewBox: "0 0 20 8", "aria-hidden": true }, draw("path", { d: "M0 4H20" }));
    const about = { type: "button", "aria-pressed": false, title: words.about(curve.name) };
    const range = make("span", { class: "range" }, words.range(...formatRange(curve)));
    curve.chip = make("button", about, sample, curve.label, range);
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
  const toggle = (/** @type {Shown} */ curve) => {
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
    const cotangent = cotangents[Number(which.value)];
    if (cotangent) set(fall, "d", stairsOf(cotangent, last));
    ends.forEach((end, k) => write(end, cotangent ? formatPower(k ? cotangent.low : cotangent.high) : ""));
    picture.replaceChildren(...drawn.flatMap(({ line, zero }) => [zero, line]), ...(cotangent ? [fall] : []));
    tell(current);
  };
  /**
   * Writes what the curves that are drawn have at a step.
   * @param {number} step
   */
  const tell = (step) => {
    const cotangent = cotangents[Number(which.value)];
    const trends = [...drawn, ...(cotangent ? [{ ...cotangent, name: words.cotangentOf(cotangent.name) }] : [])]
      .map(trendOf).join(" ");
    set(picture, "aria-label", isCovered() ? words.covered : trends || words.none);
    const added = cotangent && latest(cotangent.points, step);
    write(size, added ? words.equals(formatPower(added.height)) : "");
    for (const curve of curves) {
      const known = curve.chip.dataset.ink !== undefined && latest(curve.points, step);
      if (!known) write(curve.label, curve.name);
      else if (known.scalar) write(curve.label, words.value(curve.name, known.text));
      else write(curve.label, words.size(curve.name, (curve.log ? formatPower : formatHeight)(known.height)));
    }
  };
  const stepAt = (/** @type {MouseEvent} */ { clientX }) => {
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
    const all = [...drawn, cotangents[Number(which.value)]].filter(Boolean);
    const changes = all.flatMap(({ points }) => points.map(({ step }) => step));
    /** @type {(one: number, other: number) => number} */
    const nearer = (one, other) => (Math.abs(other - at) < Math.abs(one - at) ? other : one);
    go(changes.length ? changes.reduce(nearer) : Math.round(at));
  });
  const show = (/** @type {number} */ step) => {
    current = step;
    set(element, "style", `--portion: ${step / last}`);
    tell(step);
  };
  for (const curve of curves.slice(0, MOST_CURVES)) toggle(curve);
  arrange();
  return { element, show };
}
