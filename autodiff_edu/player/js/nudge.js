/** Nudging: how far a target moves when a tensor does, and how far the cotangent says. */

import { draw, make, set, write } from "./dom.js";
import { STRINGS } from "./strings.js";
import SHARED from "../../text/shared.json" with { type: "json" };

const [WIDTH, HEIGHT, EDGE] = [320, 140, 10]; // of the plot, and the room around it
const PORTIONS = [...SHARED.nudges, 0].sort((a, b) => a - b);

const round = (number, digits = 4) => Number(number.toPrecision(digits));
const minus = (number) => String(number).replace("-", "−");
const signed = (number) => (number > 0 ? `+${number}` : minus(number));

/** The nudges as they are offered: a label, and points from the lowest up. In these null is what is not known. */
function readNudges({ nudges, tensors }) {
  const several = nudges.some(({ target }) => target !== nudges[0].target);
  return nudges.map((nudge) => {
    const [name, target] = [tensors[nudge.tensor].name, tensors[nudge.target].name];
    const place = nudge.element ? `${name}[${nudge.element.join(", ")}]` : name;
    const what = nudge.along ? STRINGS.nudge.along(name) : place;
    const points = PORTIONS.map((portion) => {
      const by = round(nudge.size * portion);
      const said = nudge.slope === undefined ? null : round(nudge.slope * by);
      const moved = !nudge.moved ? said : portion ? nudge.moved[SHARED.nudges.indexOf(portion)] : 0;
      return { portion, by, said, moved };
    });
    return { ...nudge, place, points, targetName: target, label: several ? STRINGS.nudge.of(what, target) : what };
  });
}

/** The picture of some points: a curve of what moves, a line of what is said, and the gap between the two at one. */
function plotOf(points, at) {
  const heights = points.flatMap(({ said, moved }) => [said ?? 0, moved ?? 0]);
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  const x = (portion) => EDGE + ((portion + 1) / 2) * (WIDTH - 2 * EDGE);
  const y = (height) => (high > low ? EDGE + ((high - height) / (high - low)) * (HEIGHT - 2 * EDGE) : HEIGHT / 2);
  const path = (name, d) => draw("path", { class: name, d });
  const known = (role) => points.filter((point) => point[role] !== null);
  const line = (role) =>
    path(role, known(role).map((point, k) => `${k ? "L" : "M"}${x(point.portion)} ${y(point[role])}`).join(""));
  const dot = (role, point, r) => draw("circle", { class: role, cx: x(point.portion), cy: y(point[role]), r });
  const ends = ["said", "moved"].filter((role) => at[role] !== null);
  return [
    path("axes", `M${EDGE} ${y(0)}H${WIDTH - EDGE}M${x(0)} ${EDGE}V${HEIGHT - EDGE}`),
    ...[line("said"), line("moved")],
    ...known("moved").map((point) => dot("moved", point, 2)),
    ...(ends[1] ? [path("gap", `M${x(at.portion)} ${y(at.said)}V${y(at.moved)}`)] : []),
    ...ends.map((role) => dot(role, at, 5)),
  ];
}

/** The nudges of a trace, over the graph; a button in the heading row of the `panel` opens them. */
export function nudgeView(trace, history, panel) {
  const words = STRINGS.nudge;
  const kept = readNudges(trace);
  const targets = new Map(trace.steps.filter(({ kind }) => kind === "seed").map((step) => [step.pass, step.tensor]));
  let current = 0;
  const openers = { "data-action": "nudge", title: words.about, "aria-expanded": false };
  const button = make("button", { type: "button", ...openers }, words.heading);
  const choices = kept.map(({ label }, index) => make("option", { value: index }, label));
  const choice = make("select", { "aria-label": words.which }, ...choices);
  const close = make("button", { type: "button", "aria-label": words.close, title: words.close }, "×");
  const slider = make("input", { type: "range", max: PORTIONS.length - 1, "aria-label": words.heading });
  const [change, numbers, why] = [make("span"), make("dl"), make("p")];
  const plot = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": true });
  const heading = make("header", {}, make("label", {}, words.heading, choice), close);
  const about = { class: "nudge", role: "dialog", "aria-label": words.name, hidden: "" };
  const element = make("div", about);
  const inside = [heading, make("div", {}, slider, change), numbers, plot, why];
  panel.querySelector("figcaption").append(button);

  const redraw = () => {
    const { points, place, slope, targetName, cut, moved: bent, from } = kept[choice.value];
    const at = points[slider.value];
    const [by, moved] = [signed(at.by), at.moved === null ? words.notFinite : signed(at.moved)];
    const said = at.said === null ? words.nothing : signed(at.said);
    const gap = at.said === null || at.moved === null ? null : signed(round(at.moved - at.said));
    const row = (name, term, number) => make("div", { class: name }, make("dt", {}, term), make("dd", {}, number));
    write(change, from === undefined ? words.by(by) : words.change(place, minus(from), minus(round(from + at.by, 6))));
    numbers.replaceChildren(
      row("moved", words.moves(targetName), moved),
      row("said", words.says, slope === undefined ? said : words.product(minus(slope), minus(at.by), said)),
      row("gap", words.gap, gap ?? "—"),
    );
    plot.replaceChildren(...plotOf(points, at));
    const unreached = slope === undefined && words.unreached(place);
    write(why, unreached || (cut ? words.cut(place) : bent ? words.curved : words.straight));
    set(slider, "aria-valuetext", words.aloud(by, targetName, moved, said));
  };
  const choose = (index) => {
    choice.value = index;
    slider.value = PORTIONS.indexOf(0) + 1;
    redraw();
  };
  /** Turns to the tensor at hand, if it has nudges: those for the target of the pass on show, if there are any. */
  const follow = () => {
    const step = trace.steps[current];
    const tensor = step.tensor ?? trace.entries[step.entry]?.output;
    if (kept[choice.value].tensor === tensor) return;
    const find = (is) => kept.findIndex((nudge) => nudge.tensor === tensor && is(nudge));
    const found = [find(({ target }) => target === targets.get(history.pass[current])), find(() => true)];
    const index = found.find((place) => place >= 0);
    if (index !== undefined) choose(index);
  };
  /** Puts it over the graph or, where that is behind a tab, over the panel; never out of the player. */
  const put = () => {
    const player = element.parentElement;
    const graph = player.querySelector(".graph-figure");
    const [outer, over] = [player, graph?.clientWidth ? graph : panel].map((box) => box.getBoundingClientRect());
    const within = (wanted, most) => Math.max(0, Math.min(wanted, most));
    const left = within(over.left - outer.left, outer.width - element.offsetWidth - 4);
    const top = within(over.top - outer.top, outer.height - element.offsetHeight - 4);
    set(element, "style", `left: ${left}px; top: ${top}px`);
  };
  const open = (on) => {
    element.replaceChildren(...(on ? inside : []));
    element.hidden = !on;
    set(button, "aria-expanded", on);
    if (on) { follow(); put(); }
    (on ? slider : button).focus();
  };
  button.addEventListener("click", () => open(element.hidden));
  close.addEventListener("click", () => open(false));
  slider.addEventListener("input", redraw);
  choice.addEventListener("change", () => choose(choice.value));
  // The arrows move this slider, and Esc ends this: neither is for the player or the page.
  element.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") open(false);
  });
  choose(0);
  return { element, show: (step) => { current = step; if (!element.hidden) follow(); } };
}
