/** A list of buttons that is one stop of the Tab key: from there arrows lead to the others. */

import { set } from "./dom.js";

/**
 * The buttons in `list` begin with a `tabindex` of -1; `lead` makes one of them the stop, as the focus does.
 * @param {HTMLElement} list
 */
export function tabStopOf(list) {
  /** @type {Element | null} */
  let stop = null;
  const lead = (/** @type {Element} */ button) => {
    if (stop) set(stop, "tabindex", -1);
    stop = button;
    set(stop, "tabindex", 0);
  };
  list.addEventListener("focusin", ({ target }) => lead(/** @type {Element} */ (target)));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const buttons = [...list.querySelectorAll("button")];
    buttons[buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target)) + by]?.focus();
  });
  return { lead, isThere: () => list.contains(stop) };
}
