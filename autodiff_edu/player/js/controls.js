/** The heading, the buttons and the scrubber. */

import { build, draw, make, set, write } from "./dom.js";

export function headingView(trace, history) {
  const [direction, count] = ["direction", "count"].map((name) => make("span", { class: name }));
  const show = (step) => {
    set(direction, "data-direction", history.backward[step] ? "backward" : "forward");
    write(direction, history.backward[step] ? "← backward pass" : "→ forward pass");
    write(count, `step ${step + 1} of ${trace.steps.length}`);
  };
  return { element: make("header", {}, make("h2", {}, trace.title), make("div", {}, direction, count)), show };
}

const PAUSE = "M8.5 6v12M15.5 6v12";
const BUTTONS = {
  first: { label: "First step", key: "Home", icon: "M7 6v12M17 6l-6 6 6 6" },
  previous: { label: "Previous step", key: "←", icon: "M14.5 6l-6 6 6 6" },
  play: { label: "Play", key: "Space", icon: "M8 5.5v13l11-6.5z" },
  next: { label: "Next step", key: "→", icon: "M9.5 6l6 6-6 6" },
  last: { label: "Last step", key: "End", icon: "M17 6v12M7 6l6 6-6 6" },
};

export function controlsView(trace, history, actions, go) {
  const [last, buttons] = [trace.steps.length - 1, {}];
  for (const [action, { label, key, icon }] of Object.entries(BUTTONS)) {
    const image = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": true }, draw("path", { d: icon }));
    const about = { type: "button", "data-action": action, "aria-label": label, title: `${label} (${key})` };
    buttons[action] = make("button", about, image);
    buttons[action].addEventListener("click", actions[action]);
  }
  const scrubber = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "Step" });
  scrubber.addEventListener("input", () => go(Number(scrubber.value)));
  const place = (step) => `--portion: ${last ? step / last : 0}`;
  const marks = history.turns.map((turn) => {
    const title = `A backward pass starts at step ${turn + 1}`;
    return make("span", { class: "turn", "data-turn": turn, style: place(turn), title });
  });
  const track = make("div", { class: "scrubber" }, scrubber, ...marks);
  const show = (step) => {
    scrubber.value = step;
    set(scrubber, "aria-valuetext", `step ${step + 1} of ${last + 1}`);
    set(track, "style", place(step));
    // Not `disabled`: that would drop the focus, and the next key would go to the notebook.
    const atEnd = { first: step === 0, previous: step === 0, next: step === last, last: step === last };
    for (const action in atEnd) set(buttons[action], "aria-disabled", atEnd[action]);
  };
  const showPlaying = (playing) => {
    build(buttons.play, { "aria-label": playing ? "Pause" : "Play", title: playing ? "Pause (Space)" : "Play (Space)" });
    set(buttons.play.querySelector("path"), "d", playing ? PAUSE : BUTTONS.play.icon);
  };
  const element = make("div", { class: "controls" }, make("div", { class: "buttons" }, ...Object.values(buttons)), track);
  return { element, show, showPlaying };
}
