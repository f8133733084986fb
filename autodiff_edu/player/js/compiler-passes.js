/** A program that gets shorter: what each pass leaves of it, and the lines that the pass takes out, with reasons. */

import { make, set, write } from "./dom.js";
import { EXTRA_STRINGS } from "./extra-strings.js";

/**
 * @param {{ compiling: Stage[] }} trace
 * @param {import("./history.js").History} history
 * @param {(step: number) => void} go
 */
export function compilerPassesView({ compiling: stages }, history, go) {
  const words = EXTRA_STRINGS.compilerPasses;
  const buttons = stages.map(({ name, count }, step) => {
    const button = make("button", { type: "button", "data-stage-name": name }, name, make("b", {}, String(count)));
    button.addEventListener("click", () => go(step));
    return button;
  });
  const constants = make("p", { class: "label" });
  const table = make("table", { class: "listing" });
  const row = (/** @type {Stage["lines"][number]} */ { text, remark, state, why }) => {
    /** @type {Record<string, "del" | "ins">} */
    const kinds = { gone: "del", changed: "ins", new: "ins" };
    const indent = text.slice(0, text.search(/\S/)); // which nothing strikes through
    const code = make("code", {}, indent, make(kinds[state] ?? "span", {}, text.trim()));
    return make("tr", { "data-state": state ?? null }, make("td", {}, code), make("td", {}, why ?? remark));
  };
  const show = (/** @type {number} */ step) => {
    const { lines, constants: known } = stages[step];
    buttons.forEach((button, index) => set(button, "aria-current", index === step ? "step" : null));
    write(constants, known.length ? words.constants(known) : "");
    table.replaceChildren(...lines.map(row));
    const first = table.querySelector("[data-state=gone]") ?? table.querySelector("[data-state]") ?? table;
    requestAnimationFrame(() => { // with what comes after it in view
      box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 4;
    });
  };
  const list = make("nav", { class: "stages", "aria-label": words.stages }, words.left, ...buttons);
  const box = make("div", { class: "scroll" }, table);
  const element = make("figure", { class: "shrink", "aria-label": words.heading }, list, constants, box);
  return { element, show };
}
