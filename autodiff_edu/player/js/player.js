/**
 * The step-through player. It draws one trace document and knows nothing else: neither Python nor the tape.
 *
 * Its content is {trace, layout, css}: what Trace.to_json() gives, where layout.py puts the graph, and the style sheet;
 * and for a drill, {ask, drill}, which player/drill.py describes.
 * Each part of the picture is a view, {element, show(step)}. What a view needs to know about a step it looks up in the
 * history, which is read once; so a step costs the same anywhere in a long trace, forwards and backwards alike.
 * Names, code and values are the user's and may hold anything: they enter the page as text nodes and attributes only.
 */

import { codeView } from "./code.js";
import { compilerPassesView } from "./compiler-passes.js";
import { contoursView } from "./contours.js";
import { controlsView, headingView } from "./controls.js";
import { readCorners } from "./corners.js";
import { build, make, set, writeWhole } from "./dom.js";
import { readFlow } from "./flow.js";
import { glossaryView } from "./glossary.js";
import { landing, readSizes } from "./granularity.js";
import { graphView } from "./graph.js";
import { readHistory } from "./history.js";
import { handleKey } from "./keys.js";
import { nudgeView } from "./nudge.js";
import { unpack } from "./packing.js";
import { panelView } from "./panel.js";
import { patchesView } from "./patches.js";
import { predictModeView } from "./predict-mode.js";
import { keepKeys } from "./shortcuts.js";
import { stageView } from "./stage.js";
import { STRINGS } from "./strings.js";
import { summarize } from "./summaries.js";
import { stripView } from "./strip.js";
import { sweepView } from "./sweep.js";
import { stepOnSwipes } from "./swipe.js";
import { tapeView } from "./tape.js";
import { waveView } from "./wave.js";
import * as SHARED from "../../text/shared.json";

const [LOOK, CHARACTER] = [500, 30]; // milliseconds for the picture, and per character: sentences repeat their forms
const [SHORTEST_STEP, LONGEST_STEP] = [1600, 5000]; // milliseconds that a step plays, however long its sentence is
const MANY_STEPS = 300; // with more, it plays by turns of a loop unless the reader chooses otherwise
const LONGEST_PLAY = 50_000; // milliseconds that all turns or all passes of a trace take
const MOST_LINES = 2; // of a sentence on stage in large letters
const DATA = 'script[type="application/json"]';
const MOUNTED = "autodiff-mounted"; // the page around a player may wait for it

/** Views of what only some documents have, by the part of the document; player/extra_parts.py describes these parts. */
const EXTRAS = { sweep: sweepView, patches: patchesView, contours: contoursView, compiling: compilerPassesView };

/** @typedef {{ element: HTMLElement, show: (step: number) => void }} View */
/**
 * A player in the page, as others move it. `join` takes who hears of the reader's moves, by the name of what has
 * changed: `step`, `playing` or `predict`.
 * @typedef {object} Player
 * @property {(step: number) => void} show
 * @property {(on: boolean) => void} play
 * @property {() => boolean} isPlaying
 * @property {(on: boolean) => void} ask
 * @property {() => void} openStage
 * @property {(tell: ((name: string, value: unknown) => void) | null) => void} join
 */

/**
 * Starts every player of the page that is not running yet and came with this build of the script, of which the page
 * has one copy. A host with a shadow root already has its player. Until one is drawn, the slot shows what is there.
 * @param {string} digest of that build
 */
async function mountAll(digest) {
  const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-autodiff-player]"));
  // The book keeps one script for all players of a page.
  const isOurs = (/** @type {Element} */ host) =>
    host.querySelector("script[type=module]")?.textContent.includes(digest) ?? true;
  const hosts = [...all].filter((host) => !host.shadowRoot && host.querySelector(DATA) && isOurs(host));
  for (const host of hosts) shadowOf(host).append(make("slot"));
  for (const host of hosts) {
    try {
      const content = await unpack(JSON.parse(host.querySelector(DATA).textContent));
      const { start = 0, predict } = host.dataset;
      host.autodiffPlayer = mount(host, content, { step: Number(start), predict: predict !== undefined });
      host.dispatchEvent(new CustomEvent(MOUNTED, { bubbles: true, composed: true }));
    } catch (error) {
      reportError(error); // the transcript stays, and the other players of the page start
    }
  }
}

