/** Nudging: how far a target moves when a tensor does, and how far the cotangent says. */

import { formatItem } from "./array.js";
import { withDigits } from "./brief.js";
import { draw, make, set, write } from "./dom.js";
import { elementsView, placeOf } from "./elements.js";
import { STRINGS } from "./strings.js";
import * as SHARED from "../../text/shared.json";

// The plot, and the room around it: numbers need more at the left and below.
const [PLOT_WIDTH, PLOT_HEIGHT, PLOT_EDGE, PLOT_LEFT, PLOT_FOOT] = [368, 140, 16, 96, 28];
const STEEP = 3; // A line across a jump is at least this many times as steep as its neighbours together.
const [LONGEST_FOOT, LONGEST_HEAD, LONGEST_NUMBER] = [14, 24, 7]; // Longer words do not fit at an axis on stage.
const NARROWEST = 1.3; // Letters with less than their width divided by this are hard to read.
const PORTIONS = [...SHARED.nudges, 0].sort((a, b) => a - b);

const toDigits = (/** @type {number} */ number, digits = 4) => Number(number.toPrecision(digits));
/** Adds `part`, which was rounded, and drops all digits beyond its last: 0, not 0.00012. */
const addRounded = (/** @type {number} */ number, /** @type {number} */ part) => {
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(part))) - 3);
  return toDigits(unit ? Math.round((number + part) / unit) * unit : number);
};
/** Writes a number as the rest of the page does. */
const written = (/** @type {number} */ number, digits = 4) => formatItem(withDigits(toDigits(number, digits), 6));
const withSign = (/** @type {number} */ number, digits = 4) => `${number > 0 ? "+" : ""}${written(number, digits)}`;

/**
 * @typedef {object} Moved
 * @property {number} portion
 * @property {number} by
 * @property {number | null} said
 * @property {number | null} moved
 * @property {string} [reason]
 * @property {boolean} isOther whether the code would have gone another way
 */

/**
 * The nudges as they are offered: a label, and points from the lowest up. In these null is what is not known.
 * @param {Pick<Trace, "nudges" | "tensors">} trace
 */
function readNudges({ nudges, tensors }) {
  const several = nudges.some(({ target }) => target !== nudges[0].target);
  return nudges.map((nudge) => {
    const [name, target] = [tensors[nudge.tensor].name, tensors[nudge.target].name];
    const place = nudge.element ? `${name}[${nudge.element.join(", ")}]` : name;
    const what = nudge.along ? STRINGS.nudge.along(name) : place;
    const points = PORTIONS.map((portion) => {
      const by = toDigits(nudge.size * portion);
      const said = nudge.slope === undefined ? null : toDigits(nudge.slope * by);
      const moved = !nudge.moved ? said : portion ? nudge.moved[SHARED.nudges.indexOf(portion)] : 0;
      const reason = nudge.reasons?.[SHARED.nudges.indexOf(portion)];
      return { portion, by, said, moved, reason, isOther: moved === null && Boolean(reason) };
    });
    const label = several ? STRINGS.nudge.of(what, target) : what;
    return { ...nudge, place, what, points, targetName: target, label };
  });
}

/**
 * Whether the target jumps just before a point: another branch is near, and it is much steeper than beside it.
 * @param {Moved[]} points
 * @param {number} k
 * @param {string} [why]
 */
function isJump(points, k, why) {
  const near = points.slice(Math.max(0, k - 2), k + 2);
  if (near.length < 4 || near.some(({ moved }) => moved === null)) return false;
  if (!(why || near[1].reason || near[2].reason)) return false;
  const rises = [1, 2, 3].map((n) =>
    Math.abs((near[n].moved - near[n - 1].moved) / (near[n].portion - near[n - 1].portion)));
  return rises[1] > STEEP * (rises[0] + rises[2]);
}

/**
 * The picture of some points: a curve of what moves, a line of what is said, and the gap between the two at one.
 * @param {Moved[]} points
 * @param {Moved} at
 * @param {string[]} names of the axes
 * @param {string} [why] the reason that all points share
 */
