/**
 * The step-through player. It draws one trace document and knows nothing else: neither Python nor the tape.
 *
 * A document is {trace, layout, css}: what Trace.to_json() gives, where layout.py puts the graph, and the style sheet.
 * Each part of the picture is a view, {element, show(step)}. What a view needs to know about a step is looked up in
 * the history, which is read once; so a step costs the same anywhere in a long trace, forwards and backwards alike.
 *
 * Names, code and values are the user's and may hold anything: they enter the page as text nodes and attributes only.
 */

const UNKNOWN = "—"; // never 0: what has not been computed has no value
const SECONDS_PER_STEP = 1;
const LONGEST_VALUE = 20; // as in layout.py, which sizes the boxes
const LONGEST_NAME = 14;

export default { render };

/** The live widget (anywidget): `step` is the kernel's as much as the reader's. */
export function render({ model, el }) {
  let player;
  const start = () => {
    player?.stop();
    const host = make("div");
    el.replaceChildren(host);
    player = mount(host, model.get("document"), {
      step: model.get("step"),
      onStep(step) {
        model.set("step", step);
        model.save_changes();
      },
    });
  };
  const follow = () => player.show(model.get("step"));
  model.on("change:document", start);
  model.on("change:step", follow);
  start();
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
 * `onStep` hears of the reader's moves only; `show` moves the player from outside.
 */
export function mount(host, content, { step = 0, onStep = () => {} } = {}) {
  const trace = content.trace.steps.length
    ? content.trace
    : { ...content.trace, steps: [{ kind: "empty", text: "Nothing was recorded.", where: null }] };
  const history = readHistory(trace);
  const last = trace.steps.length - 1;
  let current = -1;
  let timer = null;

  const show = (wanted) => {
    const next = Math.max(0, Math.min(last, Math.trunc(wanted) || 0));
    if (next === current) return;
    current = next;
    set(root, "data-step", next);
    set(root, "data-kind", trace.steps[next].kind);
    set(root, "data-direction", history.backward[next] ? "backward" : "forward");
    for (const view of views) view.show(next);
  };
  const move = (wanted) => {
    const before = current;
    show(wanted);
    if (current !== before) onStep(current);
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    controls.showPlaying(false);
  };
  const play = () => {
    if (current === last) move(0);
    timer = setInterval(() => {
      // A cell that is run again, or a closed notebook, takes the host away without telling.
      if (current === last || !host.isConnected) return stop();
      move(current + 1);
      if (current === last) stop();
    }, 1000 * SECONDS_PER_STEP);
    controls.showPlaying(true);
  };
  const go = (wanted) => {
    stop();
    move(wanted);
  };
  const actions = {
    first: () => go(0),
    previous: () => go(current - 1),
    play: () => (timer === null ? play() : stop()),
    next: () => go(current + 1),
    last: () => go(last),
  };

  const controls = controlsView(trace, history, actions, go);
  const code = codeView(trace, history);
  const tape = tapeView(trace, history, go);
  const graph = graphView(trace, history, content.layout);
  const panel = panelView(trace, history);
  const views = [headingView(trace, history), controls, sentenceView(trace), code, tape, graph, panel];
  const root = make(
    "section",
    { class: "player", tabindex: -1, "aria-label": `Step through ${trace.title}` },
    ...views.slice(0, 3).map((view) => view.element),
    make("div", { class: "columns" }, make("div", {}, code.element, tape.element), make("div", {}, graph.element, panel.element)),
  );
  root.addEventListener("keydown", (event) => handleKey(event, actions));
  // Firefox presses a focused button at the release of Space, which has already played or paused.
  root.addEventListener("keyup", (event) => event.key === " " && !isControl(event.target) && event.preventDefault());
  // JupyterLab reads keys before the page does and leaves alone only what is marked so.
  for (const element of [host, root, ...root.querySelectorAll("button, input")]) {
    set(element, "data-lm-suppress-shortcuts", "true");
  }
  host.attachShadow({ mode: "open" }).append(make("style", {}, content.css), root);
  show(step);
  return { show, stop, get step() { return current; } }; // prettier-ignore
}

const KEYS = { ArrowLeft: "previous", ArrowRight: "next", " ": "play", Home: "first", End: "last" };
const isControl = (target) => target.matches("button[data-action]");

function handleKey(event, actions) {
  const modified = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
  if (!(event.key in KEYS) || modified) return;
  event.stopPropagation();
  // Whoever has walked to a button with Tab expects Space to press that button.
  if (event.key === " " && isControl(event.target)) return;
  event.preventDefault();
  actions[KEYS[event.key]]();
}

// ---------------------------------------------------------------------------------------------- what is known when

/**
 * Reads the trace once, from beginning to end. Per step: the direction, the backward pass whose cotangents are on
 * show (or null) and the line of code. Per tensor and entry: the steps at which something about it changes.
 */
function readHistory({ steps, tensors, entries }) {
  const backward = [];
  const pass = [];
  const where = [];
  const values = tensors.map(() => []); // {step, array}
  const cotangents = tensors.map(() => []); // {step, pass, array}
  const arrivals = entries.map(() => []); // {step, pass, array}
  const appeared = entries.map(() => Infinity);
  const passes = new Map(); // number → {first, last} step

  steps.forEach((step, number) => {
    if (step.pass === undefined) return;
    if (!passes.has(step.pass)) passes.set(step.pass, { first: number });
    passes.get(step.pass).last = number;
  });
  steps.forEach((step, number) => {
    const know = (tensor, array) => {
      if (array || !values[tensor].length) values[tensor].push({ step: number, array: array ?? tensors[tensor].value });
    };
    const entry = entries[step.entry];
    if (entry && step.pass === undefined) {
      appeared[step.entry] = Math.min(appeared[step.entry], number);
      for (const tensor of [...entry.inputs, entry.output]) know(tensor);
    }
    if (step.tensor !== undefined) know(step.tensor, step.kind === "assign" ? step.value : undefined);
    if (step.kind === "seed") cotangents[step.tensor].push({ step: number, pass: step.pass, array: step.cotangent });
    if (step.kind === "accumulate") cotangents[step.tensor].push({ step: number, pass: step.pass, array: step.after });
    if (step.kind === "pull back") arrivals[step.entry].push({ step: number, pass: step.pass, array: step.cotangent });

    const [direction, shown] = number ? [backward[number - 1], pass[number - 1]] : [false, null];
    const computes = ["watch", "record", "skip", "cut", "assign"].includes(step.kind);
    backward.push(step.pass !== undefined || (direction && !computes));
    // An outer tape may record in the middle of an inner backward pass, whose cotangents stay; after it they go.
    const over = computes && shown !== null && number > passes.get(shown).last;
    pass.push(step.pass ?? (over || step.kind === "reset" ? null : shown));
    where.push(step.where ?? null);
  });

  const latest = (changes, number, ofPass) =>
    changes.findLast((change) => change.step <= number && (ofPass === undefined || change.pass === ofPass))?.array ?? null;
  return {
    backward,
    where,
    appeared,
    turns: [...passes.values()].map(({ first }) => first),
    value: (tensor, number) => latest(values[tensor], number),
    cotangent: (tensor, number) => (pass[number] === null ? null : latest(cotangents[tensor], number, pass[number])),
    arrived: (entry, number) => (pass[number] === null ? null : latest(arrivals[entry], number, pass[number])),
    /** The step that pulls the entry back: in the pass on show, else in the first that does. */
    pullStep: (entry, number) => (arrivals[entry].find((at) => at.pass === pass[number]) ?? arrivals[entry][0])?.step,
    state(entry, number) {
      if (steps[number].entry === entry) return "now";
      if (appeared[entry] > number) return "waiting";
      if (this.arrived(entry, number)) return "pulled";
      const { kind } = steps[appeared[entry]];
      return kind === "skip" ? "skipped" : "recorded";
    },
  };
}

// ---------------------------------------------------------------------------------------------------------- views

function headingView(trace, history) {
  const direction = make("span", { class: "direction" });
  const count = make("span", { class: "count" });
  return {
    element: make("header", {}, make("h2", {}, trace.title), direction, count),
    show(step) {
      const backward = history.backward[step];
      set(direction, "data-direction", backward ? "backward" : "forward");
      write(direction, backward ? "← backward pass" : "→ forward pass");
      write(count, `step ${step + 1} of ${trace.steps.length}`);
    },
  };
}

function sentenceView(trace) {
  const element = make("p", { class: "sentence", "aria-live": "polite" });
  return { element, show: (step) => write(element, trace.steps[step].text) };
}

const ICONS = {
  first: "M7 6v12M17 6l-6 6 6 6",
  previous: "M14.5 6l-6 6 6 6",
  play: "M8 5.5v13l11-6.5z",
  pause: "M8.5 6v12M15.5 6v12",
  next: "M9.5 6l6 6-6 6",
  last: "M17 6v12M7 6l6 6-6 6",
};
const LABELS = { first: "First step", previous: "Previous step", play: "Play", next: "Next step", last: "Last step" };
const HINTS = { first: "Home", previous: "←", play: "Space", next: "→", last: "End" };

function controlsView(trace, history, actions, go) {
  const last = trace.steps.length - 1;
  const buttons = {};
  for (const [action, label] of Object.entries(LABELS)) {
    const icon = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: ICONS[action] }));
    const title = `${label} (${HINTS[action]})`;
    buttons[action] = make("button", { type: "button", "data-action": action, "aria-label": label, title }, icon);
    buttons[action].addEventListener("click", actions[action]);
  }
  const scrubber = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "Step" });
  scrubber.addEventListener("input", () => go(Number(scrubber.value)));
  const portion = (step) => `${last ? step / last : 0}`;
  const marks = history.turns.map((turn) => {
    const title = `A backward pass starts at step ${turn + 1}`;
    const mark = make("span", { class: "turn", title, "data-turn": turn });
    mark.style.setProperty("--portion", portion(turn));
    return mark;
  });
  const track = make("div", { class: "scrubber" }, scrubber, ...marks);
  return {
    element: make("div", { class: "controls" }, make("div", { class: "buttons" }, ...Object.values(buttons)), track),
    show(step) {
      scrubber.value = step;
      set(scrubber, "aria-valuetext", `step ${step + 1} of ${last + 1}`);
      track.style.setProperty("--portion", portion(step));
      // Not `disabled`: that would drop the focus, and the next key would go to the notebook.
      for (const action of ["first", "previous"]) set(buttons[action], "aria-disabled", String(step === 0));
      for (const action of ["next", "last"]) set(buttons[action], "aria-disabled", String(step === last));
    },
    showPlaying(playing) {
      set(buttons.play, "aria-label", playing ? "Pause" : "Play");
      set(buttons.play, "title", `${playing ? "Pause" : "Play"} (Space)`);
      set(buttons.play.querySelector("path"), "d", playing ? ICONS.pause : ICONS.play);
    },
  };
}

