/**
 * Curves: how what is computed anew, under one name, changes over all steps.
 *
 * The tensors loss, loss₂, loss₃ are one curve, and so are the targets of the passes where the code has no name for
 * them. Numbers are drawn as they are, arrays as their norms; each curve has a scale of its own, logarithmic if its
 * values span many magnitudes. Cotangents always are; each is drawn at its size once its pass has added it up.
 */

import * as SHARED from "../../text/shared.json";
import { flat } from "./array.js";
import { memoryCurve } from "./memory.js";
import { STRINGS } from "./strings.js";

const FEWEST_VALUES = 3; // values that make a curve
const FEWEST_COTANGENTS = 5; // cotangents that do: fewer are read off the graph

/**
 * A number as it is, of anything else the norm; NaN where there is none to draw.
 * @param {NDArray} array
 */
function heightOf({ shape, data, norm }) {
  if (!shape.length) return typeof data === "number" ? data : NaN;
  return Number(norm ?? Math.hypot(...flat({ data: data ?? NaN }).map(Number)));
}

/** @type {(change: Pick<Change, "step" | "array">) => Height} */
const pointOf = ({ step, array }) =>
  ({ step, text: array.text, scalar: !array.shape.length, height: heightOf(array) });

/**
 * @typedef {{ step: number, text: string, scalar: boolean, height: number }} Height
 * @typedef {{ name: string, rank: number, points: Height[] }} Family
 * @typedef {Family & { low: number, high: number, heights: number[], log?: boolean }} Curve
 */

/**
 * @param {Family} family
 * @param {boolean} log
 * @returns {Curve}
 */
function scaled({ points: all, ...family }, log) {
  const points = all.map((point) => ({ ...point, height: log ? Math.log10(Math.abs(point.height)) : point.height }));
  const heights = points.map(({ height }) => height).filter(Number.isFinite);
  return { ...family, points, heights, log, low: Math.min(...heights), high: Math.max(...heights) };
}

/**
 * What is drawn, memory first where it is the point, the targets, then what is assigned to, then the rest.
 * @param {Pick<Trace, "steps" | "tensors" | "tapes" | "begins">} trace
 * @param {{ changes: Change[][] }} history
 * @returns {Curve[]}
 */
export function readCurves({ steps, tensors, tapes, begins = [] }, { changes }) {
  const families = withStarts(familiesOf(steps, tensors, (tensor) => changes[tensor]), begins);
  // In two turns of a training, what is assigned to has three values, and the target only two.
  const trained = steps.some(({ kind }) => kind === "assign");
  return [...memoryCurve({ steps, tapes }), ...families].flatMap((curve) => {
    const sizes = curve.points.map(({ height }) => Math.abs(height)).filter((size) => size > 0 && size < Infinity);
    const isLong = Math.max(...sizes) > SHARED.logarithmic * Math.min(...sizes);
    const drawn = scaled(curve, isLong && sizes.length >= FEWEST_VALUES);
    const enough = drawn.heights.length >= (trained && !curve.rank ? 2 : FEWEST_VALUES);
    return enough && drawn.low < drawn.high ? [drawn] : [];
  }).sort((one, other) => one.rank - other.rank);
}

/**
 * Adds to the tensors of a name what it began as.
 * @type {(all: Family[], begins: { name: string, step: number, array: NDArray }[]) => Family[]}
 */
const withStarts = (all, begins) => all.map((family) => {
  const starts = begins.filter(({ name }) => name === family.name).map(pointOf);
  const points = [...starts, ...family.points].sort((one, other) => one.step - other.step);
  return { ...family, points };
});

/**
 * The tensors that have one name, with what `changesOf` lists of each, in order.
 * @type {(steps: Step[], tensors: Tensor[], changesOf: (tensor: number) => Change[]) => Family[]}
 */
