// Makes the programs of a page editable: a pencil beside each player, and an editor for each exercise.
import { editor } from "./editor.js";
import { keep, typed } from "./kept.js";
import { ask, obstacle, stop, Stopped } from "./python.js";
import { run, shown } from "./shown.js";
import { sliders } from "./sliders.js";
import { solve, tick } from "./solved.js";

const { programs, built } = JSON.parse(document.querySelector("#live-programs").textContent);
const cells = document.querySelectorAll("div.cell");
const page = location.pathname.split("/").at(-1) || "index.html";

for (const program of programs) {
  const cell = program.cell === null ? document.querySelector(".live-program") : cells[program.cell];
  if (cell) prepare(cell, program);
}
tick();
document.documentElement.dataset.live = "ready"; // for tests: a module may come after the page

function prepare(cell, program) {
  const key = `${page} ${program.cell ?? "front"}`;
  const { before, earlier } = typed(key, program.source);
  const isExercise = program.kind === "check";
  const code = cell.querySelector(".cell_input");
  if (isExercise || before || earlier) {
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
      fields.setValues(before.values, before.texts);
    }
    if (code) code.replaceChildren(fields.form);
    else cell.append(fields.form);
    live(cell, program, fields, key, earlier);
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
    status(fields, "Python is ready. Change something and press Replay.");
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
  return `Python could not be loaded (${error.message}). What you typed is kept; press the same button to try again.`;
}

function live(cell, program, fields, key, earlier) {
  const place = placeOf(cell);
  const original = [...place.childNodes];
  const others = [...cell.querySelectorAll(".cell_output > *")].filter((output) => output !== place);
  let { values } = program;
  const title = program.cell === null ? "the program" : `cell ${program.cell + 1}`;
  let busy = false;
  if (earlier !== undefined) fields.offer(earlier);

  fields.form.addEventListener("changed", keepAll);
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
    ({ values } = program);
    fields.setSource(program.source);
    fields.setValues(values);
    fields.light(null);
    earlier = undefined;
    fields.offer(undefined);
    keep(key, null);
    place.replaceChildren(...original);
    for (const output of others) output.hidden = false;
    status(fields, "The original is back.");
  });

  function keepAll() {
    const [source, texts] = [fields.source(), fields.texts()];
    const changed = source !== program.source || Object.keys(texts).length > 0 || earlier !== undefined;
    keep(key, changed ? { edition: program.source, source, values, texts, earlier } : null);
  }

  async function replay() {
    const why = obstacle(built);
    if (why) {
      status(fields, why);
      return;
    }
    working(true);
    const { setup, files } = program;
    const sent = { source: fields.source(), texts: fields.texts() };
    const data = files.map((name) => ({ name, url: new URL(name, location.href).href }));
    try {
      show(await ask({ run: { setup, ...sent, key, data, title } }, (how) => progress(fields, how)), sent);
    } catch (error) {
      if (error instanceof Stopped) status(fields, "Stopped. Python will start again when you press the button.");
      else status(fields, error.running ? error.message : failed(error));
    }
    working(false);
  }

  function show(told, sent) {
    // What was typed while the program ran is not what has run; it stays.
    if (fields.source() === sent.source && JSON.stringify(fields.texts()) === JSON.stringify(sent.texts)) {
      ({ values } = told);
      fields.setSource(told.source);
      fields.setValues(values);
      fields.light(told.line ?? null);
      keepAll();
    }
    for (const output of others) output.hidden = true;
    const box = shown(told);
    const outputs = [...box.children];
    for (const [number, { output, ranges }] of told.sliders.entries()) {
      outputs[output].before(sliders(ranges, { key, number, output: outputs[output], replay }));
    }
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
    fields.find("run").setAttribute("aria-disabled", is); // a button that is disabled would lose the focus
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