function codeView(trace, history) {
  const caption = make("figcaption", {}, "Code");
  const box = make("div", { class: "scroll code" });
  const excerpts = trace.code.map(({ first_line: first, lines }) => {
    const texts = lines.map((line) => make("code", {}, line));
    const rows = texts.map((text, index) =>
      make("div", { "data-line": first + index }, make("span", { class: "number" }, String(first + index)), text),
    );
    return { first, lines, texts, rows, element: make("div", { class: "lines", hidden: "" }, ...rows) };
  });
  box.append(...excerpts.map((excerpt) => excerpt.element));
  // A step without a place of its own leaves the code that was last in view, so that nothing jumps.
  let seen = history.where.find((where) => where)?.code ?? 0;
  const inView = history.where.map((where) => (seen = where?.code ?? seen));
  let lit = null;
  return {
    element: make("figure", { class: "code-figure" }, caption, box),
    show(step) {
      if (lit) {
        lit.row.removeAttribute("data-lit");
        write(lit.text, lit.line);
        lit = null;
      }
      excerpts.forEach((excerpt, index) => (excerpt.element.hidden = index !== inView[step]));
      write(caption, excerpts.length ? trace.code[inView[step]].place : "no code");
      const where = history.where[step];
      const excerpt = where && excerpts[where.code];
      const index = where && excerpt && where.line - excerpt.first;
      if (!excerpt?.rows[index]) return;
      lit = { row: excerpt.rows[index], text: excerpt.texts[index], line: excerpt.lines[index] };
      set(lit.row, "data-lit", "true");
      if (where.columns) {
        const characters = Array.from(lit.line); // Python counts characters, JavaScript halves of them
        const part = (from, to) => characters.slice(from, to).join("");
        const [from, to] = where.columns;
        lit.text.replaceChildren(part(0, from), make("mark", {}, part(from, to)), part(to));
      }
      reveal(box, lit.text.querySelector("mark") ?? lit.row);
    },
  };
}

