/** The tape: a list of entries and the state of each, with a lane for each tape where there are several. */

import { readCuts } from "./cuts.js";
import { UNKNOWN, make, set, write } from "./dom.js";
import { wordButton } from "./glossary.js";
import { readTurns } from "./loop-turns.js";
import { digits, rowListView } from "./row-list.js";
import { STRINGS } from "./strings.js";
import { tabStopOf } from "./tab-stop.js";
import { MOST_LANES, readLanes } from "./tape-lanes.js";

/** @type {Record<string, string>} */
const LANE_MARKS = {
  recorded: "●", cut: "●", skip: "○", paused: "‖", backward: "←", tangents: "→", forgotten: "×", released: "◌",
  pause: "‖", resume: "▸", reset: "×", release: "◌",
};

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {Layout} layout
 * @param {(step: number) => void} go
 */
export function tapeView(trace, history, layout, go) {
  const words = STRINGS.tape;
  const [lanes, cuts, several] = [readLanes(trace, history), readCuts(trace, history), trace.tapes.length > 1];
  let [current, shown] = [0, lanes.shown(0)]; // the step, and the tapes that have a lane at it
  const parts = () => ["number", "text", "state"].map((name) => make("span", { class: name }));
  const laneCells = () => (several ? shown.map(() => make("span", { class: "lane" })) : []);
  /**
   * @param {Record<string, string | number>} about
   * @param {() => void} pressed
   */
  const rowOf = (about, pressed) => {
    const [[number, text, state], cells] = [parts(), laneCells()];
    const button = make("button", { type: "button", tabindex: -1 }, number, ...cells, text, state);
    button.addEventListener("click", pressed);
    return { element: make("li", about, button), button, number, text, state, cells, before: "" };
  };

  const entryRow = (/** @type {number} */ index) => {
    const { output, text, number, tapes } = trace.entries[index];
    const name = `${trace.tensors[output].name} = ${text}`;
    const row = rowOf({ "data-entry": index }, () => go(cuts.stepOfEntry(index, current)));
    write(row.number, String(number ?? ""));
    const title = [name, ...tapes.map((tape) => trace.tapes[tape].name)].join(", ");
    const update = (/** @type {number} */ step) => {
      const [found, lost] = [history.state(index, step), lanes.lost(index, step)];
      const marks = row.cells.map((_, lane) => history.lane(index, shown[lane], step));
      const backward = history.backward[step];
      const now = [found, lost, found === "now" && backward, ...marks, ...shown].join();
      if (now === row.before) return;
      row.before = now;
      set(row.element, "data-state", found);
      set(row.element, "data-lost", lost);
      set(row.button, "aria-current", found === "now" ? "step" : null);
      set(row.button, "title", found === "waiting" ? null : title);
      write(row.text, found === "waiting" ? UNKNOWN : name);
      const way = trace.steps[step].kind === "error" ? "error" : backward ? "backward" : "forward";
      const state = words.states[found] ?? words.now[way];
      write(row.state, lost === "forgotten" && found !== "now" ? words.forgotten : state);
      marks.forEach((fate, lane) => mark(row.cells[lane], fate, shown[lane]));
    };
    return { ...row, update };
  };

  /** @type {(cell: Element, fate: string, tape: number) => void} */
  const mark = (cell, fate, tape) => {
    write(cell, LANE_MARKS[fate] ?? "");
    set(cell, "data-fate", fate || null);
    set(cell, "title", fate ? words.lanes[fate](trace.tapes[tape].name) : null);
  };

  /**
   * What happens to a whole tape stands between the entries.
   * @param {number} at
   */
  const eventRow = (at) => {
    const { kind, tape, text } = trace.steps[at];
    const row = rowOf({ "data-event": kind }, () => go(at));
    const update = (/** @type {number} */ step) => {
      const found = step === at ? "now" : step < at ? "waiting" : "recorded";
      const now = [found, ...shown].join();
      if (now === row.before) return;
      row.before = now;
      set(row.element, "data-state", found);
      set(row.button, "aria-current", found === "now" ? "step" : null);
      write(row.text, found === "waiting" ? UNKNOWN : text);
      for (const [lane, cell] of (several ? row.cells : [row.number]).entries()) {
        write(cell, found !== "waiting" && (!several || shown[lane] === tape) ? LANE_MARKS[kind] : "");
      }
    };
    return { ...row, update };
  };

  /** A turn of a loop: its rows are below it while it is open. */
  const turnRow = (/** @type {{ turn?: number, entry?: number }} */ { turn, entry }) => {
    const row = rowOf({ "data-loop-turn": turn }, () => {
      turns.toggle(turn);
      refill();
    });
    const group = layout.groups[turn];
    write(row.text, STRINGS.graph.groups.folded(group.title, group.count));
    const update = (/** @type {number} */ step) => {
      const [isOpen, state] = [turns.isOpen(turn), history.state(entry, step)];
      const isNow = !isOpen && turns.shown()[turns.place(rowAt[step])].turn === turn;
      set(row.element, "data-state", isNow ? "now" : state === "now" ? "recorded" : state);
      set(row.button, "aria-current", isNow ? "step" : null);
      set(row.button, "aria-expanded", isOpen);
    };
    return { ...row, update };
  };
  const turns = readTurns(lanes.rows, trace, layout);
  /** @type {Map<number, import("./row-list.js").Row>} */
  const drawn = new Map(); // by turn, so that a row that is pressed stays the same
  const refill = () => rows.refill(turns.shown().length);

  const places = new Map(lanes.rows.map(({ entry, step }, index) => [entry ?? `at ${step}`, index]));
  let last = 0; // a step that has no row leaves the one before it in view
  const rowAt = trace.steps.map(({ entry }, step) => (last = places.get(`at ${step}`) ?? places.get(entry) ?? last));
  const list = make("ol");
  const stop = tabStopOf(list);
  const heads = laneCells();
  const head = make("div", { class: "heads", "aria-hidden": true }, make("span", { class: "number" }), ...heads);
  const about = { class: "scroll tape", style: digits(trace.entries.length) };
  const box = make("div", about, ...(several ? [head] : []), ...(lanes.rows.length ? [list] : []));
  const draw = (/** @type {number} */ index) => {
    const line = turns.shown()[index];
    if (line.turn !== undefined) {
      if (!drawn.has(line.turn)) drawn.set(line.turn, turnRow(line));
      return drawn.get(line.turn);
    }
    const row = line.entry === undefined ? eventRow(line.step) : entryRow(line.entry);
    if (line.within.length) set(row.element, "style", `--depth: ${line.within.length}`);
    if (index === turns.place(rowAt[current])) stop.lead(row.button); // it had scrolled out of the page
    return row;
  };
  const rows = rowListView(box, list, turns.shown().length, draw, turns.most);
  const show = (/** @type {number} */ step) => {
    [current, shown] = [step, lanes.shown(step)];
    heads.forEach((cell, lane) => {
      write(cell, lanes.heads[shown[lane]]);
      set(cell, "title", trace.tapes[shown[lane]].name);
    });
    if (lanes.rows.length && turns.follow(rowAt[step])) refill();
    rows.show(step);
    if (lanes.rows.length) stop.lead(rows.bring(turns.place(rowAt[step])).querySelector("button"));
  };
  const heading = make("span", {}, several ? words.several : words.heading);
  if (trace.tapes.length > MOST_LANES) heading.append(" ", others());
  const kinds = new Set(trace.steps.map(({ kind }) => kind));
  const ways = kinds.has("push forward") ? ["pushed"] : [];
  if (kinds.has("pull back") || !ways.length) ways.unshift("pulled");
  const legend = [...ways, "skip", "cut"];
  const defined = legend.map((state) => wordButton(words.terms[state], words.states[state]));
  const caption = make("figcaption", {}, heading, ...defined);
  const named = { class: "tape-figure", role: "group", "aria-label": STRINGS.stage.tape };
  return { element: make("figure", named, caption, box), show };

  /** The tapes that have no lane are counted, and each is a choice that leads to it. */
  function others() {
    const many = make("option", { value: "", selected: "" }, words.more(trace.tapes.length - MOST_LANES));
    const select = make("select", { class: "others", "aria-label": words.choose }, many);
    const fill = () => { // not before: thousands of choices would slow each step down
      if (select.length > 1) return;
      select.append(...trace.tapes.map(({ name }, tape) => make("option", { value: tape }, name)));
    };
    for (const event of ["focus", "pointerenter"]) select.addEventListener(event, fill);
    select.addEventListener("change", () => {
      const tape = Number(select.value);
      select.value = "";
      go(lanes.first(tape));
    });
    return select;
  }
}
