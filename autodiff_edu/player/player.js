/**
 * The step-through player. It draws one trace document and knows nothing else: neither Python nor the tape.
 *
 * Its content is {trace, layout, css}: what Trace.to_json() gives, where layout.py puts the graph, and the style sheet.
 * Each part of the picture is a view, {element, show(step)}. What a view needs to know about a step it looks up in the
 * history, which is read once; so a step costs the same anywhere in a long trace, forwards and backwards alike.
 *
 * Names, code and values are the user's and may hold anything: they enter the page as text nodes and attributes only.
 */

const UNKNOWN = "—"; // never 0: what has not been computed has no value
const MILLISECONDS_PER_STEP = 1000;
const LONGEST_VALUE = 20; // as in layout.py, which sizes the boxes
const LONGEST_NAME = 14;

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
  const follow = () => player.show(model.get("step"));
  start();
  model.on("change:document", start);
  model.on("change:step", follow);
  return () => {
    player.stop();
    model.off("change:document", start);
    model.off("change:step", follow);
  };
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
  const nothing = [{ kind: "empty", text: "Nothing was recorded.", where: null }];
  const trace = content.trace.steps.length ? content.trace : { ...content.trace, steps: nothing };
  const history = readHistory(trace);
  const last = trace.steps.length - 1;
  let current = -1;
  let timer = null;

  const show = (wanted) => {
    const next = Math.max(0, Math.min(last, Math.trunc(wanted) || 0));
    if (next === current) return false;
    current = next;
    set(root, "data-step", next);
    set(root, "data-kind", trace.steps[next].kind);
    set(root, "data-direction", history.backward[next] ? "backward" : "forward");
    for (const view of views) view.show(next);
    return true;
  };
  const move = (wanted) => show(wanted) && onStep(current);
  const stop = () => {
    timer = clearInterval(timer);
    controls.showPlaying(false);
  };
  const play = () => {
    if (current === last) move(0);
    controls.showPlaying(true);
    timer = setInterval(() => {
      // A cell that is run again, or a closed notebook, takes the host away without telling.
      if (host.isConnected) move(current + 1);
      if (current === last || !host.isConnected) stop();
    }, MILLISECONDS_PER_STEP);
  };
  const go = (wanted) => {
    stop();
    move(wanted);
  };
  const actions = {
    first: () => go(0),
    previous: () => go(current - 1),
    play: () => (timer ? stop() : play()),
    next: () => go(current + 1),
    last: () => go(last),
  };

  const controls = controlsView(trace, history, actions, go);
  const top = [headingView(trace, history), controls, sentenceView(trace)];
  const left = [codeView(trace, history), tapeView(trace, history, go)];
  const right = [graphView(trace, history, content.layout), panelView(trace, history)];
  const views = [...top, ...left, ...right];
  const elements = (some) => some.map((view) => view.element);
  const columns = make("div", { class: "columns" }, make("div", {}, ...elements(left)), make("div", {}, ...elements(right)));
  const about = { class: "player", tabindex: -1, "aria-label": `Step through ${trace.title}` };
  const root = make("section", about, ...elements(top), columns);
  root.addEventListener("keydown", (event) => handleKey(event, actions));
  // Firefox presses a focused button at the release of Space, which has already played or paused.
  root.addEventListener("keyup", (event) => event.key === " " && !isControl(event.target) && event.preventDefault());
  // JupyterLab reads keys before the page does and leaves alone only what is marked so.
  for (const element of [host, root, ...root.querySelectorAll("button, input")]) {
    set(element, "data-lm-suppress-shortcuts", "true");
  }
  host.attachShadow({ mode: "open" }).append(make("style", {}, content.css), root);
  show(step);
  return { show, stop };
}

const KEYS = { ArrowLeft: "previous", ArrowRight: "next", " ": "play", Home: "first", End: "last" };
const isControl = (target) => target.matches("button[data-action]");

