/** The pane of the graph: how large the picture is drawn in it, and which part of the picture is seen. */

import { make, set } from "./dom.js";
import { overviewView } from "./overview.js";
import { STRINGS } from "./strings.js";

/** @typedef {import("./overview.js").Rectangle} Rectangle */

const LETTER = 12; // pixels of the picture; on the screen, what the style sheet says of the pane
const [FURTHEST, NEAREST] = [0.25, 4]; // how small and how large a reader can make it
const SMALL = 0.7; // of the letters that one can read: with smaller ones the whole says less than its map
const TIGHT = 0.9; // of the smallest letters, on stage: accepted if everything lit is then whole
const EASE = 240; // milliseconds
const SEEN = 0.1; // the smallest scale at which boxes can still be told apart
const READ = 13 / LETTER; // for a graph that one scrolls anyway, if there is room
const LARGE = 1.5; // times the usual letters: the player is on stage
const FEW = 8; // boxes: such a graph is shown whole on stage, as the panel enlarges its numbers
const EDGE = 2; // of a frame, which may lie under that of the pane
const AROUND = 24; // of the picture, above and below a box: an arrow's head, and a bead that rests there
const MARGIN = 24; // pixels around what is brought into view
const CLICK = 4; // pixels that the mouse may move during a click
const NOTCH = 30; // of a mouse wheel; a trackpad sends many small turns

/** @type {(number: number, low: number, high: number) => number} */
export const clamp = (number, low, high) => Math.max(low, Math.min(high, number));

/** @type {(some: Rectangle[]) => Rectangle} */
export const bound = (some) => some.reduce((one, other) => {
  const [x, y] = [Math.min(one.x, other.x), Math.min(one.y, other.y)];
  const width = Math.max(one.x + one.width, other.x + other.width) - x;
  return { x, y, width, height: Math.max(one.y + one.height, other.y + other.height) - y };
});

/**
 * `canvas` holds the `picture`, an SVG. `redraw` hears that another part is seen, and whether it should `follow` the
 * step, because the pane has another size.
 * @param {HTMLElement} canvas
 * @param {SVGSVGElement} picture
 * @param {(follow: boolean) => void} redraw
 */