const STATES = { waiting: "", now: "now", recorded: "recorded", pulled: "pulled back", skipped: "not recorded" };

function tapeView(trace, history, go) {
  const names = trace.entries.map((entry) => `${trace.tensors[entry.output].name} = ${entry.text}`);
  let shown = 0;
  const rows = trace.entries.map((entry, index) => {
    const text = make("span", { class: "text" });
    const state = make("span", { class: "state" });
    const button = make("button", { type: "button", tabindex: -1 }, make("span", { class: "number" }, String(index + 1)), text, state);
    button.addEventListener("click", () => {
      const pulled = history.backward[shown] ? history.pullStep(index, shown) : undefined;
      const target = pulled ?? history.appeared[index];
      if (target !== Infinity) go(target);
    });
    return { item: make("li", { "data-entry": index }, button), text, state, button, before: null };
  });
  const box = make("ol", { class: "scroll tape" }, ...rows.map((row) => row.item));
  const several = trace.tapes.length > 1;
  return {
    element: make("figure", { class: "tape-figure" }, make("figcaption", {}, "Tape"), box),
    show(step) {
      shown = step;
      const arrow = history.backward[step] ? "←" : "→";
      rows.forEach((row, index) => {
        const state = history.state(index, step);
        const words = state === "now" ? `${arrow} now` : STATES[state];
        if (state === row.before && state !== "now") return;
        row.before = state;
        set(row.item, "data-state", state);
        write(row.text, state === "waiting" ? UNKNOWN : names[index]);
        const tapes = several ? trace.entries[index].tapes.map((tape) => trace.tapes[tape].name).join(", ") : "";
        set(row.button, "title", state === "waiting" ? null : names[index] + (tapes && ` (${tapes})`));
        write(row.state, words);
        set(row.item, "aria-current", state === "now" ? "step" : null);
        if (state === "now") reveal(box, row.item);
      });
    },
  };
}

