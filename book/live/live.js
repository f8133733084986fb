// Makes the programs of a page editable: a pencil in each cell with code, and an editor for each exercise.
import { formOf } from "./form.js";
import { areValues, barOf, memory, sort, typed } from "./kept.js";
import { isLink, linkButton, programOf } from "./linked.js";
import { olderOutputs } from "./older.js";
import { ask, obstacle, placed, progressOf, stop, Stopped } from "./python.js";
import { short, shown } from "./shown.js";
import { sliders } from "./sliders.js";
import { remember, sayWhatIsGone, solve, tick } from "./solved.js";
import { trainer } from "./trainer.js";

const { programs, predictions, built, files, install } =
  JSON.parse(document.querySelector("#live-programs").textContent);
const LONGEST = 200_000; // letters of a program
const SLIDERS = 20; // of a program; more would flood the page
const cells = document.querySelectorAll("div.cell");
const page = location.pathname.split("/").at(-1) || "index.html";
for (const program of programs) { // what a page shows is not said twice
  program.source ??= cells[program.cell].querySelector(".cell_input pre").textContent.trimEnd();
  program.values ??= [];
}
const first = built ? `The first time, it loads ${built} MB of Python.` : ""; // on a telephone, that may cost something
const link = await programOf(programs).catch(({ message }) => {
  const bar = barOf(message);
  bar.setAttribute("role", "alert");
  document.querySelector("article").prepend(bar);
});

const ACTIONS = { check: "Check", play: "Replay", run: "Run" };
const UNSHOWN = "The page can’t show this result: Python sent it in an unexpected form. "
  + "Did the program change something inside the package?";
const LEFT_OUT = "This ran with the book's version of the cells above, not with the program from the link.";
const editors = new Map(); // by program, what is typed into it
// Nothing builds on an exercise, which is the reader's; of a cell that runs elsewhere, some statements may run here.
const ABOVE = ["play", "run", "train", "elsewhere"];

const older = olderOutputs(programs, cells, (program, isBooks) => above(program, isBooks || isGuestIn(program)));

sort(programs, page);
for (const program of programs) {
  const cell = program.cell === null ? document.querySelector(".live-program") : cells[program.cell];
  if (!cell) continue;
  if (program.kind === "elsewhere") pointElsewhere(cell);
  else if (program.kind === "train") {
    trainer(cell, program, {
      built, files, above() {
        const now = above(program);
        older(program, { above: now, source: program.source });
        return now;
      },
    });
  } else prepare(cell, program);
}
remember(predictions, cells);
if (document.querySelector(".front")) import("./front.js");
tick();
sayWhatIsGone(programs, page);
document.documentElement.dataset.live = "ready"; // for tests: a module may come after the page

function listAbove(program) {
  return programs.filter(({ cell, kind }) => ABOVE.includes(kind) && cell < program.cell);
}

// The cells above, as the page has them now. What came by a link counts only where a reader runs it, and gets the
// book's cells: a reader's texts are none of its business.
function above(program, isGuest) {
  return listAbove(program).map((each) => {
    const { source, texts } = (!isGuest && editors.get(each)?.()) || each;
    return { title: titleOf(each), source, texts: texts ?? {} };
  });
}

// Whether a link's program stands there; the reader's own cells run without it.
function isGuestIn(program) {
  return editors.get(program)?.() === program;
}

function titleOf({ cell }) {
  return cell === null ? "" : `cell ${cell + 1}`;
}

function pointElsewhere(cell) {
  const line = document.createElement("p");
  line.className = "live-elsewhere";
  const place = "JupyterLab on your computer";
  const where = install ? Object.assign(document.createElement("a"), { href: install, textContent: place }) : place;
  line.append("This page can’t run the cell above: run it in ", where, ".");
  cell.querySelector(".cell_input").after(line);
}

function prepare(cell, program) {
  const isExercise = program.kind === "check";
  const code = cell.querySelector(".cell_input");
  const isLinked = isLink() && link?.program === program;
  const texts = () => typed(program, isLinked ? link.source : undefined);
  if (isExercise || texts().before || texts().others.length) {
    open();
    return;
  }
  const pencil = document.createElement("button");
  pencil.type = "button";
  pencil.className = "live-pencil";
  pencil.textContent = `✎ Edit and ${ACTIONS[program.kind].toLowerCase()}`;
  pencil.title = first;
  pencil.addEventListener("click", async () => {
    const why = obstacle(built);
    if (why) {
      say(pencil, why);
      return;
    }
    pencil.remove();
    const fields = open();
    fields.focus();
    await fields.bring(); // before Python, which has a hundred times as much to bring
    // The reader means to run something: Python may as well begin to load, unless it runs the program already.
    if (fields.find("stop").hidden) load(fields);
  });
  cell.addEventListener("open", () => {
    if (!pencil.isConnected) return;
    pencil.remove();
    open();
  });
  if (code) code.append(pencil);
  else cell.append(pencil);

  function open() {
    const { before, others } = texts(); // now, for another tab may have kept something meanwhile
    const fields = formOf(program, {
      label: isExercise ? "your answer" : "the program",
      action: ACTIONS[program.kind],
      above: () => above(program).map(({ source }) => source),
    });
    if (before) {
      fields.setSource(before.source);
      fields.setValues(before.values, before.texts);
    }
    if (code) code.replaceChildren(fields.form);
    else cell.append(fields.form);
    live(cell, program, fields, { before, others });
    if (isLinked) {
      const folded = cell.querySelector("details:has(.live-form)");
      if (folded) folded.open = true;
      requestAnimationFrame(() => cell.scrollIntoView());
    }
    if (isExercise) status(fields, `Check runs this cell in your browser. ${first}`);
    else if (before && !isLinked) {
      const what = program.kind === "play" ? "the player has" : "the cell has";
      status(fields, `The program is as you left it; ${what} not run it yet. Press ${ACTIONS[program.kind]}.`);
    }
    return fields;
  }
}

