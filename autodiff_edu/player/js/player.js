/**
 * The step-through player. It draws one trace document and knows nothing else: neither Python nor the tape.
 *
 * Its content is {trace, layout, css}: what Trace.to_json() gives, where layout.py puts the graph, and the style sheet.
 * Each part of the picture is a view, {element, show(step)}. What a view needs to know about a step it looks up in the
 * history, which is read once; so a step costs the same anywhere in a long trace, forwards and backwards alike.
 * Names, code and values are the user's and may hold anything: they enter the page as text nodes and attributes only.
 */

import { codeView } from "./code.js";
import { controlsView, headingView } from "./controls.js";
import { build, make, set, write } from "./dom.js";
import { graphView } from "./graph.js";
import { readHistory } from "./history.js";
import { panelView } from "./panel.js";
import { tapeView } from "./tape.js";

const MILLISECONDS_PER_STEP = 1000;

export default { render };

/** The live widget (anywidget): `step` is the kernel's as much as the reader's. */
export function render({ model, el }) {
  const onStep = (step) => { model.set("step", step); model.save_changes(); };
  let player;
  const start = () => {
    player?.stop();
    el.replaceChildren(make("div"));
    player = mount(el.firstChild, model.get("document"), { step: model.get("step"), onStep });
  };
  const heard = [["change:document", start], ["change:step", () => player.show(model.get("step"))]];
  for (const [event, callback] of heard) model.on(event, callback);
  start();
  return () => { player.stop(); for (const [event, callback] of heard) model.off(event, callback); };
}

/** The static page: starts every player that is not running yet, however many copies of this script the page has. */
export function mountAll(root = document) {
  for (const host of root.querySelectorAll("[data-autodiff-player]")) {
    const data = host.querySelector('script[type="application/json"]');
    if (data && !host.shadowRoot) mount(host, JSON.parse(data.textContent), { step: Number(host.dataset.start ?? 0) });
  }
}

/**
 * Draws a player into the host's shadow root, out of reach of the page's styles and ids.
 * `onStep` hears of the reader's moves only; the `show` that is returned moves the player from outside.
 */
export function mount(host, content, { step = 0, onStep = () => {} } = {}) {
  const { steps } = content.trace;
  const trace = { ...content.trace, steps: steps.length ? steps : [{ kind: "empty", text: "Nothing was recorded." }] };
  const history = readHistory(trace);
  const last = trace.steps.length - 1;
  let [current, timer] = [-1, null];
  const show = (wanted) => {
    const next = Math.max(0, Math.min(last, Math.trunc(wanted) || 0));
    if (next === current) return false;
    current = next;
    const direction = history.backward[next] ? "backward" : "forward";
    build(root, { "data-step": next, "data-kind": trace.steps[next].kind, "data-direction": direction });
    for (const view of [...top, ...left, ...right]) view.show(next);
    return true;
  };
  const move = (wanted) => show(wanted) && onStep(current);
  const stop = () => { timer = clearInterval(timer); controls.showPlaying(false); };
  const play = () => {
    if (current === last) move(0);
    controls.showPlaying(true);
    timer = setInterval(() => {
      // A cell that is run again, or a closed notebook, takes the host away without telling.
      if (host.isConnected) move(current + 1);
      if (current === last || !host.isConnected) stop();
    }, MILLISECONDS_PER_STEP);
  };
  const go = (wanted) => { stop(); move(wanted); };
  const moves = { first: () => go(0), previous: () => go(current - 1), next: () => go(current + 1), last: () => go(last) };
  const actions = { ...moves, play: () => (timer ? stop() : play()) };
  const controls = controlsView(trace, history, actions, go);
  const sentence = make("p", { class: "sentence", "aria-live": "polite" });
  const said = { element: sentence, show: (at) => write(sentence, trace.steps[at].text) };
  const top = [headingView(trace, history), controls, said];
  const left = [codeView(trace, history), tapeView(trace, history, go)];
  const right = [graphView(trace, history, content.layout), panelView(trace, history)];
  const elements = (some) => some.map((view) => view.element);
  const columns = [left, right].map((some) => make("div", {}, ...elements(some)));
  const about = { class: "player", tabindex: -1, "aria-label": `Step through ${trace.title}` };
  const root = make("section", about, ...elements(top), make("div", { class: "columns" }, ...columns));
  root.addEventListener("keydown", (event) => handleKey(event, actions));
  // JupyterLab reads keys before the page does and leaves alone only what is marked so.
  for (const part of [host, root, ...root.querySelectorAll("button, input")]) set(part, "data-lm-suppress-shortcuts", true);
  host.attachShadow({ mode: "open" }).append(make("style", {}, content.css), root);
  show(step);
  return { show, stop };
}

const KEYS = { ArrowLeft: "previous", ArrowRight: "next", " ": "play", Home: "first", End: "last" };

function handleKey(event, actions) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || !Object.hasOwn(KEYS, event.key)) return;
  event.stopPropagation();
  // Whoever has walked to a button with Tab expects Space to press that button.
  if (event.key === " " && event.target.matches("button")) return;
  event.preventDefault();
  actions[KEYS[event.key]]();
}