function graphView(trace, history, layout) {
  const lineOf = (number, so_far = "") => {
    const link = layout.links[number];
    const path = link.curve + so_far;
    return link.parent < 0 ? { start: link.start, path: `M${link.start} ${path}` } : lineOf(link.parent, path);
  };
  const head = ([x, y], up) => `M${x - 4} ${y + (up ? 7 : -7)}L${x} ${y}L${x + 4} ${y + (up ? 7 : -7)}z`;

  const firstUse = layout.links.map(() => Infinity);
  layout.entries.forEach((arriving, entry) => {
    for (let link of arriving) {
      for (; link >= 0; link = layout.links[link].parent) firstUse[link] = Math.min(firstUse[link], history.appeared[entry]);
    }
  });
  const ends = new Set(layout.entries.flat());
  const links = layout.links.map((link, number) => {
    const line = draw("path", { class: "line", d: `M${link.start} ${link.curve}` });
    const tip = ends.has(number) ? [draw("path", { class: "head", d: head(link.end, false) })] : [];
    return draw("g", { class: "link" }, line, ...tip);
  });
  const lit = draw("g", { class: "lit" });

  const operations = new Map(trace.entries.map((entry) => [entry.output, entry.operation]));
  const boxes = trace.tensors.map((tensor, index) => {
    const { x, y, width, height, plain } = layout.tensors[index];
    const rect = draw("rect", { x, y, width, height, rx: 6 });
    const title = draw("title");
    const text = (part, dx, dy, anchor = "start") =>
      draw("text", { x: x + dx, y: y + dy, "data-part": part, "text-anchor": anchor });
    if (plain) {
      const value = text("value", width / 2, 16, "middle");
      return { group: draw("g", { "data-tensor": index, class: "plain" }, title, rect, value), title, value };
    }
    const name = text("name", 10, 19);
    const operation = text("operation", width - 10, 19, "end");
    const value = text("value", 10, 36);
    const cotangent = text("cotangent", 10, 55);
    write(name, shorten(tensor.name, LONGEST_NAME));
    write(operation, shorten(operations.get(index) ?? "", LONGEST_NAME));
    const strip = draw("path", { class: "strip", d: `M${x} ${y + 41}h${width}v${height - 47}q0 6 -6 6h${12 - width}q-6 0 -6 -6z` });
    const group = draw("g", { "data-tensor": index }, title, rect, strip, name, operation, value, cotangent);
    return { group, title, value, cotangent };
  });
  const size = { width: layout.width, height: layout.height, viewBox: `0 0 ${layout.width} ${layout.height}` };
  const picture = draw("svg", { ...size, role: "img", "aria-label": "The graph of tensors" }, ...links, lit);
  picture.append(...boxes.map((box) => box.group));
  const box = make("div", { class: "scroll graph" }, picture);
  return {
    element: make("figure", { class: "graph-figure" }, make("figcaption", {}, "Graph"), box),
    show(step) {
      const { entry, tensor, argument } = trace.steps[step];
      const backward = history.backward[step];
      const output = trace.entries[entry]?.output;
      boxes.forEach(({ group, title, value, cotangent }, index) => {
        const known = history.value(index, step);
        const arrived = history.cotangent(index, step);
        const { name } = trace.tensors[index];
        const shown = shorten(known?.text ?? UNKNOWN);
        set(group, "data-known", known && "true");
        set(group, "data-now", (tensor ?? output) === index ? "true" : null);
        set(group, "data-reached", arrived && "true");
        write(title, `${name}: ${known?.text ?? UNKNOWN}${arrived ? `, cotangent ${arrived.text}` : ""}`);
        if (!cotangent) {
          write(value, name === known?.text ? shown : `${shorten(name, LONGEST_NAME)} = ${shown}`);
          return;
        }
        write(value, shown);
        write(cotangent, backward || arrived ? `← ${shorten(arrived?.text ?? UNKNOWN)}` : "");
      });
      links.forEach((link, index) => set(link, "data-known", firstUse[index] <= step ? "true" : null));
      lit.replaceChildren(
        ...(layout.entries[entry] ?? []).flatMap((link, index) => {
          const { start, path } = lineOf(link);
          const flow = argument === undefined || argument === index ? "true" : null;
          const tip = backward ? head(start, true) : head(layout.links[link].end, false);
          const edge = { "data-edge": `${entry}.${index}`, "data-flow": flow };
          return [draw("path", { ...edge, class: "line", d: path }), draw("path", { class: "head", "data-flow": flow, d: tip })];
        }),
      );
      const focus = boxes[tensor ?? output];
      if (focus) reveal(box, focus.group);
    },
  };
}

