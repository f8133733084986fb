/** The groups of the graph: a frame around what is inside, or one box for all of it; the buttons that fold them. */

import { draw, make, set, shorten, write } from "./dom.js";
import { clamp } from "./pane.js";
import { STRINGS } from "./strings.js";
import { tabStopOf } from "./tab-stop.js";

const CHARACTER = 7.3; // as layout.py has it, which measures the boxes
const SIDES = 20; // of a box, around its label

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {Layout} layout
 * @param {import("./folds.js").Folds} folds
 * @param {(group: number) => void} toggle
 */
export function groupsView(trace, history, layout, folds, toggle) {
  const words = STRINGS.graph.groups;
  const buttons = layout.groups.map((group, index) => {
    const [label, state] = ["label", "state"].map((name) => make("span", { class: name }));
    const about = { type: "button", class: "group", tabindex: -1, id: `group-${index}`, "data-group": index };
    const button = make("button", about, label, state);
    button.addEventListener("click", () => toggle(index));
    return { button, label, state };
  });
  /** @type {Map<number, number>} */
  const first = new Map(); // entry of each group
  trace.entries.forEach(({ output }, entry) => {
    for (const group of folds.around(layout.tensors[output].group)) if (!first.has(group)) first.set(group, entry);
  });
  const element = make("div", { class: "groups" });
  const stop = tabStopOf(element);
  /** @type {[number[], typeof buttons[number] | null]} */
  let [shown, now] = [[], null];

  /** The groups that are not within a folded one. */
  const outermost = () => [...layout.groups.keys()].filter((index) => folds.cover(layout.groups[index].parent) < 0);
  /**
   * What is written on a folded box: all of it, or of a long name its beginning.
   * @param {Group} group
   */
  const labelOf = (group) => {
    const [name, rest] = [group.title, words.folded("▸ ", group.count).length];
    const room = Math.floor((group.folded.width - SIDES) / CHARACTER);
    return words.folded(shorten(name, Math.max(room - rest, 4)), group.count);
  };
  /**
   * Where a group that can be seen is in the picture: its box, or the frame around what is inside.
   * @param {number} index
   */
  const placeOf = (index) => {
    const [group, closed] = [layout.groups[index], folds.isFolded(index)];
    const [x, y] = [folds.across(closed ? group.folded.x : group.x), folds.up(group.y)];
    const width = closed ? group.folded.width : folds.across(group.x + group.width) - x;
    return { index, closed, x, y, width, height: folds.up(group.y + group.height) - y };
  };
  /**
   * Draws the frames in view.
   * @type {(layer: Element, near: (top: number, bottom: number) => boolean) => void}
   */
  const paint = (layer, near) => {
    shown = outermost().filter((index) => {
      const { y, height } = layout.groups[index];
      return near(y, y + height);
    });
    /** @type {Element | null} */
    let before = null; // those that stay are left alone: to move one would take the focus from it
    /** @type {Set<Element>} */
    const wanted = new Set(shown.map((index) => buttons[index].button));
    for (const button of [...element.children]) if (!wanted.has(button)) button.remove();
    for (const button of wanted) {
      const next = before ? before.nextSibling : element.firstChild;
      if (button !== next) element.insertBefore(button, next);
      before = button;
    }
    if (before && !stop.isThere()) stop.lead(element.firstElementChild);
    const places = shown.map(placeOf);
    for (const { index, closed, x, y, width, height } of places) {
      const [group, { button, label }] = [layout.groups[index], buttons[index]];
      const size = closed ? `width: ${width}px; height: ${height}px` : `max-width: ${width - 8}px`;
      set(button, "style", `--x: ${!closed && group.side === "right" ? x + width : x}px; --y: ${y}px; ${size}`);
      set(button, "data-side", closed ? null : group.side);
      set(button, "aria-expanded", !closed);
      const name = group.title;
      set(button, "title", closed ? words.folded(name, group.count) : name);
      write(label, closed ? labelOf(group) : name);
    }
    const open = places.filter(({ closed }) => !closed);
    layer.replaceChildren(...open.map(({ x, y, width, height }) => draw("rect", { x, y, width, height, rx: 8 })));
  };

  /** Keeps the label of each frame in the part of the picture that is seen, as far as the frame reaches. */
  const keepLabels = (/** @type {import("./pane.js").Rectangle} */ view) => {
    for (const { index, closed, x, width } of shown.map(placeOf)) {
      const { title, side } = layout.groups[index];
      const rest = width - Math.min(width, CHARACTER * (title.length + 2) + SIDES); // of the frame, beside its label
      const home = side === "right" ? x + rest : x;
      const seen = clamp(home, view.x, view.x + view.width - width + rest);
      buttons[index].button.style.translate = closed ? "" : `${clamp(seen, x, x + rest) - home}px`;
    }
  };
  /**
   * Shows the step on the folded boxes; gives the button of the one that hides the group at hand.
   * @type {(step: number, group: number, entry: number | undefined) => HTMLElement | null}
   */
  const show = (step, group, entry) => {
    if (now) write(now.state, "");
    const cover = folds.cover(group);
    for (const index of shown) {
      const state = folds.isFolded(index) ? history.state(first.get(index), step) : null;
      set(buttons[index].button, "data-state", state === "now" ? "recorded" : state);
    }
    now = cover < 0 ? null : buttons[cover];
    if (!now) return null;
    set(now.button, "data-state", "now");
    if (now.button.isConnected) stop.lead(now.button);
    // A contribution to an earlier turn is still a step of the entry that sends it.
    const { output, text } = trace.entries[entry] ?? {};
    const home = folds.around(output === undefined ? -1 : layout.tensors[output].group);
    const sends = home.includes(cover);
    const within = sends ? home : folds.around(group);
    const turn = within.slice(0, within.indexOf(cover)).findLast((each) => layout.groups[each].kind === "turn");
    const parts = [turn && layout.groups[turn].title, sends && `${trace.tensors[output].name} = ${text}`];
    write(now.state, parts.filter(Boolean).join(": "));
    return now.button;
  };
  /** @param {number} index */
  const nameOf = (index) => layout.groups[index].title;
  const buttonOf = (/** @type {number} */ index) => buttons[index].button;
  return { element, paint, keepLabels, show, outermost, placeOf, nameOf, buttonOf };
}
