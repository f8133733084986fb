// What is solved stands in the contents, beside chapter and exercise; what was predicted stands at its question.
import { all, gone, isSound, keep, read, UNKEPT } from "./kept.js";

const { exercises, where } = JSON.parse(document.querySelector("#live-programs").textContent);
const link = (href, textContent) => Object.assign(document.createElement("a"), { href, textContent });
const idOf = (number) => exercises[number.split(".")[0]]?.[number.split(".")[1] - 1];

// Records an exercise as solved; returns a warning if that could not be saved.
export function solve(number) {
  const id = idOf(number);
  const isKept = !id || all("solved").has(id) || keep(`solved ${id}`, { name: number });
  tick();
  return isKept ? "" : `${UNKEPT} It won’t remember that you solved this exercise.`;
}

// An earlier edition kept all ticks in one list, by number.
function sort() {
  const old = read("solved");
  if (!Array.isArray(old)) return;
  const left = [...new Set(old)].filter((number) => {
    const id = typeof number === "string" && idOf(number);
    return !id || !keep(`solved ${id}`, { name: number });
  });
  keep("solved", left.length ? left : null);
}

export function tick() {
  sort();
  const solved = all("solved");
  for (const old of document.querySelectorAll(".live-tick")) old.remove();
  for (const chapter of document.querySelectorAll(".bd-sidebar-primary a[href], nav.bd-links a[href]")) {
    const every = exercises[/chapters\/0?(\d+|[A-Z])-/.exec(chapter.href)?.[1]] ?? [];
    const count = every.filter((id) => solved.has(id)).length;
    if (count) mark(chapter, ` ✓ ${count} of ${every.length}`, `${count} of ${every.length} exercises solved`);
  }
  for (const heading of document.querySelectorAll(".bd-toc a[href], article h3")) {
    const number = /^((?:\d+|[A-Z])\.\d+)\s/.exec(heading.textContent.trim())?.[1];
    if (number && solved.has(idOf(number))) mark(heading, " ✓", "solved");
  }
  const list = document.querySelector("nav.bd-links");
  if (!list || list.querySelector(".live-where")) return;
  const line = document.createElement("p");
  line.className = "live-where";
  line.append(link(where, "Where you are"));
  if (where === "#") line.firstChild.ariaCurrent = "page";
  list.prepend(line);
}

function mark(place, text, words) {
  const sign = document.createElement("span");
  sign.className = "live-tick";
  sign.title = words;
  sign.textContent = text;
  place.append(sign);
}

// Keeps what is predicted, by the id of the question, and whether the first try was right, which no later one changes.
export function remember(predictions, cells) {
  for (const [cell, id] of Object.entries(predictions)) {
    const host = cells[cell]?.querySelector("[data-autodiff-prediction]");
    const question = host?.shadowRoot;
    if (!question) continue;
    const key = `answer ${id}`;
    const verdict = question.querySelector(".verdict");
    const unkept = sentence(`${UNKEPT} It won’t remember this answer.`);
    unkept.setAttribute("role", "alert");
    let missed = false;
    new MutationObserver(() => (missed ||= verdict.dataset.right === "false")).observe(verdict, { attributes: true });
    host.addEventListener("autodiff-settled", () => {
      const right = verdict.dataset.right === "true";
      const answer = question.querySelector("input:checked, input:not([type=radio])")?.value ?? "";
      const before = isSound(key, read(key)) ? read(key) : { first: right && !missed };
      if (keep(key, { answer, right, first: before.first })) unkept.remove();
      else host.after(unkept);
    });
    if (isSound(key, read(key))) host.after(said(read(key)));
  }
}

const sentence = (textContent) => Object.assign(document.createElement("p"), { className: "live-said", textContent });

function said({ answer, right, first }) {
  const how = first ? "right at the first try" : right ? "right, but not at the first try" : "not right yet";
  return sentence(answer ? `Last time you answered “${answer}”: ${how}.` : "Last time you had the answer shown.");
}

// A text whose program this edition does not have is on another page, and the reader is told.
export function sayWhatIsGone(programs, page) {
  const { length } = gone(programs, page);
  if (!length) return;
  const line = document.createElement("p");
  line.className = "live-offer";
  const words = length === 1 ? "A program that you edited here is" : `${length} programs that you edited here are`;
  const rest = `${words} not in this edition of the book any more. Your text is kept: see `;
  line.append(rest, link(where, "Where you are"), ".");
  document.querySelector("article h1")?.after(line);
}