function handleKey(event, actions) {
  const modified = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
  if (modified || !Object.hasOwn(KEYS, event.key)) return;
  event.stopPropagation();
  // Whoever has walked to a button with Tab expects Space to press that button.
  if (event.key === " " && isControl(event.target)) return;
  event.preventDefault();
  actions[KEYS[event.key]]();
}

// ---------------------------------------------------------------------------------------------- what is known when

/**
 * Reads the trace once, from beginning to end. Per step: the direction, the place in the code, and the backward pass
 * whose cotangents are on show (or null). Per tensor and entry: the changes, each {step, pass, array}.
 */
function readHistory({ steps, tensors, entries }) {
  const [backward, pass, where] = [[], [], []];
  const [values, cotangents] = [tensors.map(() => []), tensors.map(() => [])];
  const arrivals = entries.map(() => []);
  const appeared = entries.map(() => Infinity);
  const computed = entries.map(() => "recorded");
  const passes = new Map();
  steps.forEach((step, number) => {
    if (step.pass !== undefined) passes.set(step.pass, { first: number, ...passes.get(step.pass), last: number });
  });
  steps.forEach((step, number) => {
    const know = (tensor, array) => {
      if (array || !values[tensor].length) values[tensor].push({ step: number, array: array ?? tensors[tensor].value });
    };
    const entry = entries[step.entry];
    if (entry && step.pass === undefined) {
      appeared[step.entry] = Math.min(appeared[step.entry], number);
      if (step.kind === "skip" || step.kind === "cut") computed[step.entry] = step.kind;
      for (const tensor of [...entry.inputs, entry.output]) know(tensor);
    }
    if (step.tensor !== undefined) know(step.tensor, step.kind === "assign" ? step.value : null);
    const change = { step: number, pass: step.pass, array: step.kind === "accumulate" ? step.after : step.cotangent };
    if (step.kind === "seed" || step.kind === "accumulate") cotangents[step.tensor].push(change);
    if (step.kind === "pull back") arrivals[step.entry].push(change);

    const computes = ["watch", "record", "skip", "cut", "assign"].includes(step.kind);
    backward.push(step.pass !== undefined || ((backward[number - 1] ?? false) && !computes));
    // An outer tape may record in the middle of an inner backward pass, whose cotangents stay; after it they go.
    const shown = pass[number - 1] ?? null;
    const over = step.kind === "reset" || (computes && number > passes.get(shown)?.last);
    pass.push(step.pass ?? (over ? null : shown));
    where.push(step.where ?? null);
  });

  const value = (tensor, number) => values[tensor].findLast((change) => change.step <= number)?.array ?? null;
  const inPass = (changes, number) =>
    changes.findLast((change) => change.step <= number && change.pass === pass[number])?.array ?? null;
  const arrived = (entry, number) => inPass(arrivals[entry], number);
  const state = (entry, number) => {
    if (steps[number].entry === entry) return "now";
    if (appeared[entry] > number) return "waiting";
    return arrived(entry, number) ? "pulled" : computed[entry];
  };
  const cotangent = (tensor, number) => inPass(cotangents[tensor], number);
  /** The step that pulls the entry back: in the pass on show, else in the first that does. */
  const pulled = (entry, number) => (arrivals[entry].find((at) => at.pass === pass[number]) ?? arrivals[entry][0])?.step;
  const turns = [...passes.values()].map(({ first }) => first);
  return { backward, where, appeared, turns, value, cotangent, arrived, state, pulled };
}

// ---------------------------------------------------------------------------------------------------------- views

function headingView(trace, history) {
  const [direction, count] = [make("span", { class: "direction" }), make("span", { class: "count" })];
  const show = (step) => {
    set(direction, "data-direction", history.backward[step] ? "backward" : "forward");
    write(direction, history.backward[step] ? "← backward pass" : "→ forward pass");
    write(count, `step ${step + 1} of ${trace.steps.length}`);
  };
  return { element: make("header", {}, make("h2", {}, trace.title), make("div", {}, direction, count)), show };
}