/**
 * @typedef {object} Options
 * @property {number} [step]
 * @property {boolean} [predict] whether the reader is asked from the start
 * @property {import("./predict-mode.js").Drill} [drill]
 */

/**
 * Draws a player, or one program of a drill after the other, in the same place.
 * @param {HTMLElement} host
 * @param {Content} content
 * @param {Options} options
 * @returns {Player}
 */
function mount(host, content, options) {
  if (!content.drill) return mountOne(host, content, options);
  const [programs, results] = [[content, ...content.drill], new Map()];
  /** @type {ReturnType<typeof mountOne>} */
  let player;
  const open = (/** @type {number} */ number) => {
    const staged = host.shadowRoot?.querySelector("[data-stage]");
    player?.play(false);
    const { ask, trace, layout } = programs[number];
    const drill = { ask, results, number, of: programs.length, open, focus: Boolean(player), staged };
    player = mountOne(host, { ...content, trace, layout }, { step: ask.step - 1, predict: true, drill });
  };
  open(0);
  // Python knows only the first program, so it neither moves the others nor hears of them.
  return { ...player, show: () => {}, ask: () => {}, play: () => {}, openStage: () => player.openStage() };
}

/**
 * Draws a player into the host's shadow root, out of reach of the page's styles and ids.
 * Inside an element of the page with `data-autodiff-compact` it leaves out what a first look can do without.
 * @param {HTMLElement} host
 * @param {Content} content
 * @param {Options} options
 */
