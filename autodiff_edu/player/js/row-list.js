/** Lists of rows; of a long one, only the rows in view are in the page. */

import { build, reveal, set } from "./dom.js";

export const MANY = 200; // rows; no more are in the page all at once
const BEYOND = 12; // rows above and below those in view that are there too
const HEIGHT = 24; // of a row, until one is laid out

/** @typedef {{ element: HTMLElement, update: (step: number) => void }} Row */

/**
 * The style of a list with numbers in front: their column is as wide as the largest of them.
 * @param {number} largest
 */
export const digits = (largest) => `--digits: ${String(largest).length}`;

/**
 * Fills `list`, in the `box` that scrolls, with `count` rows, which `draw(index)` makes: {element, update(step)}.
 * The rows of a long list are of one height, and padding stands for those that are not in the page. Where rows open,
 * `refill(count)` draws them all anew; there are at `most` so many.
 * @param {HTMLElement} box
 * @param {HTMLElement} list
 * @param {number} count
 * @param {(index: number) => Row} draw
 */
export function rowListView(box, list, count, draw, most = count) {
  /** @type {Map<number, Row>} */
  const there = new Map(); // by their indexes: the rows in the page
  const long = most > MANY;
  let [step, height] = [0, HEIGHT];
  set(list, "data-long", long || null);

  /** @type {(from: number, to: number) => void} */
  const put = (from, to) => {
    const focused = /** @type {ShadowRoot} */ (list.getRootNode()).activeElement;
    for (const [index, { element }] of there) {
      if (index >= from && index < to) continue;
      if (element.contains(focused)) box.focus({ preventScroll: true }); // else the keys would go to the page
      element.remove();
      there.delete(index);
    }
    let after = null;
    for (let index = to - 1; index >= from; index--) {
      if (!there.has(index)) {
        const row = draw(index);
        there.set(index, row);
        row.update(step);
        const place = { "aria-setsize": count, "aria-posinset": index + 1 };
        if (long && row.element.matches("li")) build(row.element, place);
        list.insertBefore(row.element, after);
      }
      after = there.get(index).element;
    }
    if (!long) return;
    measure();
    list.style.padding = `${from * height}px 0 ${(count - to) * height}px`;
  };
  /** Whether the rows are of another height than they were: on stage they are larger. */
  const measure = () => {
    const [first, last] = [list.firstElementChild, list.lastElementChild].map((row) => row.getBoundingClientRect());
    const now = (last.bottom - first.top) / there.size || height; // with its fractions, which add up
    if (Math.abs(now - height) < 0.1) return false;
    height = now;
    return true;
  };

  /** From where to where the box shows the list, in pixels from its beginning. */
  const seen = () => {
    const top = box.getBoundingClientRect().top - list.getBoundingClientRect().top;
    return [top, top + box.clientHeight];
  };
  const paint = () => {
    if (!long || !list.clientHeight) return; // short, or not laid out
    const changed = measure();
    const [top, bottom] = seen().map((y) => Math.max(0, Math.min(count, Math.floor(y / height))));
    const [from, to] = [Math.max(0, top - BEYOND), Math.min(count, bottom + BEYOND)];
    if (changed || there.size !== to - from || !there.has(from)) put(from, to);
  };
  /**
   * Scrolls a row into view; gives its element.
   * @param {number} index
   */
  const bring = (index) => {
    if (!long) reveal(box, there.get(index).element);
    else {
      for (let round = 0; round < 2; round++) { // once it is there, its place is known
        paint();
        const [[top, bottom], row] = [seen(), there.get(index)?.element];
        const y = row ? row.getBoundingClientRect().top - list.getBoundingClientRect().top : index * height;
        if (y < top + height) box.scrollTop += y - top - height;
        else if (y + 2 * height > bottom) box.scrollTop += y + 2 * height - bottom;
      }
      paint();
      if (!there.has(index)) put(Math.max(0, index - BEYOND), Math.min(count, index + BEYOND)); // out of sight
    }
    return there.get(index).element;
  };
  /** @param {number} now */
  const refill = (now) => {
    const focused = /** @type {ShadowRoot} */ (list.getRootNode()).activeElement;
    const had = list.contains(focused);
    for (const { element } of there.values()) element.remove();
    there.clear();
    count = now;
    put(0, long ? Math.min(count, 2 * BEYOND) : count);
    paint();
    if (had) /** @type {HTMLElement} */ (list.contains(focused) ? focused : box).focus({ preventScroll: true });
  };
  /** @param {number} now */
  const show = (now) => {
    step = now;
    for (const row of there.values()) row.update(now);
  };
  put(0, long ? Math.min(count, 2 * BEYOND) : count);
  if (long) {
    box.addEventListener("scroll", paint);
    new ResizeObserver(paint).observe(box);
  }
  return { bring, show, paint, refill, at: (/** @type {number} */ index) => there.get(index)?.element };
}
