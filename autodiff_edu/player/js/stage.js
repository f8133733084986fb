/**
 * Stage mode: the player fills the screen, with the code, the sentence and the numbers large enough for the last row.
 *
 * Beside the code stands one of the panels, on a wide screen two; tabs and digits choose. A presenter's remote blanks
 * the screen and steps. Where full screen is refused, in a frame of another page say, the
 * player lies over the page it is in.
 */

import { build, make, set } from "./dom.js";
import { STAGE_KEYS } from "./keys.js";
import { STRINGS } from "./strings.js";

/** In the order in which they are offered; what a document is made for comes first on stage. */
const TABS = {
  panel: ".panel", graph: ".graph-figure", tape: ".tape-figure",
  sweep: ".sweep", contours: ".contours", compiling: ".shrink",
};
const PROGRAM = '.program-figure [aria-expanded="true"]';
const IDLE_AFTER = 3000; // milliseconds without the mouse until the controls fade

/**
 * `root` is the player in its host, `button` shows whether it is on stage; `redraw` brings into view what was lit.
 * `rest` stops what plays.
 * @param {HTMLElement} host
 * @param {HTMLElement} root
 * @param {HTMLElement} button
 * @param {{ redraw: () => void, rest: () => void }} player
 */
export function stageView(host, root, button, { redraw, rest }) {
  const figures = Object.entries(TABS).map(/** @returns {[keyof typeof TABS, Element | null]} */ ([name, selector]) =>
    [name, root.querySelector(selector)]);
  const there = figures.filter(([, figure]) => figure);
  const tabs = there.map(([name], k) => {
    const about = { type: "button", "data-tab": name, title: `${STRINGS.stage[name]} (${k + 1})` };
    return make("button", about, STRINGS.stage[name]);
  });
  const list = make("nav", { class: "tabs", "aria-label": STRINGS.stage.tabs, hidden: "" }, ...tabs);
  const choose = (/** @type {string | undefined} */ chosen) => {
    set(root, "data-tab", chosen ?? null);
    for (const [k, [name, figure]] of there.entries()) {
      set(figure, "data-behind", name === chosen ? null : "");
      set(tabs[k], "aria-pressed", name === chosen);
    }
  };
  /** Of a panel that is chosen again the graph beside it makes room. */
  const turn = (/** @type {string} */ chosen) => {
    const again = chosen === root.dataset.tab && !root.hasAttribute("data-alone");
    set(root, "data-alone", again ? "" : null);
    choose(chosen);
    redraw();
  };
  for (const tab of tabs) tab.addEventListener("click", () => turn(tab.dataset.tab));
  const isFull = () => host.matches(":fullscreen"); // in a page's shadow root too, where fullscreenElement is another
  const isOn = () => root.hasAttribute("data-stage");
  const isBlank = () => root.hasAttribute("data-blank");
  const blank = (/** @type {boolean} */ on) => { set(root, "data-blank", on ? "" : null); if (on) rest(); };
  /** @type {ReturnType<typeof setTimeout>} */
  let waiting;
  const wake = () => {
    clearTimeout(waiting);
    set(root, "data-idle", null);
    if (isOn()) waiting = setTimeout(() => set(root, "data-idle", ""), IDLE_AFTER);
  };
  /** @type {HTMLElement | null} */
  let folded = null; // the program, if it was open at the desk
  const show = (/** @type {boolean} */ on) => {
    set(root, "data-stage", on ? "" : null);
    set(list, "hidden", on ? null : "");
    set(button, "aria-pressed", on);
    // The learner's code has more use of the room than what it is in NumPy, which a press on its name brings back.
    if (on) folded = root.querySelector(PROGRAM);
    if (on || folded?.ariaExpanded === "false") folded?.click();
    blank(false);
    wake();
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
  /**
   * Wakes a blank screen, and says whether the key did.
   * @param {KeyboardEvent} event
   */
  const handleKey = (event) => {
    if (!isOn() || event.ctrlKey || event.altKey || event.metaKey || !isBlank()) return false;
    event.preventDefault();
    event.stopPropagation();
    blank(false);
    return true;
  };
  const tab = (/** @type {string} */ key) => {
    const chosen = there[STAGE_KEYS.tab.indexOf(key)];
    if (chosen) turn(chosen[0]);
  };
  for (const moved of ["pointermove", "pointerdown"]) root.addEventListener(moved, wake);
  root.addEventListener("click", (event) => {
    if (!isBlank()) return;
    event.stopPropagation(); // it only wakes the screen
    blank(false);
  }, { capture: true });
  host.addEventListener("fullscreenchange", () => { if (!isFull()) leave(); });
  const made = there.find(([name]) => name === "sweep") ?? there[0];
  choose(made?.[0]);
  return { list, isOn, leave, handleKey, tab, blank: () => blank(true), toggle: () => (isOn() ? leave() : enter()) };
}