function say(pencil, why) {
  const said = document.createElement("span");
  said.className = "live-status";
  said.setAttribute("role", "status");
  pencil.after(said);
  said.textContent = ` ${why}`;
  pencil.disabled = true;
}

async function load(fields) {
  let said = fields.find("status").textContent;
  // What is said meanwhile of something that the reader did stays.
  const stays = () => !["", said].includes(fields.find("status").textContent);
  try {
    const nothing = { above: [], source: "", texts: {}, key: "", data: [], title: "" };
    await ask({ run: nothing }, (how) => {
      if (!stays()) said = progress(fields, how);
    });
    older();
    if (!stays()) status(fields, `Python is ready. Change something and press ${fields.find("run").textContent}.`);
  } catch (error) {
    if (!(error instanceof Stopped)) status(fields, failed(error));
  }
  fields.find("progress").hidden = true;
}

function progress(fields, how) {
  Object.assign(fields.find("progress"), { hidden: !how.total, max: how.total ?? 1, value: how.done ?? 0 });
  return status(fields, progressOf(how));
}

function status(fields, text) {
  fields.find("status").textContent = text;
  return text;
}

function failed(error) {
  return `Python could not be loaded (${error.message}). What you typed is still here; press the button to try again.`;
}

function live(cell, program, fields, texts) {
  const place = placeOf(cell);
  const original = [...place.childNodes];
  const others = [...cell.querySelectorAll(".cell_output > *")].filter((output) => output !== place);
  let ran = { source: program.source, texts: {} }; // what is shown is of this
  let { values } = texts.before ?? program;
  let busy = false;
  let latest;
  const key = program.id;
  fields.form.addEventListener("changed", () => {
    if (busy) return;
    status(fields, ""); // it was about another text
    markOld();
  });
  const { isGuest, keepAll, put, reset } = memory(program, fields, texts, {
    page, values: () => values,
  });
  editors.set(program, () => (isGuest() ? program : { source: fields.source(), texts: fields.texts() }));
  markOld();
  if (program.kind === "play") {
    fields.find("reset").after(linkButton(program, fields, (text) => status(fields, text)));
  }

  cell.addEventListener("own", ({ detail }) => {
    latest = detail; // of those that come while one runs, the last runs next
    if (!busy) playOwn();
  });
  function playOwn() {
    put({ source: latest }, true);
    latest = undefined;
    replay();
  }

  fields.form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!busy) replay();
  });
  fields.find("stop").addEventListener("click", () => {
    fields.find("run").focus();
    stop();
  });
  fields.find("reset").addEventListener("click", () => {
    if (busy) stop();
    const had = { source: fields.source(), values, texts: fields.texts() };
    reset(() => write(program), () => {
      write(had);
      fields.focus();
      status(fields, "Your text is back.");
    });
    fields.light(null);
    place.replaceChildren(...original);
    ran = { source: program.source, texts: {} };
    older(program);
    markOld();
    for (const output of others) output.hidden = false;
    status(fields, "The original is back.");
  });

  function write({ source, values: given, texts: changed }) {
    values = given;
    fields.setValues(values, changed);
    fields.setSource(source);
  }

  async function replay() {
    const why = obstacle(built);
    if (why) {
      status(fields, why);
      return;
    }
    fields.bring();
    working(true);
    const sent = { source: fields.source(), texts: fields.texts() };
    const data = placed(files);
    try {
      const run = { above: above(program, isGuest()), ...sent, key, data, title: titleOf(program) };
      const asked = { run, guest: isGuest() };
      const told = await ask(asked, (how) => progress(fields, how));
      try {
        show(told, sent, run.above);
      } catch {
        throw Object.assign(new Error(UNSHOWN), { running: true });
      }
    } catch (error) {
      if (error instanceof Stopped) {
        latest = undefined;
        status(fields, "Stopped. Python will start again when you press the button.");
      } else status(fields, error.running ? error.message : failed(error));
    }
    working(false);
    if (latest !== undefined) playOwn();
  }

  function show(told, sent, ranAfter) {
    // Only fields change a program. A program could change what Python says of it.
    if (!Object.keys(sent.texts).length) told.source = sent.source;
    if (typeof told.source !== "string" || told.source.length > LONGEST || !areValues(told.values)) throw new Error();
    const culprit = programs.find((each) => told.above && titleOf(each) === told.above.title);
    // What was typed while the program ran is not what has run; it stays.
    if (fields.source() === sent.source && JSON.stringify(fields.texts()) === JSON.stringify(sent.texts)) {
      ({ values } = told);
      fields.setSource(told.source);
      fields.setValues(values);
      keepAll();
      fields.light(told.line ?? null);
      sent = { source: told.source, texts: {} };
    }
    ran = sent;
    older(program, { above: ranAfter, source: told.source });
    markOld();
    for (const output of others) output.hidden = true;
    const box = shown(told);
    const outputs = [...box.children];
    let room = SLIDERS;
    for (const [number, { output, ranges }] of told.sliders.slice(0, SLIDERS).entries()) {
      const given = { key, number, output: outputs[output], replay, guest: isGuest(), most: room };
      outputs[output].before(sliders(ranges, given));
      room -= Math.min(room, ranges.length);
    }
    place.replaceChildren(box);
    const folded = place.closest("details");
    if (folded) folded.open = true;
    // A program can claim to have solved anything; what counts is an exercise that was run in its own cell.
    const answers = program.kind === "check" ? told.answers : [];
    const isSolved = answers.some(({ exercise, right }) => right && exercise === program.name);
    const unkept = isSolved && solve(program.name);
    const isLeftOut = (each, k) => told.taken?.[k] && isGuestIn(each);
    const leftOut = !isGuest() && listAbove(program).some(isLeftOut);
    status(fields, [outcome(program, told), leftOut && LEFT_OUT, unkept].filter(Boolean).join(" "));
    if (culprit) fields.find("status").append(" ", ...pointTo(culprit, told.above));
    reveal(box);
    cell.dispatchEvent(new CustomEvent("replayed", { bubbles: true }));
  }

  // What a program showed turns grey as soon as there is another text.
  function markOld() {
    older();
    const isOld = fields.source() !== ran.source || JSON.stringify(fields.texts()) !== JSON.stringify(ran.texts);
    for (const output of [place, ...others]) output.classList.toggle("live-old", isOld);
  }

  function working(is) {
    busy = is;
    fields.find("stop").hidden = !is;
    fields.find("run").setAttribute("aria-disabled", is); // a button that is disabled would lose the focus
    if (is) {
      status(fields, "Running …");
      place.classList.add("live-old"); // what another program has shown
    } else fields.find("progress").hidden = true;
  }
}

