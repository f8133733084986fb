/** The tape: a list of entries, and the state of each. */

import { UNKNOWN, build, make, reveal, write } from "./dom.js";

const STATES = { waiting: "", recorded: "recorded", pulled: "pulled back", skip: "not recorded", cut: "cut" };

export function tapeView(trace, history, go) {
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
