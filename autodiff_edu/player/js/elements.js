/** The elements of a small array, of which the reader chooses one: with the mouse, or with the arrow keys. */

import { flat, formatBriefly, limitOf, magnitude, shade } from "./array.js";
import { make, set } from "./dom.js";
import { STRINGS } from "./strings.js";

/**
 * `choose` hears the choice among what is `offered`: by the place of an element in its array, a number that it has.
 * @param {(number: number) => void} choose
 */
export function elementsView(choose) {
  const element = make("div", { class: "elements", role: "radiogroup", "aria-label": STRINGS.nudge.element });
  /** @type {[NDArray | null, Map<number, number>, HTMLButtonElement[]]} */
  let [current, offered, buttons] = [null, new Map(), []];
  /** @type {(array: NDArray) => void} */
  const build = (array) => {
    const [numbers, limit] = [flat(array), limitOf(array)];
    buttons = numbers.map((item, at) => {
      const style = `border-bottom-color: ${shade(magnitude(item), limit)}`;
      const button = make("button", { type: "button", role: "radio", style }, formatBriefly(item, 3));
      button.addEventListener("click", () => offered.has(at) && choose(offered.get(at)));
      return button;
    });
    set(element, "style", `--columns: ${array.shape.at(-1)}`);
    element.replaceChildren(...buttons);
  };
  /**
   * Shows an array with its `chosen` element lit; nothing if there is nothing to choose.
   * @type {(array: NDArray, some: Map<number, number>, chosen: number | undefined) => void}
   */
  const show = (array, some, chosen) => {
    offered = some;
    element.hidden = some.size < 2;
    if (element.hidden) return;
    if (array !== current) build(current = array);
    const reached = chosen ?? [...some.keys()][0]; // with Tab
    buttons.forEach((button, at) => {
      set(button, "aria-checked", at === chosen);
      set(button, "tabindex", at === reached ? 0 : -1);
      set(button, "aria-disabled", !some.has(at) || null);
    });
  };
  element.addEventListener("keydown", (event) => {
    const columns = current.shape.at(-1);
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    const next = buttons[buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target)) + by];
    if (!by) return;
    event.preventDefault();
    next?.focus();
    next?.click();
  });
  return { element, show };
}

/**
 * The place of an element among all of its array.
 * @type {(index: number[], shape: number[]) => number}
 */
export const placeOf = (index, shape) => index.reduce((place, at, axis) => place * shape[axis] + at, 0);
