/** The groups of the graph: a frame around what is inside, or one box for all of it; the buttons that fold them. */

import { draw, make, set, write } from "./dom.js";
import { STRINGS } from "./strings.js";

const SIDE_MARGIN = 12;

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
    const button = make("button", { type: "button", class: "group", "data-group": index }, label, state);
    button.addEventListener("click", () => toggle(index));
    return { button, label, state };
  });
  /** @type {Map<number, number>} */
  const first = new Map(); // entry of each group
  trace.entries.forEach(({ output }, entry) => {
    for (const group of folds.around(layout.tensors[output].group)) if (!first.has(group)) first.set(group, entry);
  });
  const element = make("div", { class: "groups" });
  /** @type {[number[], typeof buttons[number] | null]} */
  let [shown, now] = [[], null];

  /** The groups that are not within a folded one. */
  const outermost = () => [...layout.groups.keys()].filter((index) => folds.cover(layout.groups[index].parent) < 0);
  /**
   * Draws the frames in view; returns the width that is empty on each side of the picture.
   * @type {(layer: Element, boxes: Box[], near: (top: number, bottom: number) => boolean) => number}
   */
  const paint = (layer, boxes, near) => {
    const there = outermost();
    /** @param {number} index */
    const boxOf = (index) => (folds.isFolded(index) ? layout.groups[index].folded : layout.groups[index]);
    shown = there.filter((index) => near(layout.groups[index].y, layout.groups[index].y + layout.groups[index].height));
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
    const places = shown.map((index) => {
      const [group, closed] = [layout.groups[index], folds.isFolded(index)];
      const { x, width } = closed ? group.folded : group;
      const y = folds.up(group.y);
      const { button, label } = buttons[index];
      const size = closed ? `width: ${width}px; height: ${layout.folded}px` : `max-width: ${width - 8}px`;
      set(button, "style", `--x: ${!closed && group.side === "right" ? x + width : x}px; --y: ${y}px; ${size}`);
      set(button, "data-side", closed ? null : group.side);
      set(button, "aria-expanded", !closed);
      write(label, closed ? words.folded(words[group.kind](group), group.count) : words[group.kind](group));
      return { index, closed, x, y, width, height: folds.up(group.y + group.height) - y };
    });
    const open = places.filter(({ closed }) => !closed);
    layer.replaceChildren(...open.map(({ x, y, width, height }) => draw("rect", { x, y, width, height, rx: 8 })));
    const sides = [...boxes, ...there.map(boxOf)].flatMap(({ x, width }) => [x, layout.width - x - width]);
    return Math.max(0, sides.reduce((least, side) => Math.min(least, side), layout.width / 2) - SIDE_MARGIN);
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
    const within = folds.around(group);
    const turn = within.slice(0, within.indexOf(cover)).findLast((each) => layout.groups[each].kind === "turn");
    const { output, text } = trace.entries[entry] ?? {};
    const parts = [turn && words.turn(layout.groups[turn]), text && `${trace.tensors[output].name} = ${text}`];
    write(now.state, parts.filter(Boolean).join(": "));
    return now.button;
  };
  return { element, paint, show, count: () => outermost().length };
}