function sentenceView(trace) {
  const element = make("p", { class: "sentence", "aria-live": "polite" });
  return { element, show: (step) => write(element, trace.steps[step].text) };
}

const PAUSE = "M8.5 6v12M15.5 6v12";
const BUTTONS = {
  first: { label: "First step", key: "Home", icon: "M7 6v12M17 6l-6 6 6 6" },
  previous: { label: "Previous step", key: "←", icon: "M14.5 6l-6 6 6 6" },
  play: { label: "Play", key: "Space", icon: "M8 5.5v13l11-6.5z" },
  next: { label: "Next step", key: "→", icon: "M9.5 6l6 6-6 6" },
  last: { label: "Last step", key: "End", icon: "M17 6v12M7 6l6 6-6 6" },
};

function controlsView(trace, history, actions, go) {
  const last = trace.steps.length - 1;
  const buttons = {};
  for (const [action, { label, key, icon }] of Object.entries(BUTTONS)) {
    const image = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: icon }));
    const names = { "aria-label": label, title: `${label} (${key})` };
    buttons[action] = make("button", { type: "button", "data-action": action, ...names }, image);
    buttons[action].addEventListener("click", actions[action]);
  }
  const scrubber = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "Step" });
  scrubber.addEventListener("input", () => go(Number(scrubber.value)));
  const place = (element, step) => element.style.setProperty("--portion", last ? step / last : 0);
  const marks = history.turns.map((turn) => {
    const mark = make("span", { class: "turn", "data-turn": turn, title: `A backward pass starts at step ${turn + 1}` });
    place(mark, turn);
    return mark;
  });
  const track = make("div", { class: "scrubber" }, scrubber, ...marks);
  const show = (step) => {
    scrubber.value = step;
    set(scrubber, "aria-valuetext", `step ${step + 1} of ${last + 1}`);
    place(track, step);
    // Not `disabled`: that would drop the focus, and the next key would go to the notebook.
    for (const action of ["first", "previous"]) set(buttons[action], "aria-disabled", step === 0);
    for (const action of ["next", "last"]) set(buttons[action], "aria-disabled", step === last);
  };
  const showPlaying = (playing) => {
    set(buttons.play, "aria-label", playing ? "Pause" : "Play");
    set(buttons.play, "title", playing ? "Pause (Space)" : "Play (Space)");
    set(buttons.play.querySelector("path"), "d", playing ? PAUSE : BUTTONS.play.icon);
  };
  const row = make("div", { class: "buttons" }, ...Object.values(buttons));
  return { element: make("div", { class: "controls" }, row, track), show, showPlaying };
}

function codeView(trace, history) {
  const excerpts = trace.code.map(({ first_line: first, lines }) => {
    const texts = lines.map((line) => make("code", {}, line));
    const number = (index) => make("span", { class: "number" }, first + index);
    const rows = texts.map((text, index) => make("div", { "data-line": first + index }, number(index), text));
    return { first, lines, texts, rows, element: make("div", { class: "lines" }, ...rows) };
  });
  const caption = make("figcaption");
  const box = make("div", { class: "scroll code" }, ...excerpts.map((excerpt) => excerpt.element));
  // A step without a place of its own leaves the code that was last in view, so that nothing jumps.
  let seen = history.where.find((where) => where)?.code ?? 0;
  const inView = history.where.map((where) => (seen = where?.code ?? seen));
  let unlight = () => {};
  const show = (step) => {
    unlight();
    excerpts.forEach((excerpt, index) => (excerpt.element.hidden = index !== inView[step]));
    write(caption, trace.code[inView[step]]?.place ?? "Code");
    const where = history.where[step];
    const excerpt = excerpts[where?.code];
    const index = where?.line - excerpt?.first;
    const row = excerpt?.rows[index];
    if (!row) return;
    const [text, line] = [excerpt.texts[index], excerpt.lines[index]];
    set(row, "data-lit", "true");
    unlight = () => { set(row, "data-lit", null); write(text, line, true); };
    if (where.columns) {
      const characters = Array.from(line); // Python counts characters, JavaScript halves of some of them
      const part = (from, to) => characters.slice(from, to).join("");
      const [from, to] = where.columns;
      text.replaceChildren(part(0, from), make("mark", {}, part(from, to)), part(to));
    }
    reveal(box, text.querySelector("mark") ?? row);
  };
  return { element: make("figure", { class: "code-figure" }, caption, box), show };
}

