// Ticks: what is solved stands in the contents, beside the chapter and beside the exercise.
import { keep, kept } from "./kept.js";

const { exercises } = JSON.parse(document.querySelector("#live-programs").textContent);
const solved = () => kept("solved") ?? [];

export function solve(exercise) {
  if (!solved().includes(exercise)) keep("solved", [...solved(), exercise]);
  tick();
}

export function tick() {
  for (const old of document.querySelectorAll(".live-tick")) old.remove();
  for (const link of document.querySelectorAll(".bd-sidebar-primary a[href], nav.bd-links a[href]")) {
    const chapter = /chapters\/0?(\d+|[A-Z])-/.exec(link.href)?.[1];
    const count = solved().filter((exercise) => exercise.split(".")[0] === chapter).length;
    const all = exercises[chapter];
    if (count) mark(link, ` ✓ ${count} of ${all}`, `${count} of ${all} exercises solved`);
  }
  for (const heading of document.querySelectorAll(".bd-toc a[href], article h3")) {
    const exercise = /^((?:\d+|[A-Z])\.\d+)\s/.exec(heading.textContent.trim())?.[1];
    if (solved().includes(exercise)) mark(heading, " ✓", "solved");
  }
  const list = document.querySelector("nav.bd-links");
  if (!list || !solved().length) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "live-forget live-tick";
  button.textContent = "Forget what I solved";
  button.addEventListener("click", () => {
    keep("solved", null);
    tick();
  });
  list.append(button);
}

function mark(place, text, words) {
  const sign = document.createElement("span");
  sign.className = "live-tick";
  sign.title = words;
  sign.textContent = text;
  place.append(sign);
}
