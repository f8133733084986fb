/**
 * The step-through player. It draws one trace document and knows nothing else: neither Python nor the tape.
 *
 * Its content is {trace, layout, css}: what Trace.to_json() gives, where layout.py puts the graph, and the style sheet.
 * Each part of the picture is a view, {element, show(step)}. What a view needs to know about a step it looks up in the
 * history, which is read once; so a step costs the same anywhere in a long trace, forwards and backwards alike.
 * Names, code and values are the user's and may hold anything: they enter the page as text nodes and attributes only.
 */

const UNKNOWN = "—"; // never 0: what has not been computed has no value
const MILLISECONDS_PER_STEP = 1000;
const LONGEST_VALUE = 20; // as in layout.py, which sizes the boxes

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

/**
 * Reads the trace once, from beginning to end. Per step: the direction, the place in the code, and the backward pass
 * whose cotangents are on show (or null). Per tensor and entry: the changes, each {step, pass, array}.
 */
function readHistory({ steps, tensors, entries }) {
  const [backward, pass, where] = [[], [], []];
  const [values, cotangents] = [tensors.map(() => []), tensors.map(() => [])];
  const [arrivals, appeared] = [entries.map(() => []), entries.map(() => Infinity)];
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
      const skipped = step.kind === "skip" && entry.tapes.length === 0; // by every tape
      if (skipped || step.kind === "cut") computed[step.entry] = step.kind;
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
  const value = (tensor, number) => values[tensor].findLast((change) => change.step <= number)?.array.text ?? UNKNOWN;
  const inPass = (changes, number) =>
    changes.findLast((change) => change.step <= number && change.pass === pass[number])?.array ?? null;
  const arrived = (entry, number) => inPass(arrivals[entry], number);
  const done = (entry, number) => (arrived(entry, number) ? "pulled" : computed[entry]);
  const state = (entry, number) =>
    steps[number].entry === entry ? "now" : appeared[entry] > number ? "waiting" : done(entry, number);
  const cotangent = (tensor, number) => inPass(cotangents[tensor], number);
  /** The step that pulls the entry back: in the pass on show, else in the first that does. */
  const pulled = (entry, number) => (arrivals[entry].find((at) => at.pass === pass[number]) ?? arrivals[entry][0])?.step;
  const turns = [...passes.values()].map(({ first }) => first);
  return { backward, where, appeared, turns, value, cotangent, arrived, state, pulled };
}