const STATES = { waiting: "", recorded: "recorded", pulled: "pulled back", skip: "not recorded", cut: "cut" };

function tapeView(trace, history, go) {
  let current = 0;
  const names = trace.entries.map((entry) => `${trace.tensors[entry.output].name} = ${entry.text}`);
  const rows = trace.entries.map((entry, index) => {
    const [text, state] = [make("span", { class: "text" }), make("span", { class: "state" })];
    const number = make("span", { class: "number" }, index + 1);
    const button = make("button", { type: "button", tabindex: -1 }, number, text, state);
    button.addEventListener("click", () => {
      const pulled = history.backward[current] ? history.pulled(index, current) : undefined;
      go(pulled ?? Math.min(history.appeared[index], trace.steps.length));
    });
    const tapes = entry.tapes.map((tape) => trace.tapes[tape].name).join(", ");
    const title = names[index] + (trace.tapes.length > 1 && tapes ? ` (${tapes})` : "");
    return { item: make("li", { "data-entry": index }, button), text, state, button, title };
  });
  const box = make("ol", { class: "scroll tape" }, ...rows.map((row) => row.item));
  const show = (step) => {
    current = step;
    rows.forEach(({ item, text, state, button, title }, index) => {
      const found = history.state(index, step);
      const now = found === "now";
      if (!now && item.dataset.state === found) return;
      set(item, "data-state", found);
      set(item, "aria-current", now ? "step" : null);
      set(button, "title", found === "waiting" ? null : title);
      write(text, found === "waiting" ? UNKNOWN : names[index]);
      write(state, now ? (history.backward[step] ? "← now" : "→ now") : STATES[found]);
      if (now) reveal(box, item);
    });
  };
  return { element: make("figure", { class: "tape-figure" }, make("figcaption", {}, "Tape"), box), show };
}

