// What moves an explorer: Python computes, and what it shows takes the place of what it showed.
import { ask } from "./python.js";
import { reframe, short } from "./shown.js";

// The sliders of the explorer with this number among those of a program; `output` is where it shows what it shows.
export function sliders(ranges, { key, number, output, replay, guest, most }) {
  const bar = document.createElement("div");
  bar.className = "live-sliders";
  let next; // while one move is computed, only the latest of those after it is remembered
  let busy = false;

  async function move(name, value) {
    next = { name, value, key, number };
    if (busy) return;
    busy = true;
    while (next) {
      const message = { move: next, guest };
      next = undefined;
      try {
        const html = await ask(message);
        if (html === null || html === undefined) {
          replay(); // Python was stopped meanwhile, and its explorer is gone
          return;
        }
        reframe(output.querySelector("iframe"), html);
      } catch {
        break; // Python was stopped; the next move runs the program again
      }
    }
    busy = false;
  }

  for (const { name, low, high, value } of ranges.slice(0, most)) {
    const label = document.createElement("label");
    const slider = document.createElement("input");
    const said = document.createElement("output");
    const written = () => (said.textContent = Number(slider.valueAsNumber.toPrecision(4)));
    Object.assign(slider, { type: "range", min: low, max: high, step: (high - low) / 200, value });
    written();
    slider.addEventListener("input", () => {
      written();
      move(name, slider.valueAsNumber);
    });
    label.append(`${short(name)} = `, said, slider);
    bar.append(label);
  }
  const rest = ranges.length - Math.min(most, ranges.length);
  if (rest) bar.append(`${rest} more ${rest === 1 ? "value doesn’t" : "values don’t"} have a slider.`);
  return bar;
}
