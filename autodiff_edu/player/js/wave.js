/**
 * The wave: values run down the whole graph, then the cotangents of the first backward pass, or its tangents, run along
 * the lines. As it passes a box, it shows what that will hold. Only what is in view moves.
 */

import { draw, make, set } from "./dom.js";
import { STRINGS } from "./strings.js";

const [RUN, REST, FILL] = [850, 150, 200]; // milliseconds: a way through the graph, a pause after it, a box that fills
const MOST_DOTS = 150; // beads on the lines; where there are more lines, their colour runs alone

/** @typedef {ReturnType<typeof waveView>} Wave */

/**
 * What the first pass reaches: tensors, by each the cotangent or tangent that it has in the end, groups with such
 * tensors, and the links along which it flows.
 * @param {Pick<Trace, "steps" | "entries">} trace
 * @param {Pick<Layout, "entries" | "links" | "tensors" | "groups">} layout
 */
export function readReach({ steps, entries }, layout) {
  const first = steps.find(({ kind }) => kind === "seed") ?? steps.find(({ kind }) => kind === "move");
  /** @type {Set<number>[]} */
  const [links, groups] = [new Set(), new Set()];
  /** @type {Map<number, NDArray | null>} */
  const tensors = new Map();
  const flow = (/** @type {number} */ entry, /** @type {number} */ input) => {
    for (let link = layout.entries[entry][input]; link >= 0; link = layout.links[link].parent) links.add(link);
  };
  for (const { kind, pass, tensor, entry, argument, after, tangent, cotangent } of steps) {
    if (!first || pass !== first.pass) continue;
    if (tensor !== undefined) tensors.set(tensor, after ?? tangent ?? cotangent ?? tensors.get(tensor) ?? null);
    const { arguments: given, inputs } = entries[entry] ?? {};
    if (kind === "accumulate") flow(entry, given.slice(0, argument).filter(Number.isInteger).length);
    if (kind === "push forward") inputs.forEach((each, input) => { if (tensors.has(each)) flow(entry, input); });
  }
  const { tensors: boxes, groups: all } = layout;
  for (const tensor of tensors.keys()) {
    for (let group = boxes[tensor]?.group ?? -1; group >= 0; group = all[group].parent) groups.add(group);
  }
  return { tensors, links, groups, pushes: first?.kind === "move" };
}

/**
 * `run(then)` plays the wave over a figure with the graph; `then` follows when it is over, however it ends, or at once
 * if no graph is in view. `end` ends it, `drop` without what would follow. `say(text)` says what one sees, and null at
 * the end; `showWhole(true)` makes the graph small enough to be seen at once, until `showWhole(false)`.
 * @param {HTMLElement} figure
 * @param {Trace} trace
 * @param {Layout} layout
 * @param {{
 *   replay: () => void, say: (text: string | null) => void, showWhole: (on: boolean) => void,
 *   preview: ReturnType<typeof import("./graph.js").graphView>["preview"],
 * }} player
 */