function graphView(trace, history, layout) {
  const firstUse = layout.links.map(() => Infinity);
  layout.entries.forEach((arriving, entry) => {
    for (let link of arriving) {
      for (; link >= 0; link = layout.links[link].parent) firstUse[link] = Math.min(firstUse[link], history.appeared[entry]);
    }
  });
  const head = ([x, y], dy) => draw("path", { class: "head", d: `M${x - 4} ${y + dy}L${x} ${y}L${x + 4} ${y + dy}z` });
  const ends = new Set(layout.entries.flat());
  const links = layout.links.map(({ start, end, curve }, number) => {
    const line = draw("path", { class: "line", d: `M${start} ${curve}` });
    return draw("g", { class: "link" }, line, ...(ends.has(number) ? [head(end, -7)] : []));
  });
  const lit = draw("g", { class: "lit" });
  /** The whole line from an input to its use: the link that arrives, after all those it goes on from. */
  const edge = (arriving, backward) => {
    let [number, curves] = [arriving, ""];
    for (; ; number = layout.links[number].parent) {
      curves = layout.links[number].curve + curves;
      if (layout.links[number].parent < 0) break;
    }
    const { start } = layout.links[number];
    const line = draw("path", { class: "line", d: `M${start} ${curves}` });
    return draw("g", {}, line, backward ? head(start, 7) : head(layout.links[arriving].end, -7));
  };

  const operations = new Map(trace.entries.map((entry) => [entry.output, entry.operation]));
  const boxes = trace.tensors.map((tensor, index) => {
    const { x, y, width, height, plain } = layout.tensors[index];
    const text = (part, dx, dy, anchor, content = "") =>
      draw("text", { x: x + dx, y: y + dy, "data-part": part, "text-anchor": anchor }, content);
    const title = draw("title");
    const value = plain ? text("value", width / 2, 16, "middle") : text("value", 10, 36, "start");
    const parts = [title, draw("rect", { x, y, width, height, rx: 6 }), value];
    if (plain) return { group: draw("g", { "data-tensor": index, class: "plain" }, ...parts), title, value };
    const strip = `M${x + 1} ${y + 42}h${width - 2}v${height - 48}q0 5 -5 5h${12 - width}q-5 0 -5 -5z`;
    const cotangent = text("cotangent", 10, 56, "start");
    parts.push(draw("path", { class: "strip", d: strip }), cotangent, text("name", 10, 19, "start", shorten(tensor.name, LONGEST_NAME)));
    parts.push(text("operation", width - 10, 19, "end", shorten(operations.get(index) ?? "", LONGEST_NAME)));
    return { group: draw("g", { "data-tensor": index }, ...parts), title, value, cotangent };
  });
  const size = { width: layout.width, height: layout.height, role: "img", "aria-label": "The graph of the tensors" };
  const box = make("div", { class: "scroll graph" }, draw("svg", size, ...links, lit, ...boxes.map(({ group }) => group)));
  let dimmed = [];
  const show = (step) => {
    const { entry, tensor, argument } = trace.steps[step];
    const backward = history.backward[step];
    const subject = tensor ?? trace.entries[entry]?.output;
    boxes.forEach(({ group, title, value, cotangent }, index) => {
      const { name } = trace.tensors[index];
      const known = history.value(index, step)?.text ?? UNKNOWN;
      const reached = history.cotangent(index, step)?.text;
      set(group, "data-known", known === UNKNOWN ? null : "true");
      set(group, "data-reached", reached === undefined ? null : "true");
      set(group, "data-now", index === subject ? "true" : null);
      write(title, `${name}: ${known}${reached === undefined ? "" : `, cotangent ${reached}`}`);
      write(value, cotangent || name === known ? shorten(known) : `${shorten(name, LONGEST_NAME)} = ${shorten(known)}`);
      if (cotangent) write(cotangent, backward || reached !== undefined ? `← ${shorten(reached ?? UNKNOWN)}` : "");
    });
    links.forEach((link, index) => set(link, "data-known", firstUse[index] <= step ? "true" : null));
    for (const link of dimmed) set(link, "data-under", null);
    const arriving = layout.entries[entry] ?? [];
    dimmed = arriving.map((link) => links[link]);
    for (const link of dimmed) set(link, "data-under", "true");
    const edges = arriving.map((link, index) => {
      const group = edge(link, backward);
      set(group, "data-edge", `${entry}.${index}`);
      // An "accumulate" goes along one argument; nothing at all flows back to a plain constant.
      const still = backward && layout.tensors[trace.entries[entry].inputs[index]].plain;
      set(group, "data-flow", still || (argument ?? index) !== index ? null : "true");
      return group;
    });
    lit.replaceChildren(...edges);
    if (boxes[subject]) reveal(box, boxes[subject].group, 100);
  };
  return { element: make("figure", { class: "graph-figure" }, make("figcaption", {}, "Graph"), box), show };
}

