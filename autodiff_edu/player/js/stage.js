/**
 * Stage mode: the player fills the screen, with the code, the sentence and the numbers large enough for the last row.
 *
 * What else there is stands behind tabs. Where full screen is refused, in a frame of another page say, the player lies
 * over the page it is in.
 */

import { build, make, set } from "./dom.js";
import { STRINGS } from "./strings.js";

const TABS = {
  panel: ".panel", graph: ".graph-figure", tape: ".tape-figure",
  sweep: ".sweep", contours: ".contours", compiling: ".shrink",
};

/**
 * `root` is the player in its host, `button` shows whether it is on stage; `redraw` brings into view what was lit.
 * @param {HTMLElement} host
 * @param {HTMLElement} root
 * @param {HTMLElement} button
 * @param {() => void} redraw
 */
export function stageView(host, root, button, redraw) {
  const figures = Object.entries(TABS).map(/** @returns {[keyof typeof TABS, Element | null]} */ ([name, selector]) =>
    [name, root.querySelector(selector)]);
  const there = figures.filter(([, figure]) => figure);
  const tabs = there.map(([name]) => make("button", { type: "button", "data-tab": name }, STRINGS.stage[name]));
  const list = make("nav", { class: "tabs", "aria-label": STRINGS.stage.tabs, hidden: "" }, ...tabs);
  const choose = (/** @type {string | undefined} */ chosen) => {
    for (const [k, [name, figure]] of there.entries()) {
      set(figure, "data-behind", name === chosen ? null : "");
      set(tabs[k], "aria-pressed", name === chosen);
    }
  };
  for (const tab of tabs) tab.addEventListener("click", () => { choose(tab.dataset.tab); redraw(); });
  const isFull = () => host.matches(":fullscreen"); // in a page's shadow root too, where fullscreenElement is another
  const isOn = () => root.hasAttribute("data-stage");
  const show = (/** @type {boolean} */ on) => {
    set(root, "data-stage", on ? "" : null);
    set(list, "hidden", on ? null : "");
    set(button, "aria-pressed", on);
    redraw();
  };
  const enter = async () => {
    show(true);
    try {
      await host.requestFullscreen();
      if (!isOn()) host.ownerDocument.exitFullscreen(); // left before it had come
    } catch {
      if (!isOn()) return;
      build(root, { popover: "manual" }); // above everything, whatever the page has around the player
      root.showPopover();
    }
    root.focus({ preventScroll: true });
  };
  const leave = () => {
    if (!isOn()) return;
    show(false);
    if (isFull()) host.ownerDocument.exitFullscreen();
    if (root.popover) { root.hidePopover(); set(root, "popover", null); }
  };
  host.addEventListener("fullscreenchange", () => { if (!isFull()) leave(); });
  choose(there[0]?.[0]);
  return { list, isOn, leave, toggle: () => (isOn() ? leave() : enter()) };
}