// Says which cell above failed, and how, with a link to it. What a program says of it is text, whatever it is.
function pointTo(program, { line, message }) {
  const cell = cells[program.cell];
  cell.id ||= `cell-${program.cell + 1}`;
  const way = Object.assign(document.createElement("a"), { href: `#${cell.id}`, textContent: "A cell above" });
  way.addEventListener("click", () => {
    for (const folded of cell.querySelectorAll("details:has(.cell_input)")) folded.open = true;
  });
  const where = Number.isInteger(line) ? ` in line ${line}` : "";
  return [way, ` stopped with an error${where}, so what it would have made is missing here. ${short(message)}`];
}

// What is to be said of a run, beyond what it shows.
function outcome({ kind, source }, { source: ran, line, outputs, answers }) {
  if (outputs.some(([what]) => what === "error")) {
    return `The program stopped with an error${Number.isInteger(line) ? ` in line ${line}` : ""}, below.`;
  }
  if (!ran.trim()) return "There is nothing to run: the program is empty.";
  if (kind === "check") {
    return answers.length ? "" : `Nothing was checked: write ${source.trim().split("\n").at(-1)} in the last line.`;
  }
  if (kind === "run") {
    const words = "It ran. It has no output of its own; the cells below can use what it defines.";
    return outputs.length || answers.length ? "" : words;
  }
  if (!outputs.length) return "The program ran, but shows nothing: print(x) shows a value, ad.play(f, x) a player.";
  const plays = outputs.some(([what, text]) => what === "html" && text.includes("data-autodiff-player"));
  return plays ? "" : "The program ran, but shows no player: ad.play(f, x) makes one.";
}

// A page that shows nothing new after a click would seem to have done nothing.
function reveal(box) {
  const { top, bottom } = box.getBoundingClientRect();
  const height = document.documentElement.clientHeight;
  const isAbove = bottom < height / 4;
  if (isAbove || top > (height * 3) / 4) box.scrollIntoView({ block: isAbove ? "start" : "nearest" });
}

// Where a cell shows what it did: the output that has the player, or a place made for it, beside the other outputs.
function placeOf(cell) {
  const player = cell.querySelector("[data-autodiff-player]");
  const output = player?.closest("div.output") ?? cell.querySelector(".live-shown");
  if (output) return output;
  const made = document.createElement("div");
  const outputs = cell.querySelector(".cell_output");
  made.className = `${outputs ? "output" : "cell_output docutils container"} live-shown`;
  made.setAttribute("aria-live", "polite");
  (outputs ?? cell).append(made);
  return made;
}
