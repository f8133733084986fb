// A model that is trained in the page: Python sends a picture of the loss, again and again, until the end or Stop.
import { ask, obstacle, placed, progressOf, stop, Stopped } from "./python.js";
import { makeFrame, reframe } from "./shown.js";

export function trainer(cell, { source }, { built, files, above }) {
  const place = cell.querySelector("[data-autodiff-train]");
  const [train, halt] = ["Train", "Stop"].map((text) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    return button;
  });
  const picture = document.createElement("div");
  const status = document.createElement("span");
  status.className = "live-status";
  status.setAttribute("role", "status");
  halt.disabled = true;
  const buttons = document.createElement("div");
  buttons.className = "live-buttons live-trainer";
  buttons.append(train, halt, status);
  place.replaceChildren(buttons, picture);

  function load(how) {
    status.textContent = progressOf(how);
  }

  function see(html) {
    status.textContent = "Training …";
    if (picture.firstChild) reframe(picture.firstChild, html);
    else picture.append(makeFrame(html));
  }

  halt.addEventListener("click", () => stop());
  train.addEventListener("click", async () => {
    const why = obstacle(built);
    if (why) {
      status.textContent = why;
      return;
    }
    train.disabled = true;
    halt.disabled = false;
    try {
      await ask({ train: { above: above(), source, data: placed(files) } }, load, see);
      status.textContent = "Trained.";
    } catch (error) {
      status.textContent = error instanceof Stopped ? "Stopped." : `The training ended: ${error.message}`;
    }
    train.disabled = false;
    halt.disabled = true;
  });
}
