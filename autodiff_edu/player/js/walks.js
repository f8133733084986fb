/** Predict's questions about the next point of a walk over contours. */

import { chosen } from "./answers.js";
import { PARTS } from "./parts.js";

export function walkQuestions({ steps }) {
  const { longer, curves } = PARTS.contours.ask;
  const length = ({ gradient }) => Math.hypot(...gradient.data);
  return {
    longer: (step, number) => {
      const [before, now] = [length(steps[number - 1]), length(step)];
      if (!(before < now || now < before)) return null;
      const { prompt, hint, yes, no, why } = longer;
      const about = { prompt: prompt(step.point.text), hint, why: why(before, now) };
      return chosen([yes, no], now > before ? yes : no, about);
    },
    curves: ({ point, eigenvalues }) => {
      if (!eigenvalues) return null;
      const { prompt, hint, up, down, both, why } = curves;
      const [low, high] = eigenvalues.data.map(Math.sign);
      const right = low > 0 ? up : high < 0 ? down : low * high < 0 ? both : null;
      return right && chosen([up, down, both], right, { prompt: prompt(point.text), hint, why: why(eigenvalues.text) });
    },
  };
}