function panelView(trace, history) {
  const field = (name) => make("span", { class: "value", "data-field": name });
  const fields = Object.fromEntries(
    ["operation", "value", "cotangent", "before", "contribution", "after", "count"].map((name) => [name, field(name)]),
  );
  const caption = make("figcaption", {}, "Current entry");
  const labels = { value: make("dt"), cotangent: make("dt") };
  const inputs = make("dl", { class: "inputs", "data-field": "inputs" });
  const accumulated = make("span", {});
  const part = (label, name, sign) =>
    make("div", { class: "part" }, sign && make("span", { class: "sign" }, sign), make("span", { class: "label" }, label), fields[name]);
  const sum = make("div", { class: "sum" }, part("before", "before"), part("contribution", "contribution", "+"), part("after", "after", "="));
  const row = (label, value) => make("div", {}, label, make("dd", {}, value));
  const name = (tensor) => trace.tensors[tensor].name;
  const array = (value) => value?.text ?? UNKNOWN;
  return {
    element: make(
      "figure",
      { class: "panel" },
      caption,
      make("div", { class: "body" },
        fields.operation,
        inputs,
        make("dl", {}, row(labels.value, fields.value), row(labels.cotangent, fields.cotangent)),
        make("div", { class: "accumulator" }, make("p", {}, accumulated, fields.count), sum),
      ),
    ),
    show(number) {
      const step = trace.steps[number];
      const entry = trace.entries[step.entry];
      const subject = entry?.output ?? step.tensor;
      const nothing = subject === undefined;
      write(caption, entry ? `Entry ${step.entry + 1}` : nothing ? "Entry" : "Tensor");
      write(fields.operation, entry ? `${name(subject)} = ${entry.text}` : nothing ? UNKNOWN : name(subject));
      write(labels.value, nothing ? "value" : `value of ${name(subject)}`);
      write(fields.value, nothing ? UNKNOWN : array(history.value(subject, number)));
      write(labels.cotangent, nothing ? "cotangent" : `cotangent of ${name(subject)}`);
      const arrived = entry ? history.arrived(step.entry, number) : nothing ? null : history.cotangent(subject, number);
      write(fields.cotangent, array(arrived));
      inputs.replaceChildren(
        ...[...new Set(entry?.inputs ?? [])].map((tensor) =>
          row(make("dt", {}, `input ${name(tensor)}`), make("span", { class: "value", "data-input": tensor }, array(history.value(tensor, number)))),
        ),
      );
      const adding = step.kind === "accumulate";
      write(accumulated, adding ? `cotangent of ${name(step.tensor)}` : "cotangent of an input");
      write(fields.before, adding ? (step.before?.text ?? "nothing yet") : UNKNOWN);
      write(fields.contribution, adding ? step.contribution.text : UNKNOWN);
      write(fields.after, adding ? step.after.text : UNKNOWN);
      write(fields.count, adding ? `${step.count} of ${step.of}` : "");
      set(sum, "data-active", adding ? "true" : null);
    },
  };
}

// ------------------------------------------------------------------------------------------------------------ DOM

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) set(node, name, value);
  node.append(...children.filter((child) => child !== undefined));
  return node;
}
const make = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Sets an attribute, or removes it for null; untouched where nothing changes, for that is most of a long trace. */
function set(node, name, value) {
  if (value === null || value === undefined) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function shorten(text, longest = LONGEST_VALUE) {
  const characters = Array.from(text);
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : text;
}

/** Scrolls a box, and never the page around it, until the element inside is in view. */
function reveal(box, element) {
  requestAnimationFrame(() => {
    const outer = box.getBoundingClientRect();
    const inner = element.getBoundingClientRect();
    const margin = 24;
    const shift = (low, high, from, to) => (low < from ? low - from - margin : high > to ? high - to + margin : 0);
    box.scrollTop += shift(inner.top, inner.bottom, outer.top, outer.bottom);
    box.scrollLeft += shift(inner.left, inner.right, outer.left, outer.right);
  });
}
