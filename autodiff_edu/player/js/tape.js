/** The tape: a list of entries and the state of each, with a lane for each tape where there are several. */

import { UNKNOWN, make, reveal, set, write } from "./dom.js";
import { readFates } from "./fates.js";
import { readLanes } from "./lanes.js";
import { STRINGS } from "./strings.js";

const LANE_MARKS = {
  recorded: "●", cut: "●", skip: "○", paused: "‖", backward: "←", tangents: "→", forgotten: "×", released: "◌",
  pause: "‖", resume: "▸", reset: "×", release: "◌",
};

export function tapeView(trace, history, go) {
  const words = STRINGS.tape;
  const [lanes, fates, several] = [readLanes(trace), readFates(trace, history), trace.tapes.length > 1];
  let current = 0;
  const parts = () => ["number", "text", "state"].map((name) => make("span", { class: name }));
  const laneCells = () => (several ? trace.tapes.map(() => make("span", { class: "lane" })) : []);
  const rowOf = (about, goes) => {
    const [[number, text, state], cells] = [parts(), laneCells()];
    const button = make("button", { type: "button" }, number, ...cells, text, state);
    button.addEventListener("click", () => go(goes()));
    return { item: make("li", about, button), button, number, text, state, cells, before: "" };
  };

  const entryRow = (index) => {
    const { output, text, number, tapes } = trace.entries[index];
    const name = `${trace.tensors[output].name} = ${text}`;
    const row = rowOf({ "data-entry": index }, () => fates.stepOfEntry(index, current));
    write(row.number, String(number ?? ""));
    const title = [name, ...tapes.map((tape) => trace.tapes[tape].name)].join(", ");
    const update = (step) => {
      const [found, lost] = [history.state(index, step), lanes.lost(index, step)];
      const marks = row.cells.map((_, tape) => lanes.of(index, tape, step));
      const backward = history.backward[step];
      const now = [found, lost, found === "now" && backward, ...marks].join();
      if (now === row.before) return found === "now";
      row.before = now;
      set(row.item, "data-state", found);
      set(row.item, "data-lost", lost);
      set(row.button, "aria-current", found === "now" ? "step" : null);
      set(row.button, "title", found === "waiting" ? null : title);
      write(row.text, found === "waiting" ? UNKNOWN : name);
      const state = words.states[found] ?? words.now[backward ? "backward" : "forward"];
      write(row.state, lost === "forgotten" && found !== "now" ? words.forgotten : state);
      marks.forEach((fate, tape) => mark(row.cells[tape], fate, tape));
      return found === "now";
    };
    return { ...row, update };
  };

  const mark = (cell, fate, tape) => {
    write(cell, LANE_MARKS[fate] ?? "");
    set(cell, "data-fate", fate || null);
    set(cell, "title", fate ? words.lanes[fate](trace.tapes[tape].name) : null);
  };

  /** What happens to a whole tape stands between the entries. */
  const eventRow = (at) => {
    const { kind, tape, text } = trace.steps[at];
    const row = rowOf({ "data-event": kind }, () => at);
    const update = (step) => {
      const now = step === at ? "now" : step < at ? "waiting" : "recorded";
      if (now === row.before) return now === "now";
      row.before = now;
      set(row.item, "data-state", now);
      set(row.button, "aria-current", now === "now" ? "step" : null);
      write(row.text, now === "waiting" ? UNKNOWN : text);
      write(several ? row.cells[tape] : row.number, now === "waiting" ? "" : LANE_MARKS[kind]);
      return now === "now";
    };
    return { ...row, update };
  };

  const rows = lanes.rows.map(({ entry, step }) => (entry === undefined ? eventRow(step) : entryRow(entry)));
  const names = trace.tapes.map(({ name }, tape) => make("span", { class: "lane", title: name }, tape + 1));
  const heads = make("div", { class: "heads", "aria-hidden": true }, make("span", { class: "number" }), ...names);
  const list = make("ol", {}, ...rows.map(({ item }) => item));
  const about = { class: "scroll tape", "data-long": rows.length > 200 || null };
  const box = make("div", about, ...(several ? [heads] : []), ...(rows.length ? [list] : []));
  const show = (step) => {
    current = step;
    for (const row of rows) if (row.update(step)) reveal(box, row.item);
  };
  const caption = make("figcaption", {}, several ? words.several : words.heading);
  return { element: make("figure", { class: "tape-figure" }, caption, box), show };
}
