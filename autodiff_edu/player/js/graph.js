/** The graph: a box for each tensor, lines from inputs to uses, and groups that fold into one box. */

import { drawBead, drawBox, drawHead, drawScissors, pathOf, pointsOf, scissorsPlace, stopShort } from "./boxes.js";
import { readCuts } from "./cuts.js";
import { UNKNOWN, draw, make, set, write } from "./dom.js";
import { readFolds } from "./folds.js";
import { signsButton } from "./glossary.js";
import { groupsView } from "./groups.js";
import { bound, clamp, paneView } from "./pane.js";
import { MANY } from "./row-list.js";
import { STRINGS } from "./strings.js";
import { walkWithKeys } from "./walk.js";
import * as SHARED from "../../text/shared.json";

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

const AT_HEAD = 15.5; // between an arrow's point and the middle of the bead that rests at its head

const LETTER = 7.3; // as layout.py has it
const BEAD = { width: 60, height: 28 }; // the room of a bead that rests at an arrow's head, or of a name in its box

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
  const picture = draw("svg", { role: "presentation" }, ...layers);
  const toggle = (/** @type {number} */ group) => {
    refold(() => folds.toggle(group), () => groups.placeOf(group)); // what was clicked stays under the hand
    show(current, false);
  };
  /**
   * Folds and unfolds groups, and draws what that leaves where it was, as seen from one place.
   * @type {(change: () => unknown, place: () => import("./pane.js").Rectangle) => void}
   */
  const refold = (change, place) => {
    const corner = () => { const { x, y } = place(); return /** @type {[number, number]} */ ([x, y]); };
    const before = pane.onScreen(...corner());
    if (change() === false) return;
    busy = true;
    arrange();
    pane.keep(...corner(), before);
    paint();
  };
  const groups = groupsView(trace, history, layout, folds, toggle);
  const canvas = make("div", { class: "canvas" }, picture, groups.element);
  const redraw = (/** @type {boolean} */ follow) => {
    if ((repaint() || follow) && !busy) show(current, follow);
    else hideCut();
  };
  const pane = paneView(canvas, picture, redraw);
  /** @type {Map<number, ReturnType<typeof drawBox>>} */
  const boxes = new Map(); // drawn when they are first seen
  /** @type {[number, Drawn[], number[], Element[]]} */
  let [current, links, seen, under] = [0, [], [], []];
  const words = STRINGS.graph;
  const coverOf = (/** @type {number} */ tensor) => folds.cover(layout.tensors[tensor].group);
  /** @type {Element | null} */
  let visited = null;
  walkWithKeys(pane.box, trace, {
    coverOf,
    placeOf: (tensor) => placeOf(tensor),
    start: () => subjects[current] ?? first,
    visit: (tensor) => {
      if (visited) set(visited, "data-visited", null);
      if (tensor !== undefined) pane.bring([placeOf(tensor)], 1);
      const cover = tensor === undefined ? -1 : coverOf(tensor);
      visited = cover < 0 ? boxes.get(tensor)?.element ?? null : groups.buttonOf(cover);
      set(pane.box, "aria-activedescendant", visited && visited.id);
      if (visited) set(visited, "data-visited", true);
    },
    go: (tensor) => {
      const step = cuts.stepOfValue(tensor);
      if (Number.isFinite(step)) go(step);
    },
  });
  const subjects = trace.steps.map(({ tensor, entry }) => tensor ?? trace.entries[entry]?.output);
  const first = subjects.find((each) => each !== undefined);
  /** @type {(number | undefined)[]} */
  const latest = []; // the latest tensor that a step up to here was about
  subjects.forEach((subject, step) => { latest[step] = subject ?? latest[step - 1]; });
  const homes = trace.steps.map(({ entry }, step) => {
    const subject = subjects[step];
    const tensors = subject === undefined ? [] : [subject, trace.entries[entry]?.output ?? subject];
    return tensors.map((tensor) => layout.tensors[tensor].group).filter((group) => group >= 0);
  });
  // Variables are outside of a loop, and yet its turn stays open for their updates; the next opens where it begins.
  /** @type {number[]} */
  const ahead = []; // the next step in a group, or undefined
  for (let step = homes.length - 1; step > 0; step--) ahead[step - 1] = homes[step].length ? step : ahead[step];
  let last = /** @type {number[]} */ ([]);
  trace.steps.forEach(({ kind }, step) => {
    if (kind === "line" && last.length) homes[step] = homes[ahead[step]] ?? last;
    if (homes[step].length) last = homes[step];
    else if (kind === "assign" || kind === "watch") homes[step] = last;
  });
  let [busy, many] = [false, false]; // whether something is being drawn, is left out
  let reach = [-Infinity, Infinity]; // the heights between which boxes and lines are in the page

  const isOpen = (/** @type {Box | Link} */ thing) => folds.cover(thing.group) < 0;
  /**
   * Where a tensor is in the picture: its box, or the folded group that it is in.
   * @param {number} tensor
   */
  const placeOf = (tensor) => {
    const { x, y, width, height, group } = layout.tensors[tensor];
    const cover = folds.cover(group);
    return cover < 0 ? { x: folds.across(x), y: folds.up(y), width, height } : groups.placeOf(cover);
  };
  /** Why nothing comes back along a link that arrives, if so: a "cut", a "skip", or a "plain" number. */
  const stopsOf = (/** @type {number} */ link) => {
    const use = arrives.get(link);
    const plain = use && layout.tensors[trace.entries[use.entry].inputs[use.input]].plain;
    return use && (cuts.stops(use.entry) ?? (plain ? "plain" : null));
  };
  /** Makes the picture as large as it is with the groups as they are folded. */
  const arrange = () => {
    const folded = groups.outermost().filter(folds.isFolded).map(groups.placeOf);
    const open = layout.tensors.flatMap((box, index) => (isOpen(box) ? [placeOf(index)] : []));
    many = open.length + groups.outermost().length > MANY;
    const stopped = layout.links.filter((link, number) => isOpen(link) && stopsOf(number) === "cut");
    const marks = stopped.map((link) => scissorsPlace(folds.points(link)));
    pane.hold(folds.width(), folds.up(layout.height), [...open, ...folded], marks);
  };

  /** Draws whatever the folded groups leave; if that is a lot, only what is in view or near it. */
  const paint = () => {
    const { y: above, height: tall } = pane.view();
    reach = many ? [above - tall, above + 2 * tall] : [-Infinity, Infinity];
    /** @type {(top: number, bottom: number) => boolean} */
    const near = (top, bottom) => folds.up(top) < reach[1] && folds.up(bottom) > reach[0];
    const inView = (/** @type {Box} */ place) => isOpen(place) && near(place.y, place.y + place.height);
    seen = layout.tensors.flatMap((place, index) => (inView(place) ? [index] : []));
    for (const index of seen) {
      const place = layout.tensors[index];
      if (!boxes.has(index)) boxes.set(index, drawBox(place, index, trace.tensors[index]));
      const shift = `translate(${folds.across(place.x) - place.x} ${folds.up(place.y)})`;
      set(boxes.get(index).element, "transform", shift);
    }
    links = layout.links.flatMap(/** @returns {Drawn[]} */ (link, number) => {
      if (!isOpen(link) || !near(link.points[1], link.points[4])) return [];
      const [use, path, points] = [arrives.get(number), pathOf([link], folds.points), folds.points(link)];
      const stops = stopsOf(number);
      const about = { class: "link", "data-link": number, "data-stops": stops ?? null };
      const parts = [draw("path", { class: "hit", d: path }), draw("path", { class: "line", d: path })];
      if (use) parts.push(drawHead(points[2], points[4], true));
      const scissors = stops === "cut" ? drawScissors(points) : null;
      return [{ number, element: draw("g", about, ...parts), scissors, entry: link.entry, known: null }];
    });
    front.replaceChildren(...seen.map((index) => boxes.get(index).element));
    lines.replaceChildren(...links.map(({ element }) => element));
    cutLayer.replaceChildren(...links.flatMap(/** @returns {Element | Element[]} */ ({ scissors }) => scissors ?? []));
    groups.paint(frames, near);
  };

  /**
   * Where a tensor has its name in the picture: in its box, as far as that reaches, where it is seen; a plain one has
   * it beside its value.
   */
  const labelOf = (/** @type {number} */ tensor) => {
    const [place, { plain, heading }, view] = [placeOf(tensor), layout.tensors[tensor], pane.view()];
    if (plain) return place;
    const [width, height] = [Math.max(BEAD.width, LETTER * heading.length + BEAD.height), BEAD.height];
    const x = clamp(view.x, place.x, place.x + place.width - width);
    return { x, y: clamp(view.y, place.y, place.y + place.height - height), width, height };
  };
  /** A box that the edge cuts shows its name and no number: half of one would be read as another. */
  const hideCut = () => {
    for (const index of seen) {
      const [place, { element }] = [placeOf(index), boxes.get(index)];
      const label = pane.sees(place) ? null : labelOf(index);
      set(element, "data-cut", label && (pane.sees(label) ? "value" : "name"));
      set(element, "style", label && `--aside: ${label.x - place.x}px ${label.y - place.y}px`);
    }
    groups.keepLabels(pane.view());
  };

  const show = (/** @type {number} */ step, follow = true) => {
    const { entry, kind, where } = trace.steps[step];
    const backward = history.backward[step];
    const [left, subject] = [subjects[current] ?? first, subjects[step]];
    [current, busy] = [step, true];
    if (follow && homes[step].length) refold(() => folds.follow(homes[step]), () => placeOf(left));
    const arriving = layout.entries[entry] ?? [];
    const flowing = arriving.map((_, index) => flows(step, index));
    const lighted = endsOf(step, flowing);
    if (follow) bring(step, lighted, arriving.filter((_, index) => flowing[index]));
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
    for (const link of under) set(link, "data-under", null);
    // A line along which nothing ever comes back stays as it is: an arrow would say that something did.
    const stays = (/** @type {number} */ index) => backward && kind !== "explain" && !cuts.flowsBack(entry, index);
    under = links.flatMap(({ number, element }) =>
      (arriving.includes(number) && !stays(arriving.indexOf(number)) ? [element] : []));
    for (const link of under) set(link, "data-under", true);
    lit.replaceChildren(...arriving.flatMap(/** @returns {Element | Element[]} */ (link, index) => {
      if (stays(index)) return [];
      const [way, runs] = [wayOf(link), flowing[index]];
      if (runs && way.length) send(step, trace.entries[entry].inputs[index], way);
      return draw("g", { "data-edge": `${entry}.${index}`, "data-flow": runs || null }, ...edge(way, backward));
    }));
    if (boxes.has(subject)) pour(trace.steps[step], boxes.get(subject));
    write(heading, [STRINGS.graph.heading, ...cuts.paused(step).map(STRINGS.graph.paused)].join(" "));
    groups.show(step, layout.tensors[subject]?.group ?? -1, entry);
    pane.light(lighted.map((tensor) => ({ ...placeOf(tensor), name: called(tensor), label: labelOf(tensor) })));
    hideCut();
    set(pane.box, "aria-label", tell(step, flowing));
    busy = false;
  };
  /** @param {NDArray} array */
  const aloud = ({ text, shape }) =>
    (text.length > SHARED.longest_value ? words.shape(shape) : text.replace(/^-/, "−"));
  /** @param {number} tensor */
  const called = (tensor) => {
    const { name, value } = trace.tensors[tensor];
    return name === value.text ? aloud(value) : name;
  };
  /**
   * What the graph shows at a step, in words.
   * @type {(step: number, flowing: boolean[]) => string}
   */
  const tell = (step, flowing) => {
    const [subject, { entry }] = [subjects[step], trace.steps[step]];
    if (subject === undefined) return words.step(words.name, []);
    const [known, reached] = [history.known(subject, step), history.cotangent(subject, step)];
    const [name, value, also] =
      [called(subject), known ? aloud(known) : UNKNOWN, history.tangents[step] ? words.moved : words.reached];
    const what = reached ? also(name, value, aloud(reached)) : words.tensor(name, value);
    const cover = coverOf(subject);
    const { inputs = [], output } = trace.entries[entry] ?? {};
    const edges = inputs.flatMap((input, index) => {
      if (!flowing[index]) return [];
      const array = carried(step, input);
      const ends = [input, output].map(called);
      if (history.backward[step]) ends.reverse();
      return [words.edge(ends[0], ends[1], array && aloud(array))];
    });
    return words.step(cover < 0 ? what : words.within(what, groups.nameOf(cover)), edges);
  };
  /**
   * Whether something runs along the line to an input at a step. An "accumulate" goes along one argument; to some, such
   * as a plain constant, nothing flows back at all.
   * @type {(step: number, input: number) => boolean}
   */
  const flows = (step, input) => {
    const { entry, argument, kind } = trace.steps[step];
    const rests = kind === "push forward" && !history.cotangent(trace.entries[entry].inputs[input], step);
    const passes = kind === "explain" ? !cuts.stops(entry) : !history.backward[step] || cuts.flowsBack(entry, input);
    return (argument === undefined || cuts.inputOf(entry, argument) === input) && !rests && passes;
  };
  /**
   * What the step is about, if anything, and the ends of the lines along which something runs.
   * @type {(step: number, flowing: boolean[]) => number[]}
   */
  const endsOf = (step, flowing) => {
    const [subject, { inputs = [], output } = {}] = [subjects[step], trace.entries[trace.steps[step].entry]];
    const ends = [subject, output, ...inputs.filter((_, index) => flowing[index])];
    return subject === undefined ? [] : [...new Set(ends)].filter((tensor) => tensor !== undefined);
  };
  /**
   * Brings into view what the step is about, with the names of the other boxes that are lit and their lines, and
   * then as much as there is room for of what stands beside it.
   * @type {(step: number, lighted: number[], arriving: number[]) => void}
   */
  const bring = (step, lighted, arriving) => {
    const { entry, kind } = trace.steps[step];
    const follows = kind === "line" && homes[step].length ? subjects[ahead[step]] : undefined;
    // A step that is about no tensor shows where the one before it was: the same, whichever way one comes there.
    const wanted = lighted.length ? [...lighted, ...(trace.entries[entry]?.inputs ?? [])]
      : [follows ?? latest[step] ?? first].filter((tensor) => tensor !== undefined);
    const names = lighted.slice(1).map((tensor) => ({ ...placeOf(tensor), ...BEAD }));
    const ways = arriving.flatMap((link) => pointsOf(wayOf(link), folds.points));
    const places = ways.map(([x, y]) => ({ ...BEAD, x: x - BEAD.width / 2, y }));
    const [{ contribution }, rests] = [trace.steps[step], /** @type {import("./pane.js").Rectangle[]} */ ([])];
    for (const way of arriving.map(wayOf)) {
      if (!contribution || !way.length) continue;
      const [bead, points] = beadOf(contribution, way, true);
      const [width, height] = ["width", "height"].map((side) => Number(bead.children[1].getAttribute(side)));
      const [x, y] = points.at(-1);
      rests.push({ x: x - width / 2, y: y - height / 2, width, height });
    }
    const [subject, ...others] = [...new Set(wanted)].map(placeOf);
    if (subject) pane.bring([bound([subject, ...rests]), ...others], lighted.length, [...names, ...places]);
  };
  const repaint = () => {
    const { y: above, height: tall } = pane.view();
    if (above >= reach[0] && above + tall <= reach[1]) return false;
    paint();
    return true;
  };
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
    const [[x, y], end] = [folds.points(way[0]), folds.points(way.at(-1))];
    const head = backward ? drawHead(x, y, false) : drawHead(end[2], end[4], true);
    return [draw("path", { class: "line", d: pathOf(way, folds.points) }), head];
  };
  /**
   * What runs along the line from an input.
   * @type {(step: number, input: number) => NDArray | null | undefined}
   */
  const carried = (step, input) => {
    const { kind, contribution } = trace.steps[step];
    const values = MOVES[kind] === "value" ? history.known : history.cotangent; // or tangents
    return contribution ?? (MOVES[kind] && values(input, step));
  };
  /**
   * What runs along a line, and where: up a line it stays at the arrow's head.
   * @type {(array: NDArray, way: Link[], up: boolean) => [bead: SVGGElement, points: number[][]]}
   */
  const beadOf = (array, way, up) => {
    const points = pointsOf(way, folds.points);
    if (up) {
      points.reverse();
      stopShort(points, AT_HEAD);
    }
    return [drawBead(array), points];
  };
  /**
   * Sends a value down a line, or a contribution up, which stays at the arrow's head while the step does.
   * @type {(step: number, tensor: number, way: Link[]) => void}
   */
  const send = (step, tensor, way) => {
    const [{ contribution }, array] = [trace.steps[step], carried(step, tensor)];
    if (!array) return;
    const [bead, points] = beadOf(array, way, Boolean(contribution));
    if (contribution) {
      set(bead, "transform", `translate(${points.at(-1).join(" ")})`);
      flow.restAt(pane.inWindow(points.at(-1)));
    }
    if (flow.travel(bead, points, contribution) || contribution) beads.append(bead);
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
  const caption = make("figcaption", {}, heading, signsButton(), pane.fitButton);
  arrange();
  paint();
  const keys = make("p", { class: "keys", id: "graph-keys" }, words.keys);
  // Named here, because otherwise the caption is read with its buttons.
  const about = { class: "graph-figure", role: "group", "aria-label": words.heading };
  const element = make("figure", about, caption, pane.box, pane.farEnds, pane.overview, keys);
  const preview = (/** @type {number} */ tensor) => boxes.get(tensor).preview;
  return { element, show, fit: pane.fit, showWhole: pane.showWhole, preview };
}
