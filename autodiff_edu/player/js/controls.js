/** The heading, the buttons, the speed, the scrubber and the keys. */

import { build, draw, make, set, write } from "./dom.js";
import { STRINGS } from "./strings.js";

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 */
export function headingView(trace, history) {
  const [direction, count] = ["direction", "count"].map((name) => make("span", { class: name }));
  const show = (/** @type {number} */ step) => {
    const phase = history.phase(step);
    set(direction, "data-phase", phase);
    write(direction, STRINGS.heading[phase]);
    write(count, STRINGS.heading.count(step + 1, trace.steps.length));
  };
  const heading = make("h2", { title: trace.title }, trace.title);
  return { element: make("header", {}, heading, make("div", {}, direction, count)), show };
}

const PAUSE = "M8.5 6v12M15.5 6v12";
const BUTTONS = {
  first: { key: STRINGS.controls.home, icon: "M7 6v12M17 6l-6 6 6 6" },
  previous: { key: "←", icon: "M14.5 6l-6 6 6 6" },
  play: { key: STRINGS.controls.space, icon: "M8 5.5v13l11-6.5z" },
  next: { key: "→", icon: "M9.5 6l6 6-6 6" },
  last: { key: STRINGS.controls.end, icon: "M17 6v12M7 6l6 6-6 6" },
};
const SPEEDS = [0.5, 1, 2, 4];

/** @typedef {keyof typeof BUTTONS | "stage" | "predict" | "leave" | "fit" | "wave" | "farther" | "back"} Action */
/** @typedef {Record<Action, () => void>} Actions */

/**
 * `actions` are what the buttons do, by name; `go` hears where the scrubber is put, `setSpeed` a factor, `setSize`
 * which of the `sizes` a step has.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {{
 *   actions: Actions, go: (step: number) => void, setSpeed: (factor: number) => void,
 *   sizes: import("./granularity.js").Size[], setSize: (size: number) => void,
 * }} heard
 */
export function controlsView(trace, history, { actions, go, setSpeed, sizes, setSize }) {
  /** @type {[typeof STRINGS.controls, number, Record<string, HTMLButtonElement>]} */
  const [words, last, buttons] = [STRINGS.controls, trace.steps.length - 1, {}];
  for (const [action, { key, icon }] of Object.entries(BUTTONS)) {
    const image = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": true }, draw("path", { d: icon }));
    const about = { "aria-label": words[action], title: `${words[action]} (${key})` };
    buttons[action] = make("button", { type: "button", "data-action": action, ...about }, image);
  }
  const about = { type: "button", "data-action": "predict", "aria-pressed": false, title: words.aboutPredict };
  const predict = make("button", about, words.predict);
  const onStage = { type: "button", "data-action": "stage", "aria-pressed": false, title: words.aboutStage };
  const stage = make("button", onStage, words.stage);
  for (const button of [...Object.values(buttons), predict, stage]) {
    button.addEventListener("click", actions[/** @type {Action} */ (button.dataset.action)]);
  }
  const choices = SPEEDS.map((factor) => make("option", { value: factor }, words.times(factor)));
  const speed = make("select", { class: "speed", "aria-label": words.speed, title: words.speed }, ...choices);
  speed.value = "1";
  speed.addEventListener("change", () => setSpeed(Number(speed.value)));
  const ofSizes = sizes.map((size, index) => make("option", { value: index }, words.sizes[size]));
  const size = make("select", { class: "size", "aria-label": words.size, title: words.aboutSize }, ...ofSizes);
  size.hidden = sizes.length === 1;
  size.addEventListener("change", () => setSize(Number(size.value)));
  const scrubber = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": words.scrubber });
  scrubber.addEventListener("input", () => go(Number(scrubber.value)));
  const place = (/** @type {number} */ step) => `--portion: ${last ? step / last : 0}`;
  const marks = history.turns.map((turn) => {
    const forward = history.pushing(turn);
    const title = words[forward ? "turnForward" : "turn"](turn + 1);
    const kind = { class: "turn", "data-turn": turn, "data-forward": forward || null };
    return make("span", { ...kind, style: place(turn), title });
  });
  const { births, last: spoilt } = history.odd;
  const span = `--from: ${births[0]?.step / last}; --to: ${spoilt / last}`;
  if (births.length) marks.push(make("span", { class: "spoilt", style: span }));
  marks.push(...births.map(({ step, kind }) =>
    make("span", { class: "turn birth", "data-birth": step, style: place(step), title: words.born(kind, step + 1) })));
  const track = make("div", { class: "scrubber" }, scrubber, ...marks);
  const show = (/** @type {number} */ step) => {
    scrubber.value = /** @type {any} */ (step); // the page makes a text of it
    set(scrubber, "aria-valuetext", STRINGS.heading.count(step + 1, last + 1));
    set(track, "style", place(step));
    // Not `disabled`: that would drop the focus, and the next key would go to the notebook.
    /** @type {Record<string, boolean>} */
    const atEnd = { first: step === 0, previous: step === 0, next: step === last, last: step === last };
    for (const action in atEnd) set(buttons[action], "aria-disabled", atEnd[action]);
  };
  const showPlaying = (/** @type {boolean} */ playing) => {
    const name = playing ? words.pause : words.play;
    build(buttons.play, { "aria-label": name, title: `${name} (${BUTTONS.play.key})` });
    set(buttons.play.querySelector("path"), "d", playing ? PAUSE : BUTTONS.play.icon);
  };
  const showPredicting = (/** @type {boolean} */ on) => set(predict, "aria-pressed", on);
  const focusNext = () => buttons.next.focus({ preventScroll: true });
  const moving = make("div", { class: "buttons" }, ...Object.values(buttons));
  const choosing = make("div", { class: "choices" }, speed, size, predict, stage);
  const element = make("div", { class: "controls" }, moving, choosing, track);
  return { element, stage, show, showPlaying, showPredicting, focusNext };
}

/** @type {Record<string, Action>} */
const KEYS = {
  ArrowLeft: "previous", ArrowRight: "next", " ": "play", Home: "first", End: "last",
  f: "stage", 0: "fit", w: "wave",
};
/** @type {Record<string, Action>} */
const SHIFT_KEYS = { ArrowLeft: "back", ArrowRight: "farther" };
/** @type {Record<string, Action>} */
const STAGE_KEYS = { PageUp: "previous", PageDown: "next" }; // those of a presenter's remote

/**
 * Does what a key stands for, by the names of the actions; keys that stand for nothing here go on to the page.
 * @param {KeyboardEvent} event
 * @param {Actions} actions
 */
export function handleKey(event, actions, onStage = false) {
  if (onStage && event.key === "Escape") { event.stopPropagation(); actions.leave(); return; }
  // What is typed is neither a shortcut of the player nor of the page around it.
  if (/** @type {Element} */ (event.target).matches("input:not([type=range]), select, textarea")) {
    event.stopPropagation();
    return;
  }
  const plain = KEYS[event.key] ?? (onStage ? STAGE_KEYS[event.key] : undefined);
  const action = event.shiftKey ? SHIFT_KEYS[event.key] : plain;
  if (event.ctrlKey || event.altKey || event.metaKey || !action) return;
  event.stopPropagation();
  // On a button that was reached with Tab, Space presses that button.
  if (event.key === " " && /** @type {Element} */ (event.target).matches("button, summary")) return;
  event.preventDefault();
  if (!(event.repeat && action === "stage")) actions[action]();
}