export function paneView(canvas, picture, redraw) {
  const about = { class: "scroll graph", tabindex: 0, role: "application", "aria-describedby": "graph-keys" };
  const box = make("div", about, canvas);
  const overview = overviewView((x, y) => move(x * scale - wide / 2, y * scale - tall / 2));
  const words = STRINGS.graph;
  const fitButton = /** @type {HTMLButtonElement} */ (make("button", { type: "button", class: "fit", hidden: "" }));
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let [width, height] = [1, 1]; // of the picture
  let [wide, tall] = [0, 0]; // of the pane
  let [least, normal] = [1, 1]; // the smallest scale at which one reads, and the one where there is room
  let [best, near] = [1, 1]; // the scale for reading, and the one in use, smaller if all that is lit is then whole
  let [scale, chosen] = [1, /** @type {number | "whole" | null} */ (null)]; // chosen by the reader
  let around = 1; // the scale in place of that of the whole, where one could not read it
  let lent = false; // whether the whole is shown for a while
  let [left, top, frame] = [0, 0, 0]; // how far it is scrolled, or will be once the motion is over
  /** @typedef {Rectangle & { name: string, label: Rectangle }} End the label is where it has its name */
  /** @type {End[]} */
  let lit = [];
  const farEnds = make("div", { class: "far-ends", "aria-hidden": true });
  /** @type {Rectangle[][]} */
  let [all, marks] = [[], []];

  const isLarge = () => width * scale > wide + 1 || height * scale > tall + 1;
  /** @type {(across: number, down: number) => number} */
  const fitOf = (across, down) => Math.floor(1000 * Math.min(wide / across, tall / down)) / 1000;
  const fits = () => fitOf(width, height);
  const fitting = (/** @type {Rectangle} */ one) => fitOf(one.width + EDGE, one.height + EDGE);
  /** The smallest scale for the whole graph: smaller on stage, where the panel enlarges the numbers. */
  const leastForWhole = () => (normal < LARGE ? least : all.length > FEW ? SMALL * least : FURTHEST * normal);
  const isCrowded = () => !lent && fits() < Math.min(SMALL ** 2 * normal, leastForWhole());
  const rescale = () => {
    if (!wide) return;
    const whole = isCrowded() ? around : Math.min(normal, fits());
    scale = chosen === "whole" ? whole : chosen ?? (fits() < leastForWhole() ? near : Math.min(fits(), normal));
    const [across, down] = [width * scale, height * scale];
    set(picture, "width", across);
    set(picture, "height", down);
    set(canvas, "style", `width: ${across}px; height: ${down}px; --scale: ${scale}`);
    set(fitButton, "hidden", chosen === null && !isLarge() ? "" : null);
    const told = chosen === "whole" ? [words.near, words.aboutNear] : [words.fit, words.aboutFit];
    [fitButton.textContent, fitButton.title] = told;
    for (const element of [box, overview.element]) set(element, "data-large", isLarge() || null);
    set(overview.element, "hidden", isLarge() ? null : "");
    [left, top] = within(left, top);
  };
  /** @type {(x: number, y: number) => number[]} */
  const within = (x, y) =>
    [clamp(x, 0, Math.max(0, width * scale - wide)), clamp(y, 0, Math.max(0, height * scale - tall))];
  /** How far from the left a picture stands that is narrower than the pane. */
  const inset = () => Math.max(0, wide - width * scale) / 2;
  /** The part of the picture that is seen, or will be in a moment. */
  const view = () => ({ x: left / scale, y: top / scale, width: wide / scale, height: (tall || 600) / scale });
  const mark = () => {
    if (isLarge()) overview.show(view(), lit);
    farEnds.replaceChildren(...(isLarge() ? lit.flatMap(farEnd) : []));
  };
  /**
   * A button at the edge of the pane for an end of what is lit that lies beyond it; it brings that end into view.
   * @param {End} end
   */
  const farEnd = (end) => {
    if (sees(end.label)) return [];
    const [x, y] = onScreen(end.x + end.width / 3, end.y + AROUND / 2); // its name
    const arrow = y < 0 ? "↑" : y > tall ? "↓" : x < wide / 2 ? "←" : "→";
    const [across, down] = [clamp(x / wide, 0, 1), clamp(y / tall, 0, 1)]; // portions of the pane
    const style = `left: ${across * wide}px; top: ${(down - 1) * tall}px; translate: ${-100 * across}% ${-100 * down}%`;
    const button = make("button", { type: "button", tabindex: -1, style }, `${arrow} ${end.name}`);
    button.addEventListener("click", () => bring([end], 1));
    return [button];
  };

  /**
   * Scrolls so far, at once or calmly; of a long way only the end is seen.
   * @type {(x: number, y: number, eased?: boolean) => void}
   */
  const move = (x, y, eased = false) => {
    [left, top] = within(x, y);
    cancelAnimationFrame(frame);
    frame = 0;
    if (!eased || calm.matches) box.scrollTo(left, top);
    else {
      /** @type {(now: number, end: number, room: number) => number} */
      const from = (now, end, room) => clamp(now, end - room, end + room);
      const [x0, y0, begin] = [from(box.scrollLeft, left, wide), from(box.scrollTop, top, tall), performance.now()];
      const tick = () => {
        const part = Math.min(1, (performance.now() - begin) / EASE);
        const rest = (1 - part) ** 3;
        box.scrollTo(left + (x0 - left) * rest, top + (y0 - top) * rest);
        frame = part < 1 ? requestAnimationFrame(tick) : 0;
      };
      tick();
    }
    redraw(false);
    mark();
  };
  /**
   * Brings rectangles of the picture into view: the first of them, with all that is `needed` too if there is room for
   * it, and as many others as there is room for. Where the whole cannot be read, the picture is so small that there is
   * room for the first `count`.
   * @param {Rectangle[]} wanted
   * @param {number} count
   * @param {Rectangle[]} needed
   */
  const bring = (wanted, count, needed = []) => {
    if (!wide || !wanted.length) return;
    const [core, isStage, lights] = [bound([wanted[0], ...needed]), normal > LARGE, wanted.slice(0, count)];
    if (fits() < leastForWhole()) {
      const [before, most] = [scale, SMALL * least]; // on stage, where nobody comes nearer, the least too
      const [low, whole, part] = [isStage ? most : least, fitting(bound([core, ...lights])), fitting(core)];
      const size = whole >= (isStage ? TIGHT : 1) * low ? whole : part < low ? best : part;
      near = Math.min(size, best);
      around = isStage ? Math.min(size, most) : clamp(whole, fits(), most);
      rescale();
      // Of another size, it has what the step is about in the middle.
      const { x, y, width: w, height: h } = wanted[0];
      if (scale !== before) [left, top] = within((x + w / 2) * scale - wide / 2, (y + h / 2) * scale - tall / 2);
    }
    let region = fitting(core) >= scale ? core : wanted[0];
    const together = wanted.filter((one, k) => {
      const both = bound([region, one]);
      if (fitting(both) >= scale) region = both;
      return region === both || !k;
    });
    /** @typedef {(one: Rectangle) => [from: number, to: number]} Span in pixels */
    /** @type {Span} */
    const across = ({ x, width: w }) => [x * scale, (x + w) * scale];
    /** @type {Span} */
    const down = ({ y, height: h }) => [y * scale, (y + h) * scale];
    /**
     * Where to scroll so that the region is visible and as little as possible beside it is cut, least what is lit.
     * @type {(span: Span, from: number, room: number, size: number, beside: Rectangle[]) => number}
     */
    const choose = (span, from, room, size, beside) => {
      const [low, high] = span(region);
      /** @type {(at: number, space: number) => number} */
      const limit = (at, space) =>
        clamp(Math.min(Math.max(at, high + space - room), low - space), 0, size * scale - room);
      const start = limit(from, clamp((room - high + low) / 2, 0, MARGIN));
      const spans = [...beside, ...lights, ...lights].map(span);
      const places = spans.flat().flatMap((side) => [side, side - room]).filter((at) => limit(at, 0) === at);
      // Out of sight costs 1, cut costs 2; either outweighs any distance.
      const cost = (/** @type {number} */ at) => spans.reduce((sum, [one, other]) => {
        const seen = Math.min(other, at + room) - Math.max(one, at);
        return sum + (seen < other - one - EDGE ? (seen > EDGE ? 2e6 : 1e6) : 0);
      }, Math.abs(at - start));
      return places.reduce((one, other) => (cost(other) < cost(one) ? other : one), start);
    };
    /** @type {(span: Span, from: number, room: number) => Rectangle[]} */
    const seenIn = (span, from, room) => all.filter((one) => span(one)[0] < from + room && span(one)[1] > from);
    const y = choose(down, top, tall, height, seenIn(across, left, wide));
    const x = choose(across, left, wide, width, seenIn(down, y, tall));
    if (Math.abs(x - box.scrollLeft) > 1 || Math.abs(y - box.scrollTop) > 1) move(x, y, true);
    if (!isLarge()) return;
    /** @type {(boxes: Rectangle[]) => Rectangle[]} */
    const shown = (boxes) => boxes.map(({ x: from, y: high, width: w, height: h }) => {
      const [atX, atY] = onScreen(from, high);
      return { x: atX, y: atY, width: w * scale, height: h * scale };
    });
    // With what rests at the arrows of what is lit, and the lines.
    const middles = together.map(({ x: from, y: high, width: w, height: h }) => [from + w / 2, high + h / 2]);
    const now = together.flatMap((one, k) => {
      const [[low, far], [high, deep]] =
        [0, 1].map((axis) => [middles[0][axis], middles[k][axis]].sort((a, b) => a - b));
      const line = { x: low - AROUND, y: high, width: far - low + 2 * AROUND, height: deep - high };
      return [{ ...one, y: one.y - AROUND, height: one.height + 2 * AROUND }, line];
    });
    overview.giveWay(shown(now), shown([...all, ...marks]), { width: wide, height: tall, stage: isStage });
  };
  /** @type {(wanted: number | "whole" | null, atX?: number, atY?: number) => void} */
  const zoom = (wanted, atX = wide / 2, atY = tall / 2) => {
    const [x, y] = [(left + atX - inset()) / scale, (top + atY) / scale]; // what stays in its place
    const furthest = Math.min(FURTHEST * normal, fits());
    chosen = typeof wanted === "number" ? clamp(wanted, furthest, NEAREST * normal) : wanted;
    rescale();
    move(x * scale - atX + inset(), y * scale - atY);
  };
  /** @type {(factor: number, event: { clientX: number, clientY: number }) => void} */
  const zoomBy = (factor, { clientX, clientY }) => {
    const { left: x, top: y } = box.getBoundingClientRect();
    zoom(scale * factor, clientX - x, clientY - y);
  };
  /** Shows the whole picture, however small; if it does already, as large as one can read it. */
  const fit = () => {
    const before = chosen;
    zoom(null);
    if (isLarge() && before !== "whole") zoom("whole");
    redraw(true);
  };
  /** Shows the whole picture for a while, unless that would be too small to see; then again what the step is about. */
  const showWhole = (/** @type {boolean} */ on) => {
    if (on && !(chosen === null && isLarge() && fits() >= SEEN)) return;
    if (on === lent) return;
    lent = on;
    zoom(on ? "whole" : null);
    if (!on) redraw(true);
  };
  fitButton.addEventListener("click", () => { lent = false; box.focus({ preventScroll: true }); fit(); });

  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    zoomBy(Math.exp(-clamp(event.deltaY, -NOTCH, NOTCH) / 100), event);
  }, { passive: false });
  let apart = 0; // two fingers
  box.addEventListener("touchmove", (event) => {
    const [one, other, third] = event.touches;
    if (!other || third) { apart = 0; return; }
    if (event.cancelable) event.preventDefault();
    const now = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    const middle = { clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 };
    if (apart) zoomBy(now / apart, middle);
    apart = now;
  }, { passive: false });
  for (const end of ["touchend", "touchcancel"]) box.addEventListener(end, () => { apart = 0; });

  /** @type {{ x: number, y: number, left: number, top: number } | null} */
  let held = null;
  let dragged = false;
  box.addEventListener("pointerdown", ({ pointerType, button, clientX: x, clientY: y }) => {
    dragged = false;
    if (pointerType !== "touch" && !button && isLarge()) held = { x, y, left: box.scrollLeft, top: box.scrollTop };
  });
  box.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
    if (!held) return;
    const [x, y] = [clientX - held.x, clientY - held.y];
    if (!dragged && Math.hypot(x, y) < CLICK) return;
    dragged = true;
    box.setPointerCapture(pointerId);
    set(box, "data-dragged", "");
    move(held.left - x, held.top - y);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    box.addEventListener(end, () => {
      held = null;
      set(box, "data-dragged", null);
      requestAnimationFrame(() => { dragged = false; }); // after the click that ends it
    });
  }
  box.addEventListener("click", (event) => { if (dragged) event.stopPropagation(); }, { capture: true });
  box.addEventListener("scroll", () => {
    if (frame) return;
    if (Math.abs(box.scrollLeft - left) < 1 && Math.abs(box.scrollTop - top) < 1) return;
    [left, top] = [box.scrollLeft, box.scrollTop];
    redraw(false);
    mark();
  });
  new ResizeObserver(([{ contentRect }]) => {
    [wide, tall] = [contentRect.width, contentRect.height];
    if (!wide) return; // behind a tab
    const style = getComputedStyle(box);
    normal = parseFloat(style.fontSize) / LETTER;
    least = normal * parseFloat(style.getPropertyValue("--least"));
    best = near = normal < READ || normal > LARGE ? least : READ;
    rescale();
    box.scrollTo(left, top);
    redraw(true);
  }).observe(box);

  /**
   * Makes room for a picture of another size, of which these are the boxes, and the marks on lines.
   * @type {(width: number, height: number, boxes: Rectangle[], newMarks: Rectangle[]) => void}
   */
  const hold = (newWidth, newHeight, boxes, newMarks) => {
    [all, marks] = [boxes, newMarks];
    [width, height] = [Math.max(1, newWidth), Math.max(1, newHeight)];
    set(picture, "viewBox", `0 0 ${width} ${height}`);
    overview.paint(width, height, boxes);
    rescale();
  };
  /**
   * Where a point of the picture is in the pane, in pixels.
   * @type {(x: number, y: number) => number[]}
   */
  const onScreen = (x, y) => [x * scale - left + inset(), y * scale - top];
  /** Whether a part of the picture is seen whole; none is in a pane without a size. */
  const sees = (/** @type {Rectangle} */ part) => {
    const [[x, y], [right, bottom]] = [onScreen(part.x, part.y), onScreen(part.x + part.width, part.y + part.height)];
    return Math.max(-x, -y, right - wide, bottom - tall) < EDGE;
  };
  /** Where a point of the picture is in the window; null if it is not seen. */
  const inWindow = (/** @type {number[]} */ [x, y]) => {
    const [[across, down], { left: atX, top: atY }] = [onScreen(x, y), box.getBoundingClientRect()];
    return sees({ x, y, width: 0, height: 0 }) ? [atX + across, atY + down] : null;
  };
  /**
   * Scrolls so that a point of the picture is there.
   * @type {(x: number, y: number, place: number[]) => void}
   */
  const keep = (x, y, place) => move(x * scale - place[0] + inset(), y * scale - place[1]);
  /** Of what is lit the step is about the first. */
  const light = (/** @type {End[]} */ now) => { lit = now; mark(); };
  const moves = { bring, hold, keep, light, fit, showWhole };
  return { box, overview: overview.element, farEnds, fitButton, view, onScreen, inWindow, sees, ...moves };
}
