/** The slider of a walk over contours: with λ times the identity added to the Hessian, Newton's step turns downhill. */

import { withDigits } from "./brief.js";
import { make, write } from "./dom.js";
import { EXTRA_STRINGS } from "./extra-strings.js";

const FARTHEST = 60;
const SLIDES = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

/**
 * The solution s of (H + λI) s = −g, or null if there is not just one. The numbers are rounded: so if Newton's
 * step is known, −g is taken as H times that step. Otherwise small components of s would be lost.
 * @param {number[]} gradient
 * @param {number[][]} hessian
 * @param {number} lambda
 * @param {number[]} [newton]
 */
export function dampedStep(gradient, [[a, b], [, d]], lambda, newton) {
  if (!lambda && newton) return newton;
  const [p, q] = [a + lambda, d + lambda];
  const size = p * q - b * b;
  const [x, y] = newton ? [a * newton[0] + b * newton[1], b * newton[0] + d * newton[1]] : [-gradient[0], -gradient[1]];
  const s = [(q * x - b * y) / size, (p * y - b * x) / size];
  return Math.abs(size) > 1e-10 * (Math.abs(p * q) + b * b) && s.every(Number.isFinite) ? s : null;
}

/**
 * `at(step)` is where the damped step leads in the picture, or null; `redraw` is called when the slider moves.
 * @param {Trace} trace
 * @param {() => void} redraw
 */
export function dampingView({ steps, contours }, redraw) {
  const { frame: [, , wide, tall], ranges: [[x0, x1], [y0, y1]], iterates } = contours;
  const words = EXTRA_STRINGS.contours.damping;
  const points = /** @type {Iterate[]} */ (steps);
  const known = points.map(({ eigenvalues }) => Math.max(...(eigenvalues?.data ?? [0]).map(Math.abs)));
  const largest = known.find((size) => size > 0 && Number.isFinite(size)) ?? 1;
  const slider = make("input", { type: "range", min: 0, max: FARTHEST, value: 0, "aria-label": words.name });
  const [amount, meaning] = [make("output", {}), make("p", { class: "note" })];
  let current = 0;
  const place = () => Number(slider.value);
  const factor = () => 10 ** ((place() - FARTHEST / 2) / 10);
  const lambda = () => (place() > 0 ? Number((largest * factor()).toPrecision(2)) : 0);

  /** @param {number} step */
  const stepAt = (step) => {
    const { gradient, hessian, newton } = points[step];
    return dampedStep(gradient.data, hessian.data, lambda(), newton?.data);
  };
  /** @type {(step: number) => Point | null} */
  const at = (step) => {
    const [found, [x, y]] = [lambda() > 0 ? stepAt(step) : null, iterates[step].at];
    const pixel = (/** @type {number} */ number) => Math.max(-1e5, Math.min(1e5, number));
    return found && [pixel(x + (found[0] / (x1 - x0)) * wide), pixel(y - (found[1] / (y1 - y0)) * tall)];
  };
  /** @param {number} step */
  const show = (step) => {
    current = step;
    const [found, { eigenvalues }] = [stepAt(step), points[step]];
    write(amount, `λ = ${lambda()}`);
    const text = found && `[${found.map((part) => withDigits(Number(part.toPrecision(6)), 3)).join(" ")}]`;
    const downhill = eigenvalues && eigenvalues.data[0] + lambda() > 0;
    const moves = found?.some(Boolean);
    write(meaning, !found ? words.none : !moves ? words.still : downhill ? words.downhill(text) : words.unsure(text));
  };
  slider.addEventListener("input", () => { show(current); redraw(); });
  // The player's keys would move its steps.
  slider.addEventListener("keydown", (event) => { if (SLIDES.includes(event.key)) event.stopPropagation(); });
  const element = make("div", { class: "damping" }, make("label", {}, words.label, slider, amount), meaning);
  return { element, show, at };
}
