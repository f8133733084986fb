// Makes the programs of a page editable: a pencil beside each player, and an editor for each exercise.
import { editor } from "./editor.js";
import { keep, kept } from "./kept.js";
import { ask, obstacle, stop, Stopped } from "./python.js";
import { run, shown } from "./shown.js";
import { sliders } from "./sliders.js";
import { solve, tick } from "./solved.js";

const { programs, built } = JSON.parse(document.querySelector("#live-programs").textContent);
const cells = document.querySelectorAll("div.cell");
const page = location.pathname.split("/").at(-1);

for (const program of programs) {
  const cell = program.cell === null ? document.querySelector(".live-program") : cells[program.cell];
  if (cell) prepare(cell, program);
}
tick();

function prepare(cell, program) {
  const key = `${page} ${program.cell ?? "front"}`;
  const before = kept(key);
  const isExercise = program.kind === "check";
  const code = cell.querySelector(".cell_input");
  if (isExercise || before) {
    open();
    return;
  }
  const pencil = document.createElement("button");
  pencil.type = "button";
  pencil.className = "live-pencil";
  pencil.textContent = "✎ Edit and replay";
  pencil.addEventListener("click", () => {
    const why = obstacle(built);
    if (why) {
      say(pencil, why);
      return;
    }
    pencil.remove();
    const fields = open();
    fields.area.focus();
    // The reader means to run something: Python may as well begin to load.
    load(fields);
  });
  if (code) code.append(pencil);
  else cell.append(pencil);

  function open() {
    const fields = editor(program, {
      label: isExercise ? "your answer" : "the program", action: isExercise ? "Check" : "Replay",
    });
    if (before) {
      fields.setSource(before.source);
      fields.setValues(program.values, before.texts);
    }
    if (code) code.replaceChildren(fields.form);
    else cell.append(fields.form);
    live(cell, program, fields, key);
    if (isExercise) status(fields, "Check runs this cell in your browser.");
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
  try {
    const nothing = { setup: "", source: "", texts: {}, key: "", data: [], title: "" };
    await ask({ run: nothing }, (how) => progress(fields, how));
    status(fields, "Python is here. Change something and press Replay.");
  } catch (error) {
    if (!(error instanceof Stopped)) status(fields, failed(error));
  }
  fields.find("progress").hidden = true;
}

function progress(fields, { name, done, total }) {
  const bar = fields.find("progress");
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  bar.hidden = false;
  bar.max = total;
  bar.value = done;
  const what = name ? `Loading ${name}` : "Starting Python";
  status(fields, `${what}: ${megabytes(done)} of ${megabytes(total)} MB`);
}

function status(fields, text) {
  fields.find("status").textContent = text;
}

function failed(error) {
  return `Python could not be loaded (${error.message}). What you typed is kept; press the button to try again.`;
}

function live(cell, program, fields, key) {
  const place = placeOf(cell);
  const original = [...place.childNodes];
  const title = program.cell === null ? "the program" : `cell ${program.cell + 1}`;
  let busy = false;

  fields.form.addEventListener("changed", () => keep(key, { source: fields.source(), texts: fields.texts() }));
  fields.form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!busy) replay();
  });
  fields.find("stop").addEventListener("click", () => stop());
  fields.find("reset").addEventListener("click", () => {
    if (busy) stop();
    fields.setSource(program.source);
    fields.setValues(program.values);
    fields.light(null);
    keep(key, null);
    place.replaceChildren(...original);
    status(fields, "As it was.");
  });

  async function replay() {
    const why = obstacle(built);
    if (why) {
      status(fields, why);
      return;
    }
    working(true);
    const { setup, files } = program;
    const data = files.map((name) => ({ name, url: new URL(name, location.href).href }));
    try {
      const told = await ask(
        { run: { setup, source: fields.source(), texts: fields.texts(), key, data, title } },
        (how) => progress(fields, how),
      );
      show(told);
    } catch (error) {
      if (error instanceof Stopped) status(fields, "Stopped. Python starts anew when you press the button again.");
      else status(fields, failed(error));
    }
    working(false);
  }

  function show(told) {
    fields.setSource(told.source);
    fields.setValues(told.values);
    fields.light(told.line ?? null);
    keep(key, { source: told.source, texts: {} });
    const box = shown(told);
    if (told.sliders.length) box.prepend(sliders(told.sliders, key, box, replay));
    place.replaceChildren(box);
    run(box);
    for (const { exercise, right } of told.answers) if (right) solve(exercise);
    const wrong = told.outputs.some(([kind]) => kind === "error");
    status(fields, wrong ? "The program stopped with an error, below." : "");
    cell.dispatchEvent(new CustomEvent("replayed", { bubbles: true }));
  }

  function working(is) {
    busy = is;
    fields.find("stop").hidden = !is;
    fields.find("run").disabled = is;
    if (is) status(fields, "Running …");
    else fields.find("progress").hidden = true;
  }
}

// Where a cell shows what it did: the output that has the player, or a place made for it.
function placeOf(cell) {
  const player = cell.querySelector("[data-autodiff-player]");
  const output = player?.closest("div.output") ?? cell.querySelector(".live-shown");
  if (output) return output;
  const made = document.createElement("div");
  made.className = "cell_output docutils container live-shown";
  made.setAttribute("aria-live", "polite");
  cell.append(made);
  return made;
}
