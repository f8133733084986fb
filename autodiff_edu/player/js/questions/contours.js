/** Predict's questions about the next point of a walk over contours. */

import { askChoice } from "../answers.js";
import { EXTRA_STRINGS } from "../extra-strings.js";

/** @param {Trace} trace */
export function contourQuestions({ steps }) {
  const iterates = /** @type {Iterate[]} */ (steps);
  const { longer, curves } = EXTRA_STRINGS.contours.ask;
  /** @param {Iterate} step */
  const length = ({ gradient }) => Math.hypot(...gradient.data);
  return {
    longer: (/** @type {Iterate} */ step, /** @type {number} */ number) => {
      const [before, now] = [length(iterates[number - 1]), length(step)];
      if (!(before < now || now < before)) return null;
      const { prompt, hint, yes, no, why } = longer;
      const about = { prompt: prompt(step.point.text), hint, why: why(before, now) };
      return askChoice([yes, no], now > before ? yes : no, about);
    },
    curves: (/** @type {Iterate} */ { point, eigenvalues }) => {
      if (!eigenvalues) return null;
      const { prompt, hint, up, down, both, why } = curves;
      const [low, high] = eigenvalues.data.map(Math.sign);
      const right = low > 0 ? up : high < 0 ? down : low * high < 0 ? both : null;
      const about = { prompt: prompt(point.text), hint, why: why(eigenvalues.text) };
      return right && askChoice([up, down, both], right, about);
    },
  };
}
