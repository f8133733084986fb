// The page "Where you are": what the browser has kept of the book, to look at, to save, to load and to forget.
import { all, isSound, isText, keep, keeps, keys, merge, OLD, read } from "./kept.js";
import { tick } from "./solved.js";

const told = JSON.parse(document.querySelector("#live-programs").textContent);
const FORMAT = "autodiff_edu progress";
const MOST_TEXTS = 100; // that one program of a file brings besides its own
const MOST = 8e6; // bytes of a file; a browser keeps about five million letters
const home = new URL(told.home, location.href);

const place = document.querySelector(".live-place");
const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });
const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
const of = (number, every) => (every ? `${number} of ${every}` : "–");
const chapterOf = (page) => told.chapters.find((chapter) => chapter.page.endsWith(`/${page.replace(/\.html$/, "")}`));

const [overview, programs] = [make("div", ""), make("div", "")];
const said = make("p", "", { className: "live-said", role: "status" });
const buttons = make("div", "", { className: "live-buttons" });
place.append(buttons, said, overview, programs);

const file = make("input", "", { type: "file", accept: ".json,application/json", hidden: true });
const press = (text, pressed) => {
  const button = make("button", text, { type: "button" });
  button.addEventListener("click", pressed);
  return button;
};
const forget = press("Forget everything …", ask);
buttons.append(
  press("Save to a file", save), press("Load a file …", () => file.click()), forget, file);
file.addEventListener("change", async () => {
  const [chosen] = file.files;
  if (chosen) say(await load(chosen));
  file.value = "";
});
function say(text, ...more) {
  said.replaceChildren(text, ...more);
}

function show() {
  tick();
  const [solved, answers, texts] = ["solved", "answer", "text"].map(all);
  const rows = told.chapters.map((chapter) => {
    const answered = chapter.predictions.filter((id) => answers.has(id));
    return {
      ...chapter,
      done: chapter.exercises.filter((id) => solved.has(id)).length,
      answered: answered.length,
      first: answered.filter((id) => answers.get(id).first).length,
      edited: Object.keys(chapter.programs).filter((id) => texts.has(id)).length,
    };
  });
  const sum = (name) => rows.reduce((before, row) => before + row[name], 0);
  const every = (name) => rows.reduce((before, row) => before + row[name].length, 0);
  const next = rows.find((row) => row.done < row.exercises.length && (row.done || row.answered || row.edited)) ??
    rows.find((row) => row.done < row.exercises.length);
  const line = make("p", `${sum("done")} of ${count(every("exercises"), "exercise")} solved, ${sum("answered")} of ` +
    `${count(every("predictions"), "prediction")} answered, ${sum("first")} of them right at the first try. `);
  if (next) line.append("Go on with ", linkTo(next), ".");
  const table = make("table", "", { className: "table" });
  const heads = ["chapter", "exercises", "predictions", "right at first", "edited"];
  table.createTHead().insertRow().append(...heads.map((head) => make("th", head, { scope: "col" })));
  const body = table.createTBody();
  for (const row of rows) {
    const cells = [
      of(row.done, row.exercises.length), of(row.answered, row.predictions.length), row.first || "–", row.edited || "–",
    ];
    const head = make("th", "", { scope: "row" });
    head.append(linkTo(row));
    body.insertRow().append(head, ...cells.map((text) => make("td", String(text))));
  }
  const box = make("div", "", { className: "live-table", tabIndex: 0, role: "region", ariaLabel: "chapters" });
  box.append(table);
  overview.replaceChildren(line, box);
  forget.disabled = !mine().length;
  showPrograms(texts);
}

function linkTo({ page, title }) {
  return make("a", title, { href: new URL(`${page}.html`, home).href });
}

// What was edited, and what an earlier edition had and this one has not: no text goes without a word.
function showPrograms(texts) {
  const known = new Map(told.chapters.flatMap((chapter) =>
    Object.entries(chapter.programs).map(([id, name]) => [id, { chapter, name }])));
  for (const [page, title] of Object.entries(told.pages)) {
    known.set(page, { chapter: { page, title }, name: "the program" });
  }
  const [here, gone] = [make("ul", ""), make("div", "")];
  for (const [id, { chapter, name }] of known) {
    if (!texts.has(id)) continue;
    const item = make("li", "");
    item.append(linkTo(chapter), `: ${name}, ${count(texts.get(id).source.split("\n").length, "line")}`);
    here.append(item);
  }
  for (const [id, { source, name, page }] of texts) {
    if (known.has(id)) continue;
    const title = chapterOf(page ?? "")?.title ?? page ?? "of another book";
    gone.append(fold(`${name ?? "a program"}, ${title}`, source, `text ${id}`));
  }
  for (const key of keys().filter((each) => OLD.test(each) && typeof read(each)?.source === "string")) {
    const [, page, number] = OLD.exec(key);
    const name = number === "front" ? "the program" : `cell ${Number(number) + 1}`;
    gone.append(fold(`${name}, ${chapterOf(page)?.title ?? page}`, read(key).source, key));
  }
  const parts = [];
  if (here.children.length) parts.push(make("h2", "Programs you edited"), here);
  if (gone.children.length) {
    const words = "You typed these into programs of an earlier edition. If a chapter still has the program, " +
      "opening the chapter puts your text back where it belongs.";
    parts.push(make("h2", "From an earlier edition"), make("p", words), gone);
  }
  programs.replaceChildren(...parts);
}