function plotOf(points, at, names, why) {
  const heights = points.flatMap(({ said, moved }) => [said ?? 0, moved ?? 0]);
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  const [right, bottom] = [PLOT_WIDTH - PLOT_EDGE, PLOT_HEIGHT - PLOT_FOOT];
  const x = (/** @type {number} */ portion) => PLOT_LEFT + ((portion + 1) / 2) * (right - PLOT_LEFT);
  const portion = (/** @type {number} */ height) => (high > low ? (high - height) / (high - low) : 0.5);
  const y = (/** @type {number} */ height) => PLOT_EDGE + portion(height) * (bottom - PLOT_EDGE);
  /** @type {(name: string, d: string) => SVGPathElement} */
  const path = (name, d) => draw("path", { class: name, d });
  /** @typedef {"said" | "moved"} Role */
  // A gap where nothing is known; h0 makes a dot of a point between two gaps.
  const line = (/** @type {Role} */ role) => path(role, points.map((point, k) => {
    const known = k > 0 && points[k - 1][role] !== null && !(role === "moved" && isJump(points, k, why));
    return point[role] === null ? "" : `${known ? "L" : "M"}${x(point.portion)} ${y(point[role])}${known ? "" : "h0"}`;
  }).join(""));
  /** @type {(role: Role, point: Moved, r: number) => SVGCircleElement} */
  const dot = (role, point, r) => draw("circle", { class: role, cx: x(point.portion), cy: y(point[role]), r });
  const ends = /** @type {Role[]} */ (["said", "moved"]).filter((role) => at[role] !== null);
  /** @type {(left: number, top: number, anchor: string, words: string, most: number) => SVGTextElement} */
  const text = (left, top, anchor, words, most) =>
    draw("text", { x: left, y: top, "text-anchor": anchor, class: words.length > most ? "long" : null }, words);
  /** @type {(left: number, top: number, anchor: string, number: number) => SVGTextElement} */
  const end = (left, top, anchor, number) =>
    text(left, top, anchor, withSign(number, 3), LONGEST_NUMBER);
  const foot = PLOT_HEIGHT - 4;
  return [
    path("axes", `M${PLOT_LEFT} ${y(0)}H${right}M${x(0)} ${PLOT_EDGE}V${bottom}`),
    // Centred between the two numbers beside it, of which the right one ends with the plot.
    text(x(-0.1), foot, "middle", names[0], LONGEST_FOOT), text(x(0), 11, "middle", names[1], LONGEST_HEAD),
    ...[end(PLOT_LEFT, foot, "middle", points[0].by), end(PLOT_WIDTH, foot, "end", points.at(-1).by)],
    ...[...new Set([low, high])].map((height) => end(PLOT_LEFT - 8, y(height) + 3, "end", height)),
    ...[line("said"), line("moved")],
    ...(ends[1] ? [path("gap", `M${x(at.portion)} ${y(at.said)}V${y(at.moved)}`)] : []),
    ...ends.map((role) => dot(role, at, 5)),
  ];
}

/**
 * Lists a tensor and everything that was computed from it.
 * @param {Pick<Trace, "entries">} trace
 * @param {number} tensor
 */
function listMoving({ entries }, tensor) {
  const moving = new Set([tensor]);
  for (const { inputs, output } of entries) if (inputs.some((input) => moving.has(input))) moving.add(output);
  return moving;
}

/**
 * Writes into boxes of the graph what they hold and would hold: {tensor: texts}, of which the first is written that is
 * readable in the box; the player's `root` has the graph.
 * How anything else in `moving` would change is not known, so its recorded value fades.
 * @param {Element | null | undefined} root
 * @param {Record<number, string[]>} changes
 * @param {Set<number>} moving
 */
function markChanges(root, changes, moving) {
  for (const old of root?.querySelectorAll(".graph .change") ?? []) old.remove();
  for (const box of root?.querySelectorAll(".graph [data-tensor]") ?? []) {
    const tensor = Number(box.getAttribute("data-tensor"));
    box.toggleAttribute("data-faded", moving.has(tensor) && !(tensor in changes));
  }
  for (const [tensor, texts] of Object.entries(changes)) {
    const box = root?.querySelector(`.graph [data-tensor="${tensor}"]`);
    /** @type {SVGTextElement} */
    const value = box?.querySelector('[data-part="value"]'); // none where a fold has the box in it
    if (!value) continue;
    // In the place of the value, and a little wider.
    const change = /** @type {SVGTextElement} */ (value.cloneNode());
    for (const [key, part] of [["data-part", null], ["class", "change"]]) set(change, key, part);
    value.after(change);
    const room = Number(box.querySelector("rect").getAttribute("width")) - 1.5 * SHARED.box.padding;
    texts.find((text) => {
      change.textContent = text;
      return change.getComputedTextLength() <= NARROWEST * room;
    });
    if (change.getComputedTextLength() <= room) continue;
    set(change, "textLength", room);
    set(change, "lengthAdjust", "spacingAndGlyphs");
  }
}