function mountOne(host, content, { step = 0, predict: asksFirst = false, drill }) {
  const { version, steps, title } = content.trace;
  if (version !== SHARED.version) return refuse(host, content, STRINGS.player.otherVersion(version, SHARED.version));
  const trace = {
    ...content.trace,
    steps: steps.length ? steps : [/** @type {Step} */ ({ kind: "empty", text: STRINGS.player.empty })],
    states: steps.length ? content.trace.states : [{}],
  };
  const [history, flow] = [readHistory(trace), readFlow(() => stage.isOn())];
  const corners = readCorners(trace, history);
  const sizes = readSizes(trace, history, content.layout);
  const last = trace.steps.length - 1;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const compact = host.closest("[data-autodiff-compact]") !== null;
  /** @type {[number, number | null, number, boolean, boolean]} */
  let [current, timer, speed, covered, asking] = [-1, null, 1, false, false];
  let hasChosen = last < MANY_STEPS; // whether the reader has chosen how far a step goes, or need not
  let [stepSize, told] = [0, 0]; // of those that the trace has: the one that is chosen, and that of the latest move
  /** @type {import("./wave.js").Wave | undefined} */
  let wave;
  /** @type {ReturnType<typeof panelView> | undefined} */
  let panel;
  const show = (/** @type {number} */ wanted) => {
    const next = Math.max(0, Math.min(last, Math.trunc(wanted) || 0));
    if (next === current) return false;
    wave?.end();
    current = next;
    const direction = history.backward[next] ? "backward" : history.update[next] ? "update" : "forward";
    build(root, { "data-step": next, "data-kind": trace.steps[next].kind, "data-direction": direction });
    flow.during(next, draw, panel?.follows(next), timer ? pace() : Infinity);
    return true;
  };
  const draw = () => {
    for (const view of [...top, ...over]) view.show(current);
    lookAt();
  };
  /** Draws the panels, and brings into view what is lit in them. */
  const lookAt = () => {
    for (const view of [...columns.flat(), ...inside]) view.show(current);
    markStops();
  };
  /** What scrolls must be reached without a mouse; what does not would only be one more stop on the way. */
  const markStops = () => {
    const stops = boxes.map(scrolls);
    boxes.forEach((box, k) => set(box, "tabindex", stops[k] ? 0 : null));
  };
  /** @type {(name: string, value: unknown) => void} */
  let tell = () => {};
  const sizeOf = (larger = 0) => Math.min(stepSize + larger, sizes.length - 1);
  const move = (/** @type {number} */ wanted, larger = 0) => {
    told = sizeOf(larger);
    return show(wanted) && tell("step", current);
  };
  const isPlaying = () => Boolean(timer || wave?.isRunning());
  const stop = () => {
    const played = isPlaying();
    wave?.drop();
    timer = /** @type {undefined} */ (clearTimeout(timer));
    controls.showPlaying(false);
    if (played) tell("playing", false);
  };
  /** @type {(way: 1 | -1, larger?: number) => number} */
  const landingOf = (way, larger = 0) => landing(sizes[sizeOf(larger)][1], current, way);
  /** One step on, unless the reader is asked about it first; about what a larger one passes over nothing is asked. */
  const advance = (larger = 0) => {
    const wanted = landingOf(1, larger);
    const [size, landings] = sizes[sizeOf(larger)];
    // Of a line or a turn its beginning is asked about: the rest builds on what has not been shown yet.
    const whole = size === "line" || size === "turn";
    const asked = !whole ? wanted : current === 0 || landings.includes(current) ? current + 1 : -1;
    if (current < last && asked > 0 && predict.asks(asked)) stop();
    else move(wanted, larger);
  };
  const play = () => {
    if (current === last) move(0);
    if (!hasChosen) controls.choose("turn");
    controls.showPlaying(true);
    if (!wave || covered) start();
    else wave.precede(start);
    tell("playing", true); // once it plays: who hears of it starts what does not
  };
  /**
   * A step takes as long as its sentence is read, in a hall twice that; of many turns and passes one sees where they
   * lead. Who wants no motion turns the pages evenly.
   */
  const pace = () => {
    const [size, landings] = sizes[stepSize];
    const many = size === "turn" || size === "pass";
    const read = calm.matches ? 0 : LOOK + CHARACTER * trace.steps[current].text.length;
    const time = Math.min(Math.max(SHORTEST_STEP, read), LONGEST_STEP) * (stage.isOn() && !calm.matches ? 2 : 1);
    return Math.min(time, many ? LONGEST_PLAY / landings.length : Infinity) / speed;
  };
  const start = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A cell that is run again, or a closed notebook, takes the host away without telling.
      if (host.isConnected) advance();
      if (current === last || !host.isConnected) stop();
      else if (timer) start();
    }, pace());
  };
  const replay = () => { stop(); if (!covered) wave?.run(() => {}); };
  const setSpeed = (/** @type {number} */ factor) => {
    speed = factor;
    if (timer) start();
  };
  const go = (/** @type {number} */ wanted, larger = 0) => { stop(); move(wanted, larger); };
  const next = () => { stop(); advance(); };
  const farther = { farther: () => { stop(); advance(1); }, back: () => go(landingOf(-1, 1), 1) };
  const moves = { first: () => go(0), previous: () => go(landingOf(-1)), next, last: () => go(last), ...farther };
  const togglePredict = () => {
    stop();
    asking = predict.toggle();
    controls.showPredicting(asking);
    draw(); // without the results that will be asked for
    tell("predict", asking);
  };
  const disclose = (/** @type {number} */ number) => { move(number); controls.focusNext(); };
  /**
   * What is known of later steps would give an answer away.
   * @param {boolean} on
   */
  const cover = (on) => { set(root, "data-predicting", on ? "" : null); covered = on; draw(); };
  const onStage = {
    stage: () => stage.toggle(), leave: () => stage.leave(), tab: (/** @type {string} */ key) => stage.tab(key),
    blank: () => stage.blank(), fit: () => {},
  };
  const playing = { play: () => (isPlaying() ? stop() : play()), wave: replay };
  const words = glossaryView(stop);
  const reveal = () => predict.giveUp();
  const actions = { ...moves, ...onStage, ...playing, predict: togglePredict, reveal, help: words.help };
  const setSize = (/** @type {number} */ chosen) => { hasChosen = true; stepSize = chosen; if (timer) start(); };
  const named = sizes.map(([name]) => name);
  const controls = controlsView(trace, history, { actions, go, setSpeed, sizes: named, setSize });
  const grouped = content.layout.groups.length > 0;
  const predict = predictModeView(trace, history, { grouped, drill, reveal: disclose, cover, go });
  const sentence = make("p", { class: "scroll sentence", "aria-live": "polite" });
  /** @param {Step} step */
  const showSentence = ({ text, born }) => {
    writeWhole(sentence, text);
    set(sentence, "data-born", born ?? null);
    fit(sentence);
  };
  /** On stage more than two lines have smaller letters, and leave their room to the picture. */
  const fit = (/** @type {HTMLElement} */ text) => {
    set(text, "data-long", null);
    if (!stage.isOn()) return;
    const letters = document.createRange();
    letters.selectNodeContents(text);
    const lines = letters.getBoundingClientRect().height / parseFloat(getComputedStyle(text).lineHeight);
    set(text, "data-long", lines > MOST_LINES + 0.5 || null); // letters are a little higher than their lines
  };
  const longest = [...trace.steps].sort((a, b) => b.text.length - a.text.length).slice(0, 5);
  /** The sentence has the room that the longest needs, so that what is below stands still. */
  const makeRoom = () => {
    const room = `width: ${sentence.clientWidth}px; height: auto; min-height: 0`;
    const style = `position: absolute; visibility: hidden; ${room}`;
    const tried = longest.map(({ born }) => make("p", { class: "sentence", style, "data-born": born ?? null }));
    root.append(...tried);
    const needed = tried.map((one, k) => {
      writeWhole(one, longest[k].text);
      const large = Math.min(one.clientHeight, MOST_LINES * parseFloat(getComputedStyle(one).lineHeight));
      fit(one);
      return stage.isOn() ? Math.max(one.clientHeight, large) : one.clientHeight;
    });
    set(sentence, "style", `--longest: ${Math.max(...needed)}px`);
    for (const one of tried) one.remove();
  };
  /** The sentence of a step; after a whole line or turn, what that has come to. */
  const sentenceAt = (/** @type {number} */ at) => {
    const [size, landings] = sizes[told];
    const place = landings?.indexOf(at) ?? -1;
    const summary = place < 0 ? "" : summarize(trace, history, size, (landings[place - 1] ?? -1) + 1, at);
    return summary ? { ...trace.steps[at], text: summary } : trace.steps[at];
  };
  const said = { element: sentence, show: (/** @type {number} */ at) => showSentence(sentenceAt(at)) };
  const heading = headingView(trace, history);
  const strip = [stripView(trace, history, go, () => covered)].filter(Boolean);
  const top = [heading, controls, ...strip, said, predict];
  const extras = Object.keys(EXTRAS).filter((part) => trace[part]).map((part) =>
    EXTRAS[part](/** @type {Walk & Required<Trace>} */ (trace), history, go));
  const recorded = trace.tapes.length > 0 || !extras.length; // walks over contours and programs are not recordings
  /** @type {View[][]} */
  const [read, drawn, counted, inside, over] = [[], extras, [], [], [words]]; // the columns, and what lies over them
  if (recorded) {
    read.push(codeView(trace, history, go), tapeView(trace, history, content.layout, go));
    const graph = graphView(trace, history, content.layout, go, flow, corners);
    actions.fit = graph.fit;
    drawn.push(graph);
    const say = (/** @type {string | null} */ text) =>
      showSentence(text === null ? sentenceAt(current) : { ...trace.steps[current], text, born: undefined });
    wave = waveView(graph.element, trace, content.layout, { replay, say, ...graph });
    panel = panelView(trace, history, flow, corners, () => covered, () => asking, go, content.layout.tensors);
    counted.push(panel);
    if (trace.nudges?.length) inside.push(nudgeView(trace, history, counted[0].element, compact));
  }
  const columns = [read, drawn, counted].filter((some) => some.length);
  const elements = (/** @type {View[]} */ some) => some.map((view) => view.element);
  const style = `--graph: ${content.layout?.width ?? 0}`;
  const about = { class: "player", tabindex: -1, "aria-label": STRINGS.player.name(title), style };
  const bar = make("div", { class: "bar" }, heading.element, controls.element, ...elements(strip));
  const parts = columns.map((some) => make("div", {}, ...elements(some)));
  const root = make("section", about, bar, sentence, predict.element, make("div", { class: "columns" }, ...parts));
  set(root, "data-compact", compact ? "" : null);
  const redraw = () => { makeRoom(); fit(sentence); lookAt(); };
  const stage = stageView(host, root, controls.stage, { redraw, rest: () => stop() });
  bar.append(stage.list);
  root.append(...elements(over));
  for (const event of ["keydown", "pointerdown"]) root.addEventListener(event, () => wave?.end(), true);
  root.addEventListener("keydown", (event) =>
    words.ends(event) || stage.handleKey(event) || handleKey(event, actions, stage.isOn(), predict.isOpen()));
  stepOnSwipes(root, moves);
  keepKeys(host, root);
  const boxes = [...root.querySelectorAll(".scroll")];
  shadowOf(host).replaceChildren(make("style", {}, content.css), root);
  show(step);
  if (asksFirst) togglePredict();
  if (drill?.staged) stage.toggle();
  let room = ""; // with another one, and when it is laid out at first, what is lit would be elsewhere
  new ResizeObserver(() => {
    const now = [root.clientWidth, ...(stage.isOn() ? [root.clientHeight] : [])].join();
    if (now === room) return markStops();
    room = now;
    redraw();
  }).observe(root);
  return {
    show,
    play: (/** @type {boolean} */ on) => { if (on !== isPlaying()) (on ? play : stop)(); },
    isPlaying,
    ask: (/** @type {boolean} */ on) => { if (on !== asking) togglePredict(); },
    openStage: () => stage.isOn() || stage.toggle(),
    join: (/** @type {typeof tell | null} */ heard) => { tell = heard ?? (() => {}); },
  };
}

const shadowOf = (/** @type {Element} */ host) => host.shadowRoot ?? host.attachShadow({ mode: "open" });

/**
 * Whether a box holds more than it shows. One that has the focus keeps it; one that is not laid out yet may.
 * @param {Element} box
 */
function scrolls(box) {
  if (box.getAttribute("aria-hidden") === "true") return false;
  if (!box.clientWidth || box.matches(":focus, .graph")) return true; // the arrows walk about in the graph
  return box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
}

/**
 * Shows why nothing is drawn, above what is already there: in a page, the transcript.
 * @param {Element} host
 * @param {Content} content
 * @param {string} why
 */
function refuse(host, { css }, why) {
  const message = make("section", { class: "player refusal", role: "alert" }, make("p", {}, why));
  shadowOf(host).replaceChildren(make("style", {}, css), message, make("slot"));
  const nothing = () => {};
  return { show: nothing, play: nothing, isPlaying: () => false, ask: nothing, openStage: nothing, join: nothing };
}

// html.py loads this script once for all players of a page, and asks the element that it came in for what starts them.
const carrier = globalThis.document?.currentScript;
if (carrier) Object.assign(carrier, { mountAll });