export function waveView(figure, trace, layout, { replay, say, showWhole, preview }) {
  const reach = readReach(trace, layout);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const words = STRINGS.controls;
  const button = make("button", { type: "button", class: "replay", title: words.aboutWave }, words.wave);
  button.addEventListener("click", replay);
  figure.querySelector("figcaption")?.append(button);
  /** @type {[Animation[], Element[], number[], (() => void) | null, boolean]} */
  let [running, drawn, timers, following, seen] = [[], [], [], null, false];

  const drop = () => {
    for (const timer of timers.splice(0)) clearTimeout(timer);
    for (const animation of running.splice(0)) animation.cancel();
    for (const part of drawn.splice(0)) part.remove();
    set(figure, "data-wave", null);
    if (following) say(null);
    if (following) showWhole(false);
    following = null;
  };
  const end = () => {
    const then = following;
    drop();
    then?.();
  };
  /** @type {(time: number, what: () => void) => void} */
  const after = (time, what) => { timers.push(setTimeout(what, time)); };
  /**
   * @type {(
   *   element: Element, frames: PropertyIndexedKeyframes, delay: number, duration: number, fill?: FillMode,
   * ) => void}
   */
  const animate = (element, frames, delay, duration, fill = "forwards") => {
    running.push(element.animate(frames, { delay, duration, fill }));
  };
  const run = (/** @type {() => void} */ then) => {
    drop();
    seen = true;
    const frame = figure.querySelector(".graph")?.getBoundingClientRect();
    if (!frame?.height) return then();
    showWhole(true);
    /** @typedef {{ element: any, top: number, bottom: number }} Part */
    /** @type {(selector: string) => Part[]} */
    const inView = (selector) => [...figure.querySelectorAll(`.graph ${selector}`)].flatMap((element) => {
      const { top, bottom, left, right } = element.getBoundingClientRect();
      const sees = bottom > frame.top && top < frame.bottom && right > frame.left && left < frame.right;
      return sees ? [{ element, top, bottom }] : [];
    });
    const [boxes, folded] = [inView("[data-tensor]"), inView('.group[aria-expanded="false"]')];
    const [links, places] = [inView(".link[data-link]"), [...boxes, ...folded]];
    if (!places.length) { showWhole(false); return then(); }
    following = then;
    say(words.waves[!reach.tensors.size ? "none" : reach.pushes ? "tangents" : "cotangents"]);
    const layer = draw("g", { class: "wave" });
    figure.querySelector(".boxes").before(layer);
    drawn.push(layer);
    const low = Math.max(frame.top, Math.min(...places.map(({ top }) => top)));
    const tall = Math.min(frame.bottom, Math.max(...places.map(({ bottom }) => bottom))) - low;
    const [way, fill] = calm.matches ? [0, 0] : [RUN - FILL, FILL]; // who wants calm sees where each way ends
    /** @type {(y: number) => number} */
    const down = (y) => way * Math.max(0, Math.min(1, (y - low) / (tall || 1)));
    /** @type {(y: number) => number} */
    const second = (y) => RUN + REST + (reach.pushes ? down(y) : way - down(y));
    const [flowing, start] = reach.pushes ? ["forward", 1] : ["backward", -1];
    /** @type {(name: string, portion: number) => string} */
    const tint = (name, portion) => `color-mix(in oklab, var(--${name}) ${portion}%, var(--back))`;
    /** @type {(link: Part, from: number, at: (y: number) => number) => void} */
    const along = ({ element, top, bottom }, from, at) => {
      const d = element.querySelector(".line").getAttribute("d");
      const about = { "data-way": from > 0 ? "down" : "up" };
      const copy = draw("path", { d, pathLength: 1, ...about });
      const [delay, arrival] = [at(top), at(bottom)].sort((one, other) => one - other);
      const duration = fill && Math.max(arrival - delay, FILL);
      layer.append(copy);
      animate(copy, { strokeDashoffset: [from, 0], visibility: ["visible", "visible"] }, delay, duration);
      if (!fill || links.length > MOST_DOTS) return;
      const dot = draw("circle", { r: 5, ...about, style: `offset-path: path("${d}")` });
      layer.append(dot);
      const ends = from > 0 ? ["0%", "100%"] : ["100%", "0%"];
      animate(dot, { offsetDistance: ends, opacity: [1, 1] }, delay, duration, "none");
    };
    for (const link of links) along(link, 1, down);
    // A copy of what fills lies under the texts: browsers mix some colours of shapes to black.
    /** @type {(shape: SVGElement, style: string, delay: number) => void} */
    const pour = (shape, style, delay) => {
      const copy = /** @type {SVGElement} */ (shape.cloneNode());
      set(copy, "style", `${style}; opacity: 0`);
      shape.after(copy);
      drawn.push(copy);
      animate(copy, { opacity: [0, 1] }, delay, fill);
    };
    /**
     * Shows a number, or an array as small as in the box, where it is not known yet.
     * @type {(tensor: number, part: import("./boxes.js").Part, array: NDArray | null, delay: number) => void}
     */
    const reveal = (tensor, part, array, delay) => {
      const [copies, parts] = preview(tensor)(part, array, reach.pushes ? "→" : "←");
      for (const copy of copies) {
        set(copy, "style", "fill: var(--text); opacity: 0");
        drawn.push(copy);
        animate(copy, { opacity: [0, 1] }, delay, fill);
      }
      for (const each of parts) animate(each, { opacity: [1, 0] }, delay, fill);
    };
    for (const { element, top } of boxes) {
      const tensor = Number(element.dataset.tensor);
      reveal(tensor, "value", trace.tensors[tensor].value, down(top));
      const box = element.querySelector(":scope > rect");
      pour(box, `fill: ${tint("forward", 22)}; stroke: var(--forward); stroke-width: 1.6`, down(top));
    }
    for (const { element, top } of folded) animate(element, { background: [tint("forward", 22)] }, down(top), fill);
    set(figure, "data-wave", "values");
    if (!reach.tensors.size) return after(RUN + REST, end);
    for (const link of links) if (reach.links.has(Number(link.element.dataset.link))) along(link, start, second);
    for (const { element, top } of boxes) {
      const [tensor, strip] = [Number(element.dataset.tensor), element.querySelector(".strip")];
      if (!strip || !reach.tensors.has(tensor)) continue;
      pour(strip, `fill: ${tint(flowing, 45)}`, second(top));
      reveal(tensor, "cotangent", reach.tensors.get(tensor), second(top));
    }
    for (const { element, top } of folded) {
      if (!reach.groups.has(Number(element.dataset.group))) continue;
      animate(element, { background: [tint(flowing, 45)] }, second(top), fill);
    }
    after(RUN + REST, () => set(figure, "data-wave", reach.pushes ? "tangents" : "cotangents"));
    after(2 * (RUN + REST), end);
  };
  return {
    run, end, drop,
    /** The first time only: later on `then` follows at once. */
    precede: (/** @type {() => void} */ then) => (seen ? then() : run(then)),
    isRunning: () => following !== null,
  };
}
