/** What an error teaches: the numbers that do not go together, marked, and under them NumPy's own words. */

import { make } from "./dom.js";

/** @param {Pick<Trace, "steps">} trace */
export function lessonView(trace) {
  const element = make("div", { class: "lesson" });
  const show = (/** @type {number} */ number) => {
    const { lesson = [], message } = trace.steps[number];
    const parts = lesson.map((text, place) => (place % 2 ? make("mark", {}, text) : text));
    const said = lesson.length ? [make("p", {}, ...parts)] : [];
    element.replaceChildren(...said, ...(message ? [make("p", { class: "message" }, message)] : []));
  };
  return { element, show };
}
