// A program in a text field: numbered lines, one of them lit where it failed, and the values it is run with.

export function editor(program, { label, action }) {
  const form = document.createElement("form");
  form.className = "live-form";
  form.innerHTML = `
    <div class="live-code">
      <pre class="live-lines" aria-hidden="true"></pre>
      <textarea spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off"></textarea>
    </div>
    <div class="live-values"></div>
    <div class="live-buttons">
      <button type="submit" class="live-run"></button>
      <button type="button" class="live-stop" hidden>Stop</button>
      <button type="button" class="live-reset">Reset</button>
      <span class="live-status" role="status"></span>
      <progress class="live-progress" max="1" value="0" hidden aria-label="loading Python"></progress>
    </div>`;
  const find = (name) => form.querySelector(`.live-${name}`);
  const area = form.querySelector("textarea");
  area.setAttribute("aria-label", label);
  area.title = "Tab indents; press Escape first to leave the field with Tab. Shift+Enter runs the program.";
  find("run").textContent = action;

  let leaving = false; // Tab leaves a field for those who use the keyboard alone, after Escape
  area.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the theme and the players have keys of their own
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) form.requestSubmit();
    else if (event.key === "Tab" && !event.shiftKey && !leaving) indent();
    else if (event.key === "Enter") insert(`\n${indentation()}`);
    else {
      leaving = event.key === "Escape";
      return;
    }
    event.preventDefault();
  });
  area.addEventListener("input", changed);
  area.addEventListener("scroll", () => (find("lines").scrollTop = area.scrollTop));

  function insert(text) {
    // This way of inserting is the one that the browser can undo.
    const done = document.execCommand("insertText", false, text);
    if (!done) area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    changed();
  }

  function indent() {
    const [start, end] = [area.value.lastIndexOf("\n", area.selectionStart - 1) + 1, area.selectionEnd];
    const selected = area.value.slice(start, end);
    if (!selected.includes("\n") || area.selectionStart === end) {
      insert("    ");
      return;
    }
    area.setSelectionRange(start, end);
    insert(selected.replace(/^(?=.)/gm, "    "));
    area.setSelectionRange(start, start + selected.replace(/^(?=.)/gm, "    ").length);
  }

  function indentation() {
    const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
    return /^\s*/.exec(line)[0] + (/:\s*(#.*)?$/.test(line) ? "    " : "");
  }

  function changed() {
    light(null);
    const lines = area.value.split("\n").length;
    find("lines").textContent = Array.from({ length: lines }, (_, k) => k + 1).join("\n");
    area.rows = Math.min(Math.max(lines, 2), 24);
    form.dispatchEvent(new CustomEvent("changed"));
  }

  function light(line) {
    area.classList.toggle("live-lit", line !== null);
    area.style.setProperty("--line", (line ?? 1) - 1);
    if (line !== null) area.scrollTop = (line - 6) * Number.parseFloat(getComputedStyle(area).lineHeight);
    if (line !== null) area.setAttribute("aria-invalid", "true");
    else area.removeAttribute("aria-invalid");
  }

  function setValues(values, typed = {}) {
    find("values").replaceChildren(...values.map(({ name, text }) => {
      const field = document.createElement("label");
      const input = document.createElement("input");
      input.value = typed[name] ?? text;
      input.name = name;
      input.defaultValue = text; // what the program says; only another text is a change
      input.autocomplete = "off";
      input.size = Math.min(Math.max(input.value.length + 2, 8), 40);
      input.addEventListener("input", () => form.dispatchEvent(new CustomEvent("changed")));
      input.addEventListener("keydown", (event) => event.stopPropagation());
      const said = document.createElement("span");
      said.textContent = `${name} =`;
      field.append(said, input);
      return field;
    }));
  }

  function texts() {
    const inputs = [...find("values").querySelectorAll("input")].filter((input) => input.value !== input.defaultValue);
    return Object.fromEntries(inputs.map((input) => [input.name, input.value]));
  }

  function setSource(source) {
    if (area.value !== source || !find("lines").textContent) {
      area.value = source;
      area.setSelectionRange(0, 0); // else a narrow field shows the end of the last line
      changed();
    }
  }

  // A line above the editor that offers what was typed into an earlier edition of the program, if anything was.
  function offer(source) {
    form.querySelector(".live-offer")?.remove();
    if (source === undefined) return;
    const offered = document.createElement("p");
    const button = document.createElement("button");
    offered.className = "live-offer";
    button.type = "button";
    button.textContent = "Show my text";
    button.addEventListener("click", () => setSource(source));
    offered.append("The book's program has changed since you edited it. ", button);
    form.prepend(offered);
  }

  setSource(program.source);
  setValues(program.values);
  return { form, area, find, light, offer, setSource, setValues, source: () => area.value, texts };
}
