/** The graph: a box for each tensor, lines from inputs to uses, and groups that fold into one box. */

import { drawBead, drawBox, drawHead, drawScissors, pathOf, pointsOf } from "./boxes.js";
import { readCuts } from "./cuts.js";
import { build, draw, make, reveal, set, write } from "./dom.js";
import { readFolds } from "./folds.js";
import { signsButton } from "./glossary.js";
import { groupsView } from "./groups.js";
import { MANY } from "./row-list.js";
import { STRINGS } from "./strings.js";

/** @typedef {{ entry: number, input?: number }} Use */
/**
 * @typedef {{
 *   number: number, element: SVGGElement, scissors: SVGGElement | null, entry: number, known: boolean | null,
 * }} Drawn a link in the page
 */

/**
 * What runs along the lines.
 * @type {Record<string, "value" | "cotangent">}
 */
const MOVES = { record: "value", cut: "value", skip: "value", accumulate: "cotangent", "push forward": "cotangent" };

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {Layout} layout
 * @param {(step: number) => void} go
 * @param {import("./flow.js").Flow} flow
 * @param {ReturnType<typeof import("./corners.js").readCorners>} corners
 */
export function graphView(trace, history, layout, go, flow, corners) {
  const [folds, cuts] = [readFolds(layout), readCuts(trace, history)];
  const uses = layout.entries.flatMap((row, entry) =>
    row.map(/** @returns {[number, Use]} */ (link, input) => [link, { entry, input }]));
  const arrives = new Map(uses);
  const layers = ["frames", "links", "lit", "cuts", "boxes", "beads"].map((name) => draw("g", { class: name }));
  const [frames, lines, lit, cutLayer, front, beads] = layers;
  const picture = draw("svg", { role: "img", "aria-label": STRINGS.graph.name }, ...layers);
  const zoom = () => Number(getComputedStyle(canvas).zoom) || 1; // larger on stage
  const view = () => [box.scrollTop / zoom(), (box.clientHeight || 600) / zoom()]; // from where on, and how much
  const origin = () => picture.getBoundingClientRect().left - left * zoom(); // of the coordinates, on the screen
  const toggle = (/** @type {number} */ group) => {
    const before = origin();
    folds.toggle(group);
    paint();
    show(current, false);
    box.scrollLeft += origin() - before; // what was clicked stays under the hand; its height is what it was
  };
  const groups = groupsView(trace, history, layout, folds, toggle);
  const canvas = make("div", { class: "canvas" }, picture, groups.element);
  const box = make("div", { class: "scroll graph" }, canvas);
  /** @type {Map<number, ReturnType<typeof drawBox>>} */
  const boxes = new Map(); // drawn when they are first seen
  /** @type {[number, number, Drawn[], number[], Element[]]} */
  let [current, left, links, seen, under] = [0, 0, [], [], []];
  const subjects = trace.steps.map(({ tensor, entry }) => tensor ?? trace.entries[entry]?.output);
  const first = subjects.find((each) => each !== undefined);
  let found = false; // whether something has been lit
  let reach = [-Infinity, Infinity]; // the heights between which boxes and lines are in the page

  /** Draws whatever the folded groups leave; if that is a lot, only what is in view or near it. */
  const paint = () => {
    const open = (/** @type {Box | Link} */ thing) => folds.cover(thing.group) < 0;
    const whole = layout.tensors.filter(open);
    const [above, tall] = view();
    const many = whole.length + groups.count() > MANY;
    reach = many ? [above - tall, above + 2 * tall] : [-Infinity, Infinity];
    /** @type {(top: number, bottom: number) => boolean} */
    const near = (top, bottom) => folds.up(top) < reach[1] && folds.up(bottom) > reach[0];
    const inView = (/** @type {Box} */ place) => open(place) && near(place.y, place.y + place.height);
    seen = layout.tensors.flatMap((place, index) => (inView(place) ? [index] : []));
    for (const index of seen) {
      const place = layout.tensors[index];
      if (!boxes.has(index)) boxes.set(index, drawBox(place, index, trace.tensors[index]));
      set(boxes.get(index).element, "transform", `translate(0 ${folds.up(place.y)})`);
    }
    links = layout.links.flatMap(/** @returns {Drawn[]} */ (link, number) => {
      if (!open(link) || !near(link.points[1], link.points[4])) return [];
      const [use, path] = [arrives.get(number), pathOf([link], folds.up)];
      const plain = use && layout.tensors[trace.entries[use.entry].inputs[use.input]].plain;
      const stops = use && (cuts.stops(use.entry) ?? (plain ? "plain" : null));
      const about = { class: "link", "data-link": number, "data-stops": stops ?? null };
      const parts = [draw("path", { class: "hit", d: path }), draw("path", { class: "line", d: path })];
      if (use) parts.push(drawHead(link.points[2], folds.up(link.points[4]), true));
      const scissors = stops === "cut" ? drawScissors(link, folds.up) : null;
      return [{ number, element: draw("g", about, ...parts), scissors, entry: link.entry, known: null }];
    });
    front.replaceChildren(...seen.map((index) => boxes.get(index).element));
    lines.replaceChildren(...links.map(({ element }) => element));
    cutLayer.replaceChildren(...links.flatMap(/** @returns {Element | Element[]} */ ({ scissors }) => scissors ?? []));
    left = groups.paint(frames, whole, near);
    const [width, height] = [layout.width - 2 * left, folds.up(layout.height)];
    build(picture, { viewBox: `${left} 0 ${width} ${height}`, width, height });
    set(canvas, "style", `width: ${width}px; --left: ${left}px`);
  };

  const show = (/** @type {number} */ step, follow = true) => {
    current = step;
    const { entry, argument, kind, where } = trace.steps[step];
    const backward = history.backward[step];
    const subject = subjects[step];
    if (follow) bring(layout.tensors[subject]);
    for (const index of seen) {
      const [known, reached] = [history.known(index, step), history.cotangent(index, step)];
      const mark = /** @type {ReturnType<typeof cuts.mark>} */ (known && cuts.mark(index, step));
      const cause = kind === "explain" && cuts.isAt(index, where);
      const state = cuts.state(index, step);
      const tangents = history.tangents[step];
      const [now, corner] = [index === subject, corners(index, step).length > 0];
      boxes.get(index).update({ known, reached, backward, tangents, mark, cause, state, now, corner });
    }
    for (const link of links) {
      const known = history.appeared[link.entry] <= step;
      if (known === link.known) continue;
      for (const part of [link.element, link.scissors]) if (part) set(part, "data-known", known || null);
      link.known = known;
    }
    beads.replaceChildren();
    const arriving = layout.entries[entry] ?? [];
    for (const link of under) set(link, "data-under", null);
    under = links.flatMap(({ number, element }) => (arriving.includes(number) ? [element] : []));
    for (const link of under) set(link, "data-under", true);
    lit.replaceChildren(...arriving.map((link, index) => {
      // An "accumulate" goes along one argument; to some, such as a plain constant, nothing flows back at all.
      const rests = kind === "push forward" && !history.cotangent(trace.entries[entry].inputs[index], step);
      const passes = kind === "explain" ? !cuts.stops(entry) : !backward || cuts.flowsBack(entry, index);
      const along = argument === undefined || cuts.inputOf(entry, argument) === index;
      const flows = along && !rests && passes;
      const way = wayOf(link);
      if (flows && way.length) send(step, trace.entries[entry].inputs[index], way);
      return draw("g", { "data-edge": `${entry}.${index}`, "data-flow": flows || null }, ...edge(way, backward));
    }));
    if (boxes.has(subject)) pour(trace.steps[step], boxes.get(subject));
    write(heading, [STRINGS.graph.heading, ...cuts.paused(step).map(STRINGS.graph.paused)].join(" "));
    const group = layout.tensors[subject]?.group ?? -1;
    const covered = groups.show(step, group, entry);
    const element = covered ?? boxes.get(subject)?.element;
    if (element && follow) reveal(box, element, 100);
    else if (follow && !found) reveal(box, boxes.get(first)?.element ?? picture, 100);
    found ||= element !== undefined;
  };
  /**
   * Scrolls to what is out of reach, so that it is there to be lit.
   * @param {Box | undefined} place
   */
  const bring = (place) => {
    if (!place || !Number.isFinite(reach[0])) return;
    const [y, [above, tall]] = [folds.up(place.y), view()];
    if (y < above || y + place.height > above + tall) box.scrollTop = (y - tall / 2) * zoom();
    repaint();
  };
  const repaint = () => {
    const [above, tall] = view();
    if (above >= reach[0] && above + tall <= reach[1]) return false;
    paint();
    return true;
  };
  box.addEventListener("scroll", () => { if (repaint()) show(current, false); });
  /**
   * What can be seen of the whole line from an input to its use: the link that arrives, and all it goes on from.
   * @param {number} number
   */
  const wayOf = (number) => {
    /** @type {Link[]} */
    const whole = [];
    for (; number >= 0; number = layout.links[number].parent) whole.unshift(layout.links[number]);
    return whole.filter(({ group }) => folds.cover(group) < 0);
  };
  /** @type {(way: Link[], backward: boolean) => Element[]} */
  const edge = (way, backward) => {
    if (!way.length) return [];
    const [[x, y], end] = [way[0].points, way.at(-1).points];
    const head = backward ? drawHead(x, folds.up(y), false) : drawHead(end[2], folds.up(end[4]), true);
    return [draw("path", { class: "line", d: pathOf(way, folds.up) }), head];
  };
  /**
   * Sends a value down a line, or a contribution up, which stays beside the line while the step does.
   * @type {(step: number, tensor: number, way: Link[]) => void}
   */
  const send = (step, tensor, way) => {
    const { kind, contribution } = trace.steps[step];
    const values = MOVES[kind] === "value" ? history.known : history.cotangent; // or tangents
    const array = contribution ?? (MOVES[kind] && values(tensor, step));
    if (!array) return;
    const [bead, points] = [drawBead(array, layout.tensors[tensor].limits?.[MOVES[kind]]), pointsOf(way, folds.up)];
    const [x, y] = points.at(-6);
    set(bead, "transform", `translate(${x} ${y})`);
    if (flow.travel(bead, contribution ? points.reverse() : points, contribution) || contribution) beads.append(bead);
  };
  /**
   * What arrives is seen when it is there.
   * @type {(step: Step, box: ReturnType<typeof drawBox>) => void}
   */
  const pour = ({ kind, before, after }, { element, receive }) => {
    const parts = (/** @type {string} */ selector) => element.querySelectorAll(selector);
    if (kind === "accumulate") flow.grow(receive, before, after);
    if (["seed", "pull back", "move", "push forward"].includes(kind)) flow.appear(...parts(".strip"));
    if (MOVES[kind] === "value") flow.appear(...parts('[data-part="value"], [data-holds="value"]'));
  };
  picture.addEventListener("click", (/** @type {{ target: any }} */ { target }) => {
    /** @type {(name: string) => string | undefined} */
    const named = (name) => target.closest(`[data-${name}]`)?.dataset[name];
    const [tensor, line, flown] = ["tensor", "link", "edge"].map(named);
    if (tensor !== undefined) go(cuts.stepOfTensor(Number(tensor), current));
    else if (flown !== undefined) {
      go(cuts.stepOfUse(.../** @type {[number, number]} */ (flown.split(".").map(Number)), current));
    }
    else if (line !== undefined) {
      /** @type {Use} */
      const use = arrives.get(Number(line)) ?? layout.links[/** @type {any} */ (line)]; // the page has numbers as texts
      go(cuts.stepOfUse(use.entry, use.input, current));
    }
  });
  const heading = make("span");
  const caption = make("figcaption", {}, heading, signsButton());
  paint();
  return { element: make("figure", { class: "graph-figure" }, caption, box), show };
}
