/** The heading, the buttons, the speed and the scrubber. */

import { build, draw, make, set, write } from "./dom.js";
import { KEYS, spellKeys } from "./keys.js";
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

const MOST_MARKS = 300; // along the scrubber, of turning points
const PAUSE = "M8.5 6v12M15.5 6v12";
const BUTTONS = {
  first: "M7 6v12M17 6l-6 6 6 6",
  previous: "M14.5 6l-6 6 6 6",
  play: "M8 5.5v13l11-6.5z",
  next: "M9.5 6l6 6-6 6",
  last: "M17 6v12M7 6l6 6-6 6",
};
const SPEEDS = [0.5, 1, 2, 4];

/** @typedef {import("./keys.js").Actions} Actions */

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
  const titleOf = (/** @type {keyof typeof BUTTONS} */ action, /** @type {string} */ name) =>
    `${name} (${spellKeys(KEYS[action])})`;
  const setName = (/** @type {keyof typeof BUTTONS} */ action, /** @type {string} */ name) =>
    build(buttons[action], { "aria-label": name, title: titleOf(action, name) });
  for (const [action, icon] of /** @type {[keyof typeof BUTTONS, string][]} */ (Object.entries(BUTTONS))) {
    const image = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": true }, draw("path", { d: icon }));
    buttons[action] = make("button", { type: "button", "data-action": action }, image);
    setName(action, words[action]);
  }
  const about = { type: "button", "data-action": "predict", "aria-pressed": false, title: words.aboutPredict };
  const predict = make("button", about, words.predict);
  const onStage = { type: "button", "data-action": "stage", "aria-pressed": false, title: words.aboutStage };
  const stage = make("button", onStage, words.stage);
  for (const button of [...Object.values(buttons), predict, stage]) {
    button.addEventListener("click", () => actions[/** @type {keyof Actions} */ (button.dataset.action)]());
  }
  const choices = SPEEDS.map((factor) => make("option", { value: factor }, words.times(factor)));
  const speed = make("select", { class: "speed", "aria-label": words.speed, title: words.speed }, ...choices);
  speed.value = "1";
  speed.addEventListener("change", () => setSpeed(Number(speed.value)));
  const ofSizes = sizes.map((size, index) => make("option", { value: index }, words.sizes[size]));
  const size = make("select", { class: "size", "aria-label": words.size, title: words.aboutSize }, ...ofSizes);
  size.hidden = sizes.length === 1;
  const take = () => {
    const chosen = sizes[Number(size.value)];
    for (const action of /** @type {const} */ (["next", "previous"])) {
      setName(action, chosen === "operation" ? words[action] : words[action].replace("step", chosen));
    }
    setSize(Number(size.value));
  };
  size.addEventListener("change", take);
  const choose = (/** @type {import("./granularity.js").Size} */ wanted) => {
    if (!sizes.includes(wanted)) return;
    size.value = `${sizes.indexOf(wanted)}`;
    take();
  };
  for (const choice of [speed, size]) {
    // After a choice with the mouse the next key is the player's; a choice with keys leaves the focus where it is.
    let pointed = false;
    choice.addEventListener("pointerdown", () => { pointed = true; });
    choice.addEventListener("keydown", () => { pointed = false; });
    choice.addEventListener("change", () => {
      if (pointed) /** @type {HTMLElement | null} */ (choice.closest(".player"))?.focus({ preventScroll: true });
    });
  }
  const scrubber = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": words.scrubber });
  scrubber.addEventListener("input", () => go(Number(scrubber.value)));
  const place = (/** @type {number} */ step) => `--portion: ${last ? step / last : 0}`;
  /** @type {number[]} */
  const apart = []; // closer ones could not be told apart, and each takes time at every step
  for (const turn of history.turns) if (!apart.length || (turn - apart.at(-1)) * MOST_MARKS >= last) apart.push(turn);
  const marks = apart.map((turn) => {
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
    setName("play", name);
    set(buttons.play.querySelector("path"), "d", playing ? PAUSE : BUTTONS.play);
  };
  const showPredicting = (/** @type {boolean} */ on) => set(predict, "aria-pressed", on);
  const focusNext = () => buttons.next.focus({ preventScroll: true });
  const moving = make("div", { class: "buttons" }, ...Object.values(buttons));
  const choosing = make("div", { class: "choices" }, speed, size, predict, stage);
  const element = make("div", { class: "controls" }, moving, choosing, track);
  return { element, stage, show, choose, showPlaying, showPredicting, focusNext };
}