function headingView(trace, history) {
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

function controlsView(trace, history, actions, go) {
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

function codeView(trace, history) {
  const excerpts = trace.code.map(({ first_line: first, lines }) => {
    const number = (index) => make("span", { class: "number" }, first + index);
    const row = (line, index) => make("div", { "data-line": first + index }, number(index), make("code", {}, line));
    return make("div", { class: "lines" }, ...lines.map(row));
  });
  const [caption, box] = [make("figcaption"), make("div", { class: "scroll code" }, ...excerpts)];
  // A step without a place of its own leaves the code that was last in view, so that nothing jumps.
  let seen = history.where.find((where) => where)?.code ?? 0;
  const inView = history.where.map((where) => (seen = where?.code ?? seen));
  let unlight = () => {};
  const show = (step) => {
    unlight();
    excerpts.forEach((excerpt, index) => (excerpt.hidden = index !== inView[step]));
    write(caption, trace.code[inView[step]]?.place ?? "Code");
    const where = history.where[step];
    const row = excerpts[where?.code]?.children[where.line - trace.code[where.code].first_line];
    if (!row) return;
    const [text, line] = [row.lastChild, row.lastChild.textContent];
    const characters = Array.from(line); // Python counts characters, JavaScript halves of some of them
    const part = (from, to) => characters.slice(from, to).join("");
    const [from, to] = where.columns ?? [];
    if (where.columns) text.replaceChildren(part(0, from), make("mark", {}, part(from, to)), part(to));
    set(row, "data-lit", true);
    unlight = () => { set(row, "data-lit", null); text.replaceChildren(line); };
    reveal(box, text.querySelector("mark") ?? row);
  };
  return { element: make("figure", { class: "code-figure" }, caption, box), show };
}

const STATES = { waiting: "", recorded: "recorded", pulled: "pulled back", skip: "not recorded", cut: "cut" };

function tapeView(trace, history, go) {
  let current = 0;
  const names = trace.entries.map((entry) => `${trace.tensors[entry.output].name} = ${entry.text}`);
  const rows = trace.entries.map((entry, index) => {
    const [number, text, state] = ["number", "text", "state"].map((name) => make("span", { class: name }));
    write(number, String(entry.number ?? ""));
    const item = make("li", { "data-entry": index }, number, text, state);
    item.addEventListener("click", () => {
      const pulled = history.backward[current] ? history.pulled(index, current) : undefined;
      go(pulled ?? Math.min(history.appeared[index], trace.steps.length));
    });
    const title = [names[index], ...entry.tapes.map((tape) => trace.tapes[tape].name)].join(", ");
    return { item, text, state, title };
  });
  const box = make("ol", { class: "scroll tape" }, ...rows.map((row) => row.item));
  const show = (step) => {
    current = step;
    rows.forEach(({ item, text, state, title }, index) => {
      const found = history.state(index, step);
      if (found !== "now" && item.dataset.state === found) return;
      const [now, waiting] = [found === "now", found === "waiting"];
      build(item, { "data-state": found, "aria-current": now ? "step" : null, title: waiting ? null : title });
      write(text, waiting ? UNKNOWN : names[index]);
      write(state, STATES[found] ?? (history.backward[step] ? "← now" : "→ now"));
      if (now) reveal(box, item);
    });
  };
  return { element: make("figure", { class: "tape-figure" }, make("figcaption", {}, "Tape"), box), show };
}

function graphView(trace, history, layout) {
  const head = ([x, y], dy) => draw("path", { class: "head", d: `M${x - 4} ${y + dy}L${x} ${y}L${x + 4} ${y + dy}z` });
  const curve = (start, curves) => draw("path", { class: "line", d: `M${start} ${curves}` });
  const [lit, ends] = [draw("g", { class: "lit" }), new Set(layout.entries.flat())];
  const links = layout.links.map((link, number) =>
    draw("g", { class: "link" }, curve(link.start, link.curve), ...(ends.has(number) ? [head(link.end, -7)] : [])));
  /** The whole line from an input to its use: the link that arrives, after all those it goes on from. */
  const edge = ({ end, ...arriving }, backward) => {
    let { start, curve: curves, parent } = arriving;
    for (; parent >= 0; ({ start, parent } = layout.links[parent])) curves = layout.links[parent].curve + curves;
    return [curve(start, curves), backward ? head(start, 7) : head(end, -7)];
  };
  const boxes = layout.tensors.map(({ x, y, width, height, plain, heading, operation }, index) => {
    const text = (part, dx, dy, anchor = "start", words = "") =>
      draw("text", { x: x + dx, y: y + dy, "data-part": part, "text-anchor": anchor }, words);
    const title = draw("title");
    const value = plain ? text("value", width / 2, 16, "middle") : text("value", 10, 36);
    const parts = [title, draw("rect", { x, y, width, height, rx: 6 }), value];
    if (plain) return { group: draw("g", { "data-tensor": index, class: "plain" }, ...parts), title, value };
    const cotangent = text("cotangent", 10, 56);
    const names = [text("name", 10, 19, "start", heading), text("operation", width - 10, 19, "end", operation)];
    const strip = `M${x + 1} ${y + 42}h${width - 2}v${height - 48}q0 5 -5 5h${12 - width}q-5 0 -5 -5z`;
    parts.push(draw("path", { class: "strip", d: strip }), ...names, cotangent);
    return { group: draw("g", { "data-tensor": index }, ...parts), title, value, cotangent };
  });
  const size = { width: layout.width, height: layout.height, role: "img", "aria-label": "The graph of the tensors" };
  const box = make("div", { class: "scroll graph" }, draw("svg", size, ...links, lit, ...boxes.map(({ group }) => group)));
  const show = (step) => {
    const { entry, tensor, argument } = trace.steps[step];
    const backward = history.backward[step];
    const subject = tensor ?? trace.entries[entry]?.output;
    boxes.forEach(({ group, title, value, cotangent }, index) => {
      const { name } = trace.tensors[index];
      const known = history.value(index, step);
      const reached = history.cotangent(index, step)?.text;
      const [isKnown, isReached, isNow] = [known !== UNKNOWN, reached !== undefined, index === subject];
      build(group, { "data-known": isKnown || null, "data-reached": isReached || null, "data-now": isNow || null });
      write(title, `${name}: ${known}${!isReached ? "" : `, cotangent ${reached}`}`);
      const alone = cotangent || name === known;
      write(value, alone ? shorten(known) : `${layout.tensors[index].heading} = ${shorten(known)}`);
      if (cotangent) write(cotangent, backward || isReached ? `← ${shorten(reached ?? UNKNOWN)}` : "");
    });
    const arriving = layout.entries[entry] ?? [];
    links.forEach((link, index) => {
      const known = history.appeared[layout.links[index].entry] <= step;
      build(link, { "data-known": known || null, "data-under": arriving.includes(index) || null });
    });
    const edges = arriving.map((link, index) => {
      // An "accumulate" goes along one argument; nothing at all flows back to a plain constant.
      const still = backward && layout.tensors[trace.entries[entry].inputs[index]].plain;
      const flows = (argument ?? index) === index && !still;
      const about = { "data-edge": `${entry}.${index}`, "data-flow": flows || null };
      return draw("g", about, ...edge(layout.links[link], backward));
    });
    lit.replaceChildren(...edges);
    if (boxes[subject]) reveal(box, boxes[subject].group, 100);
  };
  return { element: make("figure", { class: "graph-figure" }, make("figcaption", {}, "Graph"), box), show };
}

function panelView(trace, history) {
  const fields = {};
  const field = (name, tag = "span") =>
    (fields[name] = make(tag, { "data-field": name, class: tag === "span" ? "value" : null }));
  const row = (label, value) => make("div", {}, label, make("dd", {}, value));
  const span = (name, text) => make("span", { class: name }, text);
  const part = (sign, name) => make("div", { class: "part" }, span("sign", sign), span("label", name), field(name));
  const output = [row(field("value of", "dt"), field("value")), row(field("cotangent of", "dt"), field("cotangent"))];
  const sum = make("div", { class: "sum" }, part("", "before"), part("+", "contribution"), part("=", "after"));
  const accumulator = make("div", { class: "accumulator" }, make("p", {}, field("target", "b"), field("count")), sum);
  const parts = [field("operation"), field("inputs", "dl"), make("dl", {}, ...output), accumulator];
  const describe = ({ name, value }) => (value.shape.length ? `${name} (${value.shape.join("×")})` : name);
  const show = (number) => {
    const step = trace.steps[number];
    const entry = trace.entries[step.entry];
    const subject = entry?.output ?? step.tensor;
    const about = trace.tensors[subject];
    const arrived = entry ? history.arrived(step.entry, number) : about && history.cotangent(subject, number);
    const sums = step.kind === "accumulate";
    const texts = {
      caption: entry?.number ? `Entry ${entry.number}` : entry ? "Not recorded" : about ? "Tensor" : "Entry",
      operation: entry ? `${about.name} = ${entry.text}` : about?.name,
      "value of": about ? `value of ${describe(about)}` : "value",
      value: about && history.value(subject, number),
      "cotangent of": about ? `cotangent of ${about.name}` : "cotangent",
      cotangent: arrived?.text,
      target: sums ? `cotangent of ${trace.tensors[step.tensor].name}` : "accumulated cotangent",
      before: sums ? (step.before?.text ?? "nothing yet") : UNKNOWN,
      contribution: step.contribution?.text ?? UNKNOWN,
      after: step.after?.text ?? UNKNOWN,
      count: sums ? `${step.count} of ${step.of}` : "",
    };
    for (const [key, text] of Object.entries(texts)) write(fields[key], text ?? UNKNOWN);
    const shown = (tensor) => make("span", { class: "value", "data-input": tensor }, history.value(tensor, number));
    const input = (tensor) => row(make("dt", {}, `input ${describe(trace.tensors[tensor])}`), shown(tensor));
    fields.inputs.replaceChildren(...Array.from(new Set(entry?.inputs), input));
    set(sum, "data-active", sums || null);
    // Arrays need the whole width, one below the other.
    set(sum, "data-long", [texts.before, texts.contribution, texts.after].some((text) => text.length > 14) || null);
  };
  const body = make("div", { class: "body" }, ...parts);
  return { element: make("figure", { class: "panel" }, field("caption", "figcaption"), body), show };
}

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

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function shorten(text) {
  const characters = Array.from(text);
  return characters.length > LONGEST_VALUE ? `${characters.slice(0, LONGEST_VALUE - 1).join("")}…` : text;
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
