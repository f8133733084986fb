/** Why a gradient is None: all the causes, in the order of the code, each a button that leads to the step about it. */

import { make, set } from "./dom.js";
import { STRINGS } from "./strings.js";

/**
 * They are there from the first step of the explanation on.
 * @param {Pick<Trace, "steps" | "causes">} trace
 * @param {(step: number) => void} go
 */
export function causesView({ steps, causes = [] }, go) {
  const first = steps.findIndex(({ kind }) => kind === "explain");
  const buttons = causes.map(({ text, step }) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("click", () => go(step));
    return button;
  });
  const heading = make("p", { class: "label" }, STRINGS.panel.causes(causes.length));
  const list = make("ol", {}, ...buttons.map((button) => make("li", {}, button)));
  const element = make("div", { class: "causes", hidden: "" }, heading, list);
  const isShown = (/** @type {number} */ number) => causes.length > 0 && first >= 0 && number >= first;
  const show = (/** @type {number} */ number) => {
    set(element, "hidden", isShown(number) ? null : "");
    buttons.forEach((button, k) => set(button, "aria-current", causes[k].step === number ? "step" : null));
  };
  return { element, show, isShown };
}