function panelView(trace, history) {
  const field = (name) => make("span", { class: "value", "data-field": name });
  const row = (label, value) => make("div", {}, label, make("dd", {}, value));
  const caption = make("figcaption");
  const [operation, value, cotangent, count] = ["operation", "value", "cotangent", "count"].map(field);
  const [before, contribution, after] = ["before", "contribution", "after"].map(field);
  const [valueLabel, cotangentLabel, target] = [make("dt"), make("dt"), make("span")];
  const inputs = make("dl", { "data-field": "inputs" });
  const output = make("dl", {}, row(valueLabel, value), row(cotangentLabel, cotangent));
  const part = (sign, label, amount) =>
    make("div", { class: "part" }, make("span", { class: "sign" }, sign), make("span", { class: "label" }, label), amount);
  const parts = [part("", "before", before), part("+", "contribution", contribution), part("=", "after", after)];
  const sum = make("div", { class: "sum" }, ...parts);
  const accumulator = make("div", { class: "accumulator" }, make("p", {}, target, count), sum);
  const body = make("div", { class: "body" }, operation, inputs, output, accumulator);
  const describe = (tensor) => {
    const { name, value: array } = trace.tensors[tensor];
    return array.shape.length ? `${name} (${array.shape.join("×")})` : name;
  };
  const show = (number) => {
    const step = trace.steps[number];
    const entry = trace.entries[step.entry];
    const subject = entry?.output ?? step.tensor;
    const name = trace.tensors[subject]?.name;
    const arrived = entry ? history.arrived(step.entry, number) : name && history.cotangent(subject, number);
    write(caption, entry ? `Entry ${step.entry + 1}` : name ? "Tensor" : "Entry");
    write(operation, entry ? `${name} = ${entry.text}` : (name ?? UNKNOWN));
    write(valueLabel, name ? `value of ${describe(subject)}` : "value");
    write(value, (name && history.value(subject, number)?.text) || UNKNOWN);
    write(cotangentLabel, name ? `cotangent of ${name}` : "cotangent");
    write(cotangent, arrived?.text ?? UNKNOWN);
    const inputRow = (tensor) => {
      const text = history.value(tensor, number)?.text ?? UNKNOWN;
      return row(make("dt", {}, `input ${describe(tensor)}`), make("span", { class: "value", "data-input": tensor }, text));
    };
    inputs.replaceChildren(...Array.from(new Set(entry?.inputs), inputRow));
    const adding = step.kind === "accumulate";
    set(sum, "data-active", adding ? "true" : null);
    write(target, adding ? `cotangent of ${trace.tensors[step.tensor].name}` : "accumulated cotangent");
    write(before, adding ? (step.before?.text ?? "nothing yet") : UNKNOWN);
    write(contribution, adding ? step.contribution.text : UNKNOWN);
    write(after, adding ? step.after.text : UNKNOWN);
    // Arrays need the whole width, one below the other.
    const long = [before, contribution, after].some((amount) => amount.textContent.length > 14);
    set(sum, "data-long", long ? "true" : null);
    write(count, adding ? `${step.count} of ${step.of}` : "");
  };
  return { element: make("figure", { class: "panel" }, caption, body), show };
}

// ------------------------------------------------------------------------------------------------------------ DOM

function build(node, attributes = {}, ...children) {
  for (const [name, value] of Object.entries(attributes)) set(node, name, value);
  node.append(...children);
  return node;
}
const make = (tag, ...rest) => build(document.createElement(tag), ...rest);
const draw = (tag, ...rest) => build(document.createElementNS("http://www.w3.org/2000/svg", tag), ...rest);

/** Sets an attribute, or removes it for null; untouched where nothing changes, for that is most of a long trace. */
function set(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

function write(node, text, anew = false) {
  if (anew || node.textContent !== text) node.textContent = text;
}

function shorten(text, longest = LONGEST_VALUE) {
  const characters = Array.from(text);
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : text;
}

/** Scrolls a box, and never the page around it, until the element inside is in view, or its beginning at least. */
function reveal(box, element, margin = 24) {
  requestAnimationFrame(() => {
    const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
    const shift = (low, high, from, to) =>
      low < from ? low - from - margin : high > to ? Math.min(high - to, low - from - 2 * margin) + margin : 0;
    box.scrollTop += shift(inner.top, inner.bottom, outer.top, outer.bottom);
    box.scrollLeft += shift(inner.left, inner.right, outer.left, outer.right);
  });
}