/**
 * The nudges of a trace, below what the `panel` adds up; a button in its heading row opens them, or it `stays`.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {HTMLElement} panel
 */
export function nudgeView(trace, history, panel, stays = false) {
  const words = STRINGS.nudge;
  const kept = readNudges(trace);
  const targets = new Map(trace.steps.filter(({ kind }) => kind === "seed").map((step) => [step.pass, step.tensor]));
  let current = 0;
  const openers = { "data-action": "nudge", title: words.about, "aria-expanded": false };
  const button = make("button", { type: "button", ...openers }, words.heading);
  /** @type {(one: Nudge, other: Nudge) => boolean} */
  const isSame = (one, other) => one.tensor === other.tensor && one.target === other.target && !other.along;
  // The list has one element of each array, and its picture the others.
  const choices = kept.map((nudge, index) => {
    const hidden = !nudge.along && kept.findIndex((other) => isSame(nudge, other)) < index ? "" : null;
    return make("option", { value: index, hidden }, nudge.label);
  });
  const elements = elementsView((index) => choose(index));
  const choice = make("select", { "aria-label": words.which }, ...choices);
  const close = make("button", { type: "button", "aria-label": words.close, title: words.close }, "×");
  const slider = make("input", { type: "range", max: PORTIONS.length - 1, "aria-label": words.heading });
  const [change, numbers, why] = [make("span"), make("dl"), make("p")];
  const plot = draw("svg", { viewBox: `0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`, "aria-hidden": true });
  const heading = make("header", {}, make("label", {}, words.heading, choice), ...(stays ? [] : [close]));
  const about = { class: "nudge", role: "group", "aria-label": words.name, hidden: stays ? null : "" };
  const element = make("div", about);
  const inside = [heading, elements.element, make("div", {}, slider, change), numbers, plot, why];
  if (stays) element.append(...inside);
  else panel.querySelector("figcaption").append(button);
  panel.append(element);

  /** Whether this pass adds nothing more to the cotangent that the panel shows. */
  const isComplete = (/** @type {number} */ tensor) => !history.totals(tensor)
    .some(({ step }) => step > current && trace.steps[step].pass === history.pass[current]);
  const missing = (/** @type {Moved} */ { isOther }) => (isOther ? words.unknown : words.notFinite);
  const redraw = () => {
    const nudge = kept[/** @type {any} */ (choice.value)];
    const { tensor, target, points, place, what, slope, targetName, why: always, moved: bent, from } = nudge;
    const at = points[/** @type {any} */ (slider.value)];
    const [by, moved] = [withSign(at.by), at.moved === null ? missing(at) : withSign(at.moved)];
    const said = at.said === null ? words.nothing : withSign(at.said);
    const gap = at.said === null || at.moved === null ? null : withSign(at.moved - at.said);
    /** @type {(name: string, term: string, number: string) => HTMLElement} */
    const row = (name, term, number) => make("div", { class: name }, make("dt", {}, term), make("dd", {}, number));
    const to = from === undefined ? null : written(from + at.by, 6);
    const before = from === undefined ? null : written(from, 6);
    // Where both read the same, by how much says more.
    write(change, to === before ? words.by(by) : words.change(place, before, to));
    numbers.replaceChildren(
      row("moved", words.moves(targetName), moved),
      row("said", isComplete(tensor) ? words.says : words.saysComplete,
        slope === undefined ? said : words.product(written(slope), written(at.by), said)),
      row("gap", words.gap, gap ?? "—"),
    );
    plot.replaceChildren(...plotOf(points, at, [words.nudgeOf(what), words.changeOf(targetName)], always));
    const unreached = slope === undefined && words.unreached(place);
    const of = bent ? words.curved : words.straight;
    const isFaded = at.by !== 0 && [...listMoving(trace, tensor)].some((one) => one !== tensor && one !== target);
    const reason = (at.isOther && at.reason) || unreached || at.reason || always;
    why.replaceChildren(reason || of, isFaded ? make("i", {}, ` ${words.faded}`) : "");
    set(why, "data-reason", Boolean(reason) || null);
    set(slider, "aria-valuetext", words.aloud(by, targetName, moved, said));
    const { value } = trace.tensors[nudge.tensor];
    const offered = new Map();
    kept.forEach((other, index) => {
      if (isSame(nudge, other) && other.element) offered.set(placeOf(other.element, value.shape), index);
    });
    elements.show(value, offered, nudge.element && placeOf(nudge.element, value.shape));
    mark(nudge, at);
  };
  /** @type {(nudge: ReturnType<typeof readNudges>[number], at: Moved) => void} */
  const mark = ({ tensor, target, from, place }, at) => {
    const before = Number(trace.tensors[target].value.text);
    const after = (/** @type {number} */ digits) =>
      (at.moved === null ? missing(at) : written(addRounded(before, at.moved), digits));
    const to = (/** @type {number} */ digits) => written(from + at.by, digits);
    /** @type {(whole: string, short: (digits: number) => string) => string[]} */
    const texts = (whole, short) => [whole, ...[4, 3, 2].map((digits) => `→ ${short(digits)}`)];
    const name = trace.tensors[tensor].name === place ? "" : `${place}: `;
    const isSeen = from !== undefined && written(from) !== to(4);
    const isOn = !element.hidden && at.by !== 0;
    markChanges(element.isConnected ? element.closest(".player") : null, isOn ? {
      [tensor]: isSeen ? texts(`${name}${written(from)} → ${to(4)}`, to) : [withSign(at.by)],
      [target]: texts(`${written(before)} → ${after(4)}`, after),
    } : {}, isOn ? listMoving(trace, tensor) : new Set());
  };
  const choose = (/** @type {number | string} */ index) => {
    choice.value = /** @type {any} */ (index); // the page makes a text of it
    slider.value = /** @type {any} */ (PORTIONS.indexOf(0.1));
    redraw();
  };
  /** The target of the pass on show, or else of the next pass, or of the last if none follows. */
  const targetAt = () => {
    const coming = history.turns.find((turn) => turn >= current) ?? history.turns.at(-1);
    return targets.get(history.pass[current] ?? trace.steps[coming]?.pass);
  };
  /** Chooses a nudge of the current tensor or, if it has none, one for that target. */
  const follow = () => {
    const [step, target, chosen] = [trace.steps[current], targetAt(), kept[/** @type {any} */ (choice.value)]];
    const tensor = step.tensor ?? trace.entries[step.entry]?.output;
    /** @type {((nudge: Nudge) => boolean)[]} */
    const wanted = [
      (nudge) => nudge.tensor === tensor && nudge.target === target, (nudge) => nudge.tensor === tensor,
      (nudge) => nudge.target === target,
    ];
    const fits = wanted.find((is) => kept.some(is));
    if (!fits || fits(chosen)) return;
    const index = kept.findIndex(fits);
    choice.prepend(...choices.filter((_, each) => kept[each].target === kept[index].target));
    choose(index);
  };
  const open = (/** @type {boolean} */ on) => {
    element.replaceChildren(...(on ? inside : []));
    element.hidden = !on;
    set(button, "aria-expanded", on);
    if (on) follow();
    redraw();
    (on ? slider : button).focus();
  };
  button.addEventListener("click", () => open(element.hidden));
  close.addEventListener("click", () => open(false));
  slider.addEventListener("input", redraw);
  choice.addEventListener("change", () => choose(choice.value));
  // The arrows move this slider, and Esc ends this: neither is for the player or the page. Letters are.
  element.addEventListener("keydown", (event) => {
    if (event.key.length > 1) event.stopPropagation();
    if (event.key === "Escape" && !stays) open(false);
  });
  choose(0);
  const show = (/** @type {number} */ step) => {
    current = step;
    if (element.hidden) return;
    follow();
    redraw();
  };
  return { element, show };
}
