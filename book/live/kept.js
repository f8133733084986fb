// What a reader typed, answered and solved, kept in this browser alone; where it may keep nothing, all else works.
// Kept are "text ID", a program; "answer ID", a prediction; and "solved ID", an exercise. _ext/live.py makes the ids.
import { settleLink } from "./linked.js";

const { course } = JSON.parse(document.querySelector("#live-programs").textContent);
const PLACE = ["autodiff_edu", course].filter(Boolean).join(" "); // two courses may stand at one address
const MOST = 8; // texts of one program that are offered at once; the others unfold

export function read(key) {
  try {
    return JSON.parse(localStorage.getItem(`${PLACE} ${key}`));
  } catch {
    return null;
  }
}

// Whether the browser has kept it: it may be told not to, and its disk may be full.
export function keep(key, value) {
  try {
    if (value === null) localStorage.removeItem(`${PLACE} ${key}`);
    else localStorage.setItem(`${PLACE} ${key}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

// The start of a message that something could not be saved.
export const UNKEPT = "This browser can’t save anything for this page, or its storage is full.";

// Whether this browser keeps anything for the page.
export function keeps() {
  return keep("try", 1) && keep("try", null);
}

// The keys of all that is kept.
export function keys() {
  try {
    return Object.keys(localStorage).flatMap((key) => key.startsWith(`${PLACE} `) ? [key.slice(PLACE.length + 1)] : []);
  } catch {
    return [];
  }
}

export const isText = (value) => typeof value === "string";
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// Whether these are the values that a program is run with.
export const areValues = (values) => Array.isArray(values) && values.length <= 100 &&
  values.every((value) => isText(value?.name) && isText(value.text));

const FORMS = {
  text: ({ edition, source, values = [], texts = {}, others = [] }) => isText(edition) && isText(source) &&
    areValues(values) && isObject(texts) && Object.values(texts).every(isText) &&
    Array.isArray(others) && others.every((other) => isText(other?.source) && isText(other.why)),
  answer: ({ answer, right, first }) => isText(answer) && typeof right === "boolean" && typeof first === "boolean",
  solved: () => true,
};

// Whether a value is what one of these keys may hold; anything may stand in a browser's storage, and in a file.
export function isSound(key, value) {
  const form = FORMS[/^(text|answer|solved) \S{1,100}$/.exec(key)?.[1]];
  const isNamed = isObject(value) && [value.name ?? "", value.page ?? ""].every(isText);
  return form !== undefined && isNamed && form(value);
}

const sound = (key) => [read(key)].find((value) => isSound(key, value));

// What is kept of a kind, by id.
export function all(kind) {
  const ids = keys().flatMap((key) => key.startsWith(`${kind} `) ? [key.slice(kind.length + 1)] : []);
  return new Map(ids.map((id) => [id, sound(`${kind} ${id}`)]).filter(([, value]) => value));
}

// Earlier editions kept a text by its page and the number of its cell, which the next edition may give to another cell.
export const OLD = /^(\S+\.html) (\d+|front)$/;

// Puts each text of that kind where it belongs: to the program that it was typed into, if this edition has it.
export function sort(programs, page) {
  for (const old of keys()) {
    const value = OLD.exec(old)?.[1] === page ? read(old) : null;
    const place = programs.find(({ source }) => source === value?.edition);
    const made = { ...value, others: isText(value?.earlier) ? [{ source: value.earlier, why: "edition" }] : [] };
    delete made.earlier;
    if (place && merge(`text ${place.id}`, { ...made, page, name: place.name }, "edition")) keep(old, null);
  }
}

// The keys of texts that were typed into a program of a page which this edition does not have.
export function gone(programs, page) {
  const ids = new Set(programs.map(({ id }) => id));
  const old = keys().filter((key) => OLD.exec(key)?.[1] === page && isText(read(key)?.source));
  const lost = [...all("text")].filter(([id, text]) => text.page === page && !ids.has(id));
  return [...old, ...lost.map(([id]) => `text ${id}`)];
}

// Adds what came from elsewhere to what is kept; of two texts the one that is here stays, and offers the other. Returns
// "new", "other" or "known"; nothing if it can't be kept. Of two answers a right one stays.
export function merge(key, value, why) {
  const here = sound(key);
  const source = value.source;
  if (!here) return isSound(key, value) && keep(key, value) ? "new" : undefined;
  if (key.startsWith("answer ") && value.right && !here.right) return keep(key, value) ? "new" : undefined;
  if (!key.startsWith("text ")) return "known";
  const { others = [] } = here;
  const known = [here, ...others].map((each) => each.source);
  const came = [{ source, why, guest: value.guest }, ...(value.others ?? [])];
  const more = came.filter((other) => !known.includes(other.source));
  if (!more.length) return "known";
  return keep(key, { ...here, others: more.reduce(add, others) }) ? "other" : undefined;
}

// However many there are, none is dropped: the browser's room is the limit, and where it is full, the page says so.
const add = (others, other) => [other, ...others.filter(({ source }) => source !== other.source)];

// What was typed into a program: into this edition of it, and the other texts that there are. What comes by a link is
// a guest; it is shown before anything of it is kept, and what is kept is offered beside it.
export function typed(program, linked) {
  const { before, others } = find(program);
  if (linked === undefined) return { before, others };
  const mine = before ? add(others, { source: before.source, why: "before", guest: before.guest }) : others;
  return {
    before: { source: linked, values: [], texts: {}, guest: true }, // whose values are known once it runs
    others: mine.filter((other) => other.source !== linked),
  };
}

function find({ id, source }) {
  const found = sound(`text ${id}`);
  if (!found) return { others: [] };
  const { others = [], texts = {}, values = [] } = found;
  if (found.edition === source) return { before: { ...found, texts, values }, others };
  const edited = found.source !== found.edition || Object.keys(texts).length > 0;
  const earlier = edited ? add(others, { source: found.source, why: "edition", guest: found.guest }) : others;
  return { others: earlier.filter((other) => other.source !== source) };
}

const OFFERS = {
  edition: ["The book's program has changed since you edited it.", "Show my text"],
  tab: ["You changed this program in another tab.", "Show that text"],
  file: ["The file that you imported has another text for this program.", "Show that text"],
  before: ["The text that stood here before is kept.", "Show it"],
};

export function barOf(words) {
  const bar = document.createElement("p");
  bar.className = "live-linked";
  bar.textContent = words;
  return bar;
}

function folded(words, lines) {
  const details = document.createElement("details");
  details.append(Object.assign(document.createElement("summary"), { textContent: words }), ...lines);
  return details;
}

function line(words, press, pressed) {
  const [offered, button] = ["p", "button"].map((name) => document.createElement(name));
  offered.className = "live-offer";
  button.type = "button";
  button.textContent = press;
  button.addEventListener("click", pressed);
  offered.append(`${words} `, button);
  return offered;
}

// Keeps what is typed into a program, and offers the other texts above it. `values` are those that its fields hold, and
// `guest` is true as long as a link's program is there.
export function memory(program, fields, { before: { guest, source: came } = {}, others }, { page, values }) {
  const key = `text ${program.id}`;
  let last = JSON.stringify(read(key));
  let theirs; // the text that another tab has kept last, unless this one has kept it since
  let isGone = false; // whether another tab, or "Forget everything", has removed what is typed here
  let isUnkept = false;
  let left; // what stood here before Reset: it is kept until something else is typed, or the page is left
  let resetting = false;
  let made; // a program that the page wrote there
  const guests = new Set(guest ? [came] : []); // what a guest has said here: undo can bring it back
  let mine; // the reader's own text of last
  const bar = document.createElement("div");
  bar.className = "live-offers";
  bar.setAttribute("role", "status");
  fields.form.prepend(bar);

  function offer() {
    const wordsOf = ({ why }) => Object.hasOwn(OFFERS, why) ? OFFERS[why] : OFFERS.before;
    const lines = others.map((other) => line(...wordsOf(other), () => put(other)));
    const more = lines.splice(MOST);
    if (more.length) lines.push(folded(`${more.length} more of your texts for this program`, more));
    const what = left?.isEdited ? "Your text is gone." : "Reset removed the other texts that were offered here.";
    if (left) lines.unshift(line(what, left.isEdited ? "Bring it back" : "Bring them back", left.back));
    if (isGone) {
      lines.unshift(line("This text is no longer saved: it was removed in another tab.", "Save it again", keepAll));
    }
    if (isUnkept) {
      const textContent = `${UNKEPT} Copy your text before you leave the page.`;
      lines.unshift(Object.assign(document.createElement("p"), { className: "live-offer", textContent }));
    }
    if (guest) lines.unshift(barOf("This program comes from a link. Read it before you press Replay."));
    bar.replaceChildren(...lines);
  }

  // Puts another text into the editor; what a reader typed there before is offered.
  function put({ source, guest: isGuest = false }, isMade = false) {
    const before = fields.source();
    others = others.filter((other) => other.source !== source);
    const isKnown = [source, program.source, made].includes(before);
    if (!isKnown) others = add(others, { source: before, why: "before", guest });
    made = isMade ? source : undefined;
    guest = isGuest;
    offer(); // first, for the front page looks there whose the text is
    fields.setSource(source);
    keepAll();
  }

  // Another tab has kept something else meanwhile; neither text goes without a word.
  function listen() {
    const now = read(key);
    if (JSON.stringify(now) === last) return;
    last = JSON.stringify(now);
    isGone = now === null && !guest && isEdited();
    if (isSound(key, now)) hear(now);
    offer();
  }

  function hear(now) {
    const source = fields.source();
    theirs = now.source;
    const isTab = ({ why }) => why === "tab"; // what another tab says of tabs, this one has heard itself
    others = others.filter((other) => !isTab(other));
    const rest = (now.others ?? []).filter((other) => !isTab(other));
    for (const other of [...rest, { source: now.source, why: "tab", guest: now.guest }]) {
      if (![source, program.source].includes(other.source)) others = add(others, other);
    }
  }

  const isEdited = () => fields.source() !== program.source || Object.keys(fields.texts()).length > 0;

  // Reset is undone, or over.
  function restore(before) {
    const isNew = ({ source }) => !others.some((other) => other.source === source);
    others = [...others, ...before.filter(isNew)]; // others: what another tab has kept meanwhile
    left = undefined;
    offer();
  }

  function keepAll() {
    const [source, texts] = [fields.source(), fields.texts()];
    if (resetting) return;
    if (!guest && guests.has(source)) {
      guest = true;
      others = others.filter((other) => other.source !== source);
      if (mine !== undefined) others = add(others, { source: mine, why: "before" });
      offer();
    }
    if (guest && source !== program.source) guests.add(source);
    if (!guest && source !== program.source) mine = source;
    if (left) {
      if (!isEdited()) return;
      restore(source === left.source ? left.others : []);
    }
    listen();
    const changed = isEdited() || others.length > 0;
    const { name, source: edition } = program;
    const value = { edition, source, values: values(), texts, others, page, name, guest };
    const isKept = keep(key, changed ? value : null) || !changed;
    if (isGone || isUnkept === isKept) {
      [isGone, isUnkept] = [false, !isKept];
      offer();
    }
    if (theirs === source) theirs = undefined;
    last = JSON.stringify(read(key));
    if (guest) settleLink();
  }

  // `work` puts the book's program back, and `undo` what stands here now.
  function reset(work, undo) {
    const [source, wasEdited, wasGuest] = [fields.source(), isEdited(), guest];
    const back = () => {
      guest = wasGuest;
      restore(left.others);
      undo();
      keepAll();
    };
    resetting = true;
    work();
    resetting = false;
    guest = isGone = false;
    // The reader's own text is not the guest's to drop, nor is what another tab has.
    const stay = others.filter((other) => (wasGuest ? !other.guest : other.source === theirs));
    if (wasEdited || stay.length < others.length) left = { source, others, isEdited: wasEdited, back };
    others = stay;
    offer();
  }

  fields.form.addEventListener("changed", keepAll);
  addEventListener("storage", listen);
  addEventListener("pagehide", () => {
    if (!left) return;
    const { name, source } = program;
    const now = sound(key);
    const isTheirs = now && now.source === theirs;
    const stays = isTheirs ? now : { edition: source, source, values: program.values, texts: {}, page, name };
    const rest = others.filter((other) => other.source !== stays.source);
    keep(key, isTheirs || rest.length ? { ...stays, others: rest } : null);
  });
  offer();
  return { isGuest: () => guest, keepAll, put, reset };
}