function familiesOf(steps, tensors, changesOf) {
  const targets = new Set(steps.filter(({ kind }) => kind === "seed").map(({ tensor }) => tensor));
  /** @type {Map<string, Family>} */
  const families = new Map();
  const origins = tensors.map((_, tensor) => tensor); // of the tensors that got another's name, the first with it
  for (const { tensor, from } of steps) if (from !== undefined) origins[tensor] = origins[from];
  tensors.forEach(({ name, unnamed, kind }, tensor) => {
    if (kind === "constant") return;
    const rank = targets.has(tensor) ? 0 : kind === "computed" ? 2 : 1;
    const own = kind === "variable" ? tensors[origins[tensor]].name : name.replace(/[₀-₉]+$/u, "");
    const family = rank === 0 && unnamed ? STRINGS.strip.target : own;
    const curve = families.get(family) ?? { name: family, rank, points: [] };
    curve.rank = Math.min(curve.rank, rank);
    curve.points.push(...changesOf(tensor).map(pointOf));
    families.set(family, curve);
  });
  for (const { points } of families.values()) points.sort((one, other) => one.step - other.step);
  return [...families.values()];
}

/**
 * The sizes of cotangents, with the exponents to base 10 as heights; what is 0 or not finite has no place on the scale.
 * First come those of what is assigned to or watched, then those that have most values. The tensor that
 * a name began as is left out: after `x = a`, what comes back to a comes from all of a's uses.
 * @param {Pick<Trace, "steps" | "tensors">} trace
 * @param {{ totals: (tensor: number) => Change[] }} history
 * @returns {Curve[]}
 */
export function readCotangents({ steps, tensors }, { totals }) {
  const rankOf = ({ rank = 0 }) => (rank === 1 ? 0 : 1);
  return familiesOf(steps, tensors, totals).map((family) => scaled(family, true))
    .filter(({ heights, points }) => heights.length && points.length >= FEWEST_COTANGENTS)
    .sort((one, other) => rankOf(one) - rankOf(other) || other.points.length - one.points.length);
}

/** @param {number} exponent */
export const formatPower = (exponent) => String(Number((10 ** exponent).toPrecision(2)));

/**
 * The path of a curve. A value holds until the next one; where it is not finite there is a gap.
 * @param {Pick<Curve, "points" | "low" | "high">} curve
 * @param {number} end
 */
export function stairsOf({ points, low, high }, end) {
  const parts = points.flatMap(({ step, height }, k) => {
    if (!Number.isFinite(height)) return [];
    const y = ((high - height) / (high - low || 1)).toFixed(3);
    const starts = !Number.isFinite(points[k - 1]?.height);
    return [starts ? `M${step} ${y}` : `V${y}`, `H${points[k + 1]?.step ?? end}`];
  });
  return parts.join("");
}

/**
 * A curve in words.
 * @param {Pick<Curve, "name" | "points" | "heights" | "log">} curve
 */
export function trendOf({ name, points, heights, log }) {
  const [words, from, to] = [STRINGS.strip, heights[0], heights.at(-1)];
  if (log) return words.logarithmic(name, formatPower(from), formatPower(to), heights.length);
  const way = from < to ? "rises" : from > to ? "falls" : "goes";
  return words[way](points[0].scalar ? name : words.norm(name), formatHeight(from), formatHeight(to), heights.length);
}

/** @param {number} height */
export const formatHeight = (height, digits = 4) => String(Number(height.toPrecision(digits)));

/**
 * How low and how high a curve goes, in few digits, but in as many as tell these two apart.
 * @type {(curve: Pick<Curve, "low" | "high" | "log">, digits?: number) => [string, string]}
 */
export function formatRange({ low, high, log }, digits = 3) {
  if (log) return [formatPower(low), `${formatPower(high)}, log`];
  const [from, to] = [formatHeight(low, digits), formatHeight(high, digits)];
  return from === to ? formatRange({ low, high }, digits + 1) : [from, to];
}
