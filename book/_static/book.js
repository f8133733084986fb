// What the theme and the notebooks leave to be mended: print, screen readers, tables that sort.
function mend() {
  // A player carries a picture of one telling step for where no script runs; print has use for it too.
  for (const player of document.querySelectorAll("[data-autodiff-player]")) {
    const picture = player.querySelector("img")?.parentElement.cloneNode(true);
    picture?.classList.add("key-frame");
    if (picture) player.after(picture);
  }
  // The theme hides its list of contents behind what is as wide as the page.
  for (const player of document.querySelectorAll("[data-autodiff-player]:not(dd *)")) {
    (player.closest("div.output") ?? player).classList.add("full-width");
  }
  // The corner of a table is not a heading of anything.
  for (const heading of document.querySelectorAll("th")) {
    if (!heading.textContent.trim()) heading.replaceWith(document.createElement("td"));
  }
  if (LISTS.test(location.pathname)) {
    document.querySelectorAll("article table").forEach(makeSortable);
    document.querySelectorAll("article td code .pre").forEach(breakBetweenNames);
    for (const box of document.querySelectorAll(".pst-scrollable-table-container")) {
      box.classList.toggle("full-width", box.scrollWidth > box.clientWidth);
    }
  }
  document.querySelectorAll("div.rules").forEach(addFilter);
  // Sentences wrap on a narrow page; columns would fall apart.
  for (const output of document.querySelectorAll("div.output pre")) {
    output.classList.toggle("columns", /\S {2,}\S/.test(output.textContent));
  }
  // By keyboard alone, the exercises are two hundred presses of Tab away.
  if (document.querySelector("#exercises")) {
    const skip = document.createElement("a");
    skip.href = "#exercises";
    skip.textContent = "Skip to the exercises";
    document.querySelector(".skip-link")?.append(skip);
  }
  // JupyterLab loads from a server only.
  if (location.protocol === "file:") document.querySelector(".btn-open-chapter")?.remove();
  document.querySelector(".navbar-brand")?.parentElement.setAttribute("role", "banner");
}

// A player takes its own room from here on (book.css).
addEventListener("autodiff-mounted", ({ target }) => {
  target.classList.add("drawn");
  makeNameUnique(target);
});

// Each landmark of a page has a name of its own: the second player of the same function has a number.
function makeNameUnique(host) {
  const playerOf = (each) => each.shadowRoot?.querySelector(".player");
  const hosts = [...document.querySelectorAll("[data-autodiff-player]")].filter((each) => each !== host);
  const names = hosts.map((each) => playerOf(each)?.ariaLabel);
  const player = playerOf(host);
  const name = player.ariaLabel;
  for (let number = 2; name && names.includes(player.ariaLabel); number++) player.ariaLabel = `${name} (${number})`;
}

// Once a prediction is settled, the output that it was about opens: that of the next cell, where it is folded.
addEventListener("autodiff-settled", ({ target }) => {
  const cells = [...document.querySelectorAll("div.cell")];
  const next = cells[cells.indexOf(target.closest("div.cell")) + 1];
  const folded = next?.querySelector("details:is(.below-input, .above-output)");
  if (folded) folded.open = true;
});

const FROM_A_FILE = "From a file, programs play but cannot be edited. Run python3 -m http.server in the book's folder, "
  + "and open http://localhost:8000 instead.";

// The script of the live pages is a module, and browsers load none into a page opened from a file.
addEventListener("DOMContentLoaded", () => {
  const programs = document.querySelector("#live-programs");
  if (!programs) return;
  const { programs: found, built } = JSON.parse(programs.textContent);
  const cells = document.querySelectorAll("div.cell");
  if (location.protocol !== "file:") {
    import(new URL(programs.dataset.script, location.href));
    const first = found?.find(({ cell, kind }) => cell !== null && ["play", "run"].includes(kind)
      && cells[cell].querySelector(".cell_input:not(details *)"));
    if (built && first) {
      const size = document.createElement("p"); // in the pencil's tooltip, too, which a phone doesn't show
      size.className = "live-size";
      size.textContent = `The first time you run code, the page loads ${built} MB of Python.`;
      cells[first.cell].querySelector(".cell_input").after(size);
    }
    return;
  }
  for (const { cell: number, kind } of found) {
    if (kind === "elsewhere") continue;
    const cell = number === null ? document.querySelector(".live-program") : cells[number].querySelector(".cell_input");
    const pencil = document.createElement("button");
    pencil.type = "button";
    pencil.className = "live-pencil";
    pencil.textContent = "✎ Edit";
    pencil.addEventListener("click", () => pencil.replaceWith(FROM_A_FILE));
    cell.append(pencil);
  }
});

// The pages whose tables one looks things up in; other tables are read from top to bottom.
const LISTS = /\/(rule-book|dictionary|RESULTS)\.html$/;
const UNITS = { ns: 1e-9, µs: 1e-6, ms: 1e-3 };

// Names stay whole; between them, a long line of code may break.
function breakBetweenNames(piece) {
  const parts = piece.textContent.split(/(?<=\w{4}\.|[(,=])(?=[a-z_])/i);
  piece.replaceChildren(...parts.flatMap((part, place) => (place ? [document.createElement("wbr"), part] : [part])));
}

// A field above the rules that leaves the rows with all of its words.
function addFilter(rules) {
  const rows = [...rules.querySelectorAll("tbody tr")];
  const label = document.createElement("label");
  const field = document.createElement("input");
  const count = document.createElement("output");
  label.className = "filter";
  field.type = "search";
  field.placeholder = "np.linalg, any, share";
  label.append("Filter ", field, " ", count);
  rules.prepend(label);
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  field.addEventListener("input", filter);
  filter();
}

// As the ARIA practices have it: a button in each heading, and aria-sort on the column that the rows are sorted by.
function makeSortable(table) {
  const headings = [...table.tHead.rows[0].cells].filter((cell) => cell.tagName === "TH");
  for (const heading of headings) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const up = heading.ariaSort !== "ascending";
      for (const other of headings) other.ariaSort = null;
      heading.ariaSort = up ? "ascending" : "descending";
      const rows = [...table.tBodies[0].rows];
      const keys = new Map(rows.map((row) => [row, key(row.cells[heading.cellIndex].textContent.trim())]));
      rows.sort((a, b) => compare(keys.get(a), keys.get(b), up));
      table.tBodies[0].append(...rows);
    });
  }
}

function key(text) {
  const [, digits, unit] = /^([-+]?[\d,]*\.?\d+)\s*(ns|µs|ms)?/.exec(text) ?? [];
  return { text, timed: unit !== undefined, number: Number(digits?.replaceAll(",", "")) * (UNITS[unit] ?? 1) };
}

// What is missing comes last, whichever way the rows are sorted. Ratios and times do not compare.
function compare(a, b, up) {
  const missing = a.text.startsWith("–") - b.text.startsWith("–");
  if (missing) return missing;
  const first = up ? a : b;
  const second = up ? b : a;
  if (first.timed !== second.timed) return first.timed - second.timed;
  if (!Number.isNaN(first.number) && !Number.isNaN(second.number)) return first.number - second.number;
  return first.text.localeCompare(second.text, "en", { numeric: true });
}

// Before the theme, whose script follows and waits in the same way, looks for what is wide.
if (document.readyState === "loading") addEventListener("DOMContentLoaded", mend, { capture: true });
else mend();
