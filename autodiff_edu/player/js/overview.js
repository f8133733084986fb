/** The map of a graph that is larger than its pane: the whole, the part that is seen, and both ends of what is lit. */

import { draw, make, set } from "./dom.js";

/** @typedef {{ x: number, y: number, width: number, height: number }} Rectangle */

const [WIDTH, HEIGHT, EDGE, THINNEST] = [120, 90, 4, 30]; // units of the map
const SIDE = 8; // pixels between the map and the sides of the pane
const ON_STAGE = 4 / 3;
const PHONE = 400; // pixels of the pane
/**
 * Where the map may stand, the corners first: at which side, and how far down.
 * @type {["left" | "right", number][]}
 */
const PLACES = [1, 0, 0.5, 0.25, 0.75].flatMap((down) => [["right", down], ["left", down]]);

/** @type {(from: number, length: number, other: number, size: number) => number} */
const common = (from, length, other, size) =>
  Math.max(0, Math.min(from + length, other + size) - Math.max(from, other));

/**
 * `look` hears at which point of the picture the reader wants to look.
 * @param {(x: number, y: number) => void} look
 */
export function overviewView(look) {
  const [boxes, ways] = ["boxes", "ways"].map((name) => draw("path", { class: name }));
  const [seen, lit] = ["seen", "lit-box"].map((name) => draw("rect", { class: name }));
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}` }, boxes, ways, lit, seen);
  const about = { class: "overview", "aria-hidden": true, hidden: "" };
  const element = make("div", about, picture);
  let last = PLACES[0];
  let [across, down, left, top] = [1, 1, 0, 0]; // scale and place of the whole
  /** @type {(from: number, length: number, at: number, scale: number, least: number, room: number) => number[]} */
  const span = (from, length, at, scale, least, room) => {
    const size = Math.max(length * scale, least);
    return [Math.min(at + from * scale, room - size), size];
  };
  /** @type {(box: Rectangle, least: number) => number[]} */
  const onMap = ({ x, y, width, height }, least) => {
    const [[from, wide], [high, tall]] =
      [span(x, width, left, across, least, WIDTH), span(y, height, top, down, least, HEIGHT)];
    return [from, high, wide, tall].map((number) => Math.round(2 * number) / 2);
  };
  /** @type {(box: Rectangle, least: number) => string} */
  const pathOf = (box, least) => {
    const [x, y, wide, tall] = onMap(box, least);
    return `M${x} ${y}h${wide}v${tall}h${-wide}z`;
  };
  /** @type {(rect: Element, box: Rectangle, least: number) => void} */
  const put = (rect, box, least) => {
    const numbers = onMap(box, least);
    ["x", "y", "width", "height"].forEach((name, k) => set(rect, name, numbers[k]));
  };
  /**
   * Draws the whole, so large that it fills the map one way; a long and thin one is widened, or would be a hair.
   * @type {(width: number, height: number, all: Rectangle[]) => void}
   */
  const paint = (width, height, all) => {
    const fits = Math.min((WIDTH - 2 * EDGE) / width, (HEIGHT - 2 * EDGE) / height);
    [across, down] = [Math.max(fits, THINNEST / width), Math.max(fits, THINNEST / height)];
    [left, top] = [(WIDTH - width * across) / 2, (HEIGHT - height * down) / 2];
    set(boxes, "d", [...new Set(all.map((box) => pathOf(box, 1)))].join("")); // of many thousand most are the same here
  };
  /** @type {(view: Rectangle, lit: Rectangle[]) => void} */
  const show = (view, [now, ...ends]) => {
    put(seen, view, 8);
    set(lit, "visibility", now ? null : "hidden");
    if (now) put(lit, now, 4);
    const middle = (/** @type {Rectangle} */ { x, y, width, height }) =>
      onMap({ x: x + width / 2, y: y + height / 2, width: 0, height: 0 }, 0).slice(0, 2).join(" ");
    set(ways, "d", ends.map((end) => `${pathOf(end, 4)}M${middle(end)}L${middle(now)}`).join(""));
  };
  /**
   * Moves to where no box lies under the map or, if it covers some everywhere, shrinks and covers least, and of what is
   * lit `now` nothing if it can. On stage it then hides: there nobody moves it aside. On a phone it prefers to stand
   * above, for what is added up lies over the lower edge.
   * @param {Rectangle[]} now in pixels of the pane, as are the others
   * @param {Rectangle[]} others
   * @param {{ width: number, height: number, stage: boolean }} pane
   */
  const giveWay = (now, others, pane) => {
    const sorted = pane.width < PHONE ? [...PLACES].sort(([, one], [, other]) => one - other) : [last, ...PLACES];
    const places = [1, 0.5].flatMap((part) => sorted.map((place) => {
      const size = part * (pane.stage ? ON_STAGE : 1);
      const [width, height] = [WIDTH * size, HEIGHT * size];
      const [side, low] = place;
      const x = side === "right" ? pane.width - width - SIDE : SIDE;
      const y = SIDE + low * (pane.height - height - 2 * SIDE);
      const covered = (/** @type {Rectangle[]} */ some) => some.reduce((sum, box) =>
        sum + common(x, width, box.x, box.width) * common(y, height, box.y, box.height), 0);
      const style = `${side}: ${SIDE}px; bottom: ${pane.height - height - y}px; width: ${width}px; height: ${height}px`;
      return { place, style, cost: width * height * covered(now) + covered(others) };
    }));
    const least = Math.min(...places.map(({ cost }) => cost));
    const { place, style } = places.find(({ cost }) => cost === least);
    last = place;
    set(element, "style", `${style}; visibility: ${pane.stage && least ? "hidden" : "inherit"}`);
  };
  const follow = (/** @type {PointerEvent} */ event) => {
    if (!event.buttons) return;
    const { left: x, top: y, width } = picture.getBoundingClientRect();
    const unit = width / WIDTH;
    look(((event.clientX - x) / unit - left) / across, ((event.clientY - y) / unit - top) / down);
  };
  element.addEventListener("pointerdown", (event) => {
    event.preventDefault(); // no text is selected, and the focus stays where it is
    element.setPointerCapture(event.pointerId);
    follow(event);
  });
  element.addEventListener("pointermove", follow);
  return { element, paint, show, giveWay };
}
