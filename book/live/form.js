// A program that can be edited: its text, the values it is run with, and its buttons.

const { built } = JSON.parse(document.querySelector("#live-programs").textContent);
const KEYS = "Tab indents; Esc, then Tab, leaves. Shift+Enter runs.";
const waiting = new Set(); // the texts that CodeMirror has not reached yet
let arriving;
let failures = 0;

// CodeMirror, and the names that it completes, come when a reader first wants to type, and go to all open programs.
async function bring() {
  if (!built) return; // this copy of the book has neither
  const again = failures ? `?${failures}` : ""; // browsers remember, by its address, that a module didn't come
  const addresses = ["../python/codemirror.js", "names.js"].map((name) => new URL(name + again, import.meta.url));
  arriving ??= Promise.all(addresses.map((address) => import(address))).catch(() => {
    arriving = undefined; // a plain field runs programs too, and the next press tries again
    failures += 1;
  });
  const [{ codemirror }, { names }] = (await arriving) ?? [{}, {}];
  for (const put of codemirror ? waiting : []) {
    waiting.delete(put);
    put(codemirror, names);
  }
}

export function formOf(program, { label, action, above }) {
  const form = document.createElement("form");
  const keys = `live-keys-${program.cell ?? "front"}`;
  form.className = "live-form";
  form.innerHTML = `
    <div class="live-code">
      <textarea spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off"></textarea>
    </div>
    <div class="live-values"></div>
    <div class="live-buttons">
      <button type="submit" class="live-run"></button>
      <button type="button" class="live-stop" hidden>Stop</button>
      <button type="button" class="live-reset">Reset</button>
      <span class="live-status" role="status"></span>
      <progress class="live-progress" max="1" value="0" hidden aria-label="loading Python"></progress>
      <span class="live-keys" id="${keys}"></span>
    </div>`;
  const find = (name) => form.querySelector(`.live-${name}`);
  const area = form.querySelector("textarea");
  area.setAttribute("aria-label", label);
  find("run").textContent = action;

  let field = plain(area, run);
  let lit = null;
  let composing = false;
  for (const kind of ["start", "end"]) {
    area.addEventListener(`composition${kind}`, () => (composing = kind === "start"));
  }
  area.addEventListener("input", changed);
  // The theme and the players have keys of their own.
  form.addEventListener("keydown", (event) => event.stopPropagation());
  find("code").addEventListener("focusin", bring);
  waiting.add(put);
  if (arriving) bring();

  function put(codemirror, names) {
    if (composing) { // a character that takes several keys is finished first
      area.addEventListener("compositionend", () => put(codemirror, names), { once: true });
      return;
    }
    const [had, text] = [document.activeElement === area, field.text()];
    const attributes = { "aria-label": label, "aria-describedby": keys };
    const selection = { anchor: area.selectionStart, head: area.selectionEnd };
    field = codemirror(find("code"), { text, selection, attributes, names, above: above(), changed, run });
    area.remove();
    find("keys").textContent = KEYS;
    field.light(lit);
    if (had) field.focus();
  }

  function run() {
    form.requestSubmit();
    return true;
  }

  function changed() {
    lit = null;
    form.dispatchEvent(new CustomEvent("changed", { bubbles: true, detail: field.text() })); // the front page hears it
  }

  function light(line) {
    lit = line;
    field.light(line);
  }

  function setValues(values, typed = {}) {
    find("values").replaceChildren(...values.map(({ name, text }) => {
      const asked = document.createElement("label");
      const input = document.createElement("input");
      input.value = Object.hasOwn(typed, name) ? typed[name] : text;
      input.name = name;
      input.defaultValue = text.replace(/[\r\n]/g, ""); // what the program says; only another text is a change
      input.autocomplete = "off";
      input.size = Math.min(Math.max(input.value.length + 2, 8), 40);
      input.addEventListener("input", () => form.dispatchEvent(new CustomEvent("changed")));
      const said = document.createElement("span");
      said.textContent = `${name} =`;
      asked.append(said, input);
      return asked;
    }));
  }

  function texts() {
    const inputs = [...find("values").querySelectorAll("input")].filter((input) => input.value !== input.defaultValue);
    return Object.fromEntries(inputs.map((input) => [input.name, input.value]));
  }

  function setSource(source) {
    if (field.text() !== source) field.setText(source);
  }

  field.setText(program.source);
  setValues(program.values);
  const focus = () => field.focus();
  return { bring, find, focus, form, light, setSource, setValues, source: () => field.text(), texts };
}

// The text while CodeMirror loads, and where it can't.
function plain(area, run) {
  area.addEventListener("input", () => {
    area.rows = Math.min(Math.max(area.value.split("\n").length, 2), 24);
    area.removeAttribute("aria-invalid");
  });
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  });
  return {
    text: () => area.value,
    focus: () => area.focus(),
    setText(text) {
      area.value = text;
      area.setSelectionRange(0, 0); // else a narrow field shows the end of the last line
      area.dispatchEvent(new CustomEvent("input"));
    },
    light(line) {
      if (line !== null) area.setAttribute("aria-invalid", "true");
    },
  };
}