function fold(title, source, key) {
  const details = make("details", "");
  const text = make("pre", source, { tabIndex: 0 });
  details.append(make("summary", title), text, press("Forget this text", () => {
    const value = read(key);
    keep(key, null);
    show();
    say("The text is forgotten. ", offerUndo({ [key]: value }));
  }));
  return details;
}

// The keys of what a reader has made; the page itself keeps nothing else.
function mine() {
  return keys().filter((key) => OLD.test(key) || key === "solved" || isSound(key, read(key)));
}

const everything = () => Object.fromEntries(mine().map((key) => [key, read(key)]));

function save() {
  const date = new Date().toISOString().slice(0, 10);
  const content = { format: FORMAT, version: 1, course: told.course, edition: told.edition, date, kept: everything() };
  const address = URL.createObjectURL(new Blob([JSON.stringify(content, null, 1)], { type: "application/json" }));
  make("a", "", { href: address, download: `${told.course || "autodiff_edu"} ${date}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  say(`Saved: ${describe(Object.keys(content.kept))}. Nothing was sent; the file is among your downloads.`);
}

function describe(names) {
  const number = (kind) => names.filter((key) => key.startsWith(`${kind} `)).length;
  const old = names.filter((key) => OLD.test(key)).length;
  const parts = [
    count(number("solved"), "exercise"), count(number("answer"), "prediction"),
    count(number("text") + old, "edited program"),
  ];
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

// What came in, in a sentence; a file that is not one of ours, or not whole, changes nothing.
async function load(chosen) {
  const nothing = "Nothing was changed.";
  if (chosen.size > MOST) return `${chosen.name} is too large to be a file that this page saved. ${nothing}`;
  let content;
  try {
    content = JSON.parse(await chosen.text());
  } catch {
    return `${chosen.name} can't be read: it is damaged, or not a file that this page saved. ${nothing}`;
  }
  const isOurs = content?.format === FORMAT && [content.course ?? "", content.edition ?? ""].every(isText);
  if (!isOurs) return `${chosen.name} was not saved by this page. ${nothing}`;
  if (content.version !== 1) return `${chosen.name} was saved by a later edition of the book than this one. ${nothing}`;
  if (content.course !== told.course) {
    return `${chosen.name} belongs to another course, ${content.course || "autodiff_edu"}. ${nothing}`;
  }
  const entries = Object.entries(content.kept ?? {});
  const odd = entries.find(([key, value]) => !isSound(key, value) && !isOld(key, value));
  if (odd || !entries.length) {
    const why = odd ? `holds “${odd[0].slice(0, 40)}”, which this page didn't write` : "is empty";
    return `${chosen.name} ${why}. ${nothing}`;
  }
  const came = { new: [], other: [], known: [] };
  const lost = [];
  let leftOut = 0;
  for (const [key, value] of entries) {
    if (key.startsWith("text ")) leftOut += value.others?.splice(MOST_TEXTS).length ?? 0; // the newest come first
    const how = isSound(key, value) ? merge(key, value, "file") : takeOld(key, value);
    (came[how] ?? lost).push(key);
  }
  show();
  const others = count(came.other.length, "program");
  return [
    `Loaded from ${chosen.name}: ${came.new.length ? describe(came.new) : "nothing new"}.`,
    came.known.length ? `${came.known.length} already here.` : "",
    came.other.length
      ? `You already had another text of ${others}: yours stays, and its page offers the one from the file.`
      : "",
    leftOut
      ? `${count(leftOut, "text was", "texts were")} left out: only the newest ${MOST_TEXTS} of each program are taken.`
      : "",
    lost.length ? `There was no room for ${lost.length} of them.` : "",
    content.edition === told.edition
      ? ""
      : `The file was saved by edition ${content.edition}; this is edition ${told.edition}.`,
  ].filter(Boolean).join(" ");
}

// What an edition before this page kept.
const isOld = (key, value) => key === "solved" ?
  Array.isArray(value) && value.every((number) => typeof number === "string") :
  OLD.test(key) && typeof value?.source === "string" && typeof value.edition === "string";

function takeOld(key, value) {
  if (read(key) !== null) return "known";
  return keep(key, value) ? "new" : undefined;
}

function ask() {
  const names = mine();
  const yes = press("Forget", () => {
    const before = everything();
    for (const key of names) keep(key, null);
    show();
    say(`Forgotten: ${describe(names)}. `, offerUndo(before));
    said.querySelector("button").focus();
  });
  const no = press("Cancel", () => {
    say("");
    forget.focus();
  });
  say(`Forget ${describe(names)}? `, yes, " ", no);
  no.focus();
}

// Until the page is left, what was forgotten can be had back.
function offerUndo(before) {
  return press("Undo", () => {
    const lost = Object.entries(before).filter(([key, value]) => !keep(key, value));
    show();
    say(lost.length ? `There was no room for ${lost.length} of them.` : "Everything is back.");
    forget.focus();
  });
}

addEventListener("storage", show);
show();
if (!keeps()) {
  say("This browser keeps nothing for this site, or has no room left: what you do is gone when you leave a page.");
}
document.documentElement.dataset.live = "ready"; // for tests
