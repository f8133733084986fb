/** Predict's question before a pass of the compiler: how many lines will it take out? */

import { askNumber } from "../answers.js";
import { EXTRA_STRINGS } from "../extra-strings.js";

/** @param {Trace} trace */
export function compilerPassQuestions({ compiling: stages }) {
  const words = EXTRA_STRINGS.compilerPasses;
  /** @type {(step: Step, number: number) => Question | null} */
  const taken = (step, number) => {
    const { name, lines, purpose } = stages[number];
    const gone = lines.filter(({ state }) => state === "gone");
    const changed = lines.filter(({ state }) => state === "changed").length;
    if (!gone.length) return null;
    const why = words.why(gone.map(({ text }) => text.trim().split(" = ")[0]));
    const hint = /** @type {Record<string, string>} */ (words.hints)[name] ?? words.hint;
    /** @type {Partial<Question>} */
    const about = { prompt: words.prompt(name, purpose), mistakes: [[changed, words.changed]], hint, why };
    return askNumber({ data: gone.length, text: String(gone.length) }, about);
  };
  return { taken };
}
