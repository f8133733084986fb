/** The field's words, defined where they stand: a label is a button, and what it means lies over the player. */

import { BOX_MARKS, drawCorner, drawScissors } from "./boxes.js";
import { build, draw, make, set, write } from "./dom.js";
import { KEYS, STAGE_KEYS, spellKeys } from "./keys.js";
import { STRINGS } from "./strings.js";

const SIGNS = "signs";
/** @param {string} term */
const idOf = (term) => `word-${term.replace(" ", "-")}`; // no other player sees the ids of this one's shadow root

/** @typedef {keyof typeof STRINGS.glossary.terms} Term */

/**
 * A button that opens the definition of a term, which is one of the strings; it says the term, or another text.
 * @type {(term: string, text?: string) => HTMLButtonElement}
 */
export const wordButton = (term, text = term) =>
  make("button", { type: "button", class: "word", "aria-haspopup": "dialog", popovertarget: idOf(term) }, text);

/** The button that opens the lists of the signs and of the keys. */
export function signsButton() {
  const button = wordButton(SIGNS, "?");
  for (const name of ["aria-label", "title"]) set(button, name, STRINGS.glossary.signs);
  return button;
}

/**
 * Writes a changing text into an element: `write(text, term)`; without a term, the text is not a link to a definition.
 * @param {Element} element
 * @returns {(text: string, term?: Term | false | "") => void}
 */
export function wordPlace(element) {
  const button = wordButton("");
  return (text, term) => {
    write(term ? button : element, text);
    if (!term) return;
    set(button, "popovertarget", idOf(term));
    if (button.parentNode !== element) element.replaceChildren(button);
  };
}

/**
 * The definitions, of which one at most is open. The browser closes it at Esc and at a click elsewhere.
 * @param {() => void} stop
 */
export function glossaryView(stop) {
  const words = STRINGS.glossary;
  /** @type {HTMLElement} */
  let opener;
  const focused = () => /** @type {ShadowRoot} */ (element.getRootNode()).activeElement;
  /** @type {(term: string, name: string, inside: () => Element, ...more: Element[]) => HTMLElement} */
  const dialog = (term, name, inside, ...more) => {
    const [id, text] = [idOf(term), `${idOf(term)}-text`];
    const described = [text, ...more.map((part) => part.id)].join(" ").trim();
    const about = { class: "definition", role: "dialog", "aria-label": name, "aria-describedby": described };
    const part = make("div", { id, ...about, popover: "auto", tabindex: -1, autofocus: "" });
    const closes = { popovertarget: id, popovertargetaction: "hide", "aria-label": words.close };
    const close = make("button", { type: "button", ...closes }, "×");
    part.addEventListener("beforetoggle", (/** @type {any} */ { newState, source }) => { // a source is new
      const opens = newState === "open";
      const at = focused();
      if (opens) {
        opener = source ?? at;
        stop(); // the step should stay while you read
      } else if (part.contains(at)) opener?.focus({ preventScroll: true }); // browsers forget it in a shadow root
      part.replaceChildren(...(opens ? [close, make("b", {}, name), build(inside(), { id: text }), ...more] : []));
    });
    return part;
  };
  const entries = Object.entries(words.terms);
  const defined = entries.map(([term, text]) => dialog(term, term, () => make("p", {}, text), ...glossaryLink(term)));
  const signs = dialog(SIGNS, words.signs, listOfSigns, listsOfKeys());
  const element = make("div", { class: "words" }, ...defined, signs);
  /** @type {() => HTMLElement | null} */
  const current = () => element.querySelector(":popover-open");
  /** Esc ends a definition, and neither the stage nor what the page has open. */
  const ends = (/** @type {KeyboardEvent} */ event) => {
    const found = event.key === "Escape" && current();
    if (found) event.stopPropagation();
    return Boolean(found);
  };
  /** What was defined may be gone from the next step, and must not take the focus with it. */
  const show = () => {
    current()?.hidePopover();
    const at = focused();
    if (!at?.matches(".word")) return;
    Promise.resolve().then(() => {
      if (!at.isConnected || !at.checkVisibility()) element.parentElement.focus({ preventScroll: true });
    });
  };
  return { element, show, ends, help: () => { signs.togglePopover(); } };
}

/**
 * Where the page's head names a glossary, as the book's pages do: a link to the term's entry in it.
 * @param {Term} term
 * @returns {Element[]}
 */
function glossaryLink(term) {
  /** @type {HTMLLinkElement | null} */
  const glossary = document.querySelector('link[rel="glossary"]');
  if (!glossary) return [];
  return [make("a", { href: `${glossary.href}#term-${term.replace(" ", "-")}` }, STRINGS.glossary.glossary)];
}

function listOfSigns() {
  const { marks } = STRINGS.graph;
  const scissors = drawScissors([0, 0, 0, 0, 11]);
  set(scissors, "data-known", true);
  /** @type {(name: string, sign: Element) => Element} */
  const picture = (name, sign) => draw("svg", { viewBox: "-12 -12 24 24", role: "img", "aria-label": name }, sign);
  const boxes = Object.entries(BOX_MARKS).map(([mark, sign]) => [sign, marks[mark]]);
  const rows = [...Object.entries(STRINGS.glossary.meanings), ...boxes,
    [picture(STRINGS.glossary.scissors, scissors), STRINGS.glossary.cut],
    [picture(STRINGS.glossary.corner, drawCorner(0, 0)), STRINGS.graph.corner]];
  return make("dl", {}, ...rows.flatMap(([sign, text]) => [make("dt", {}, sign), make("dd", {}, text)]));
}

/** What the keys do, from the tables that bind them; those of the graph are read aloud there, too. */
function listsOfKeys() {
  const { headings, does } = STRINGS.keys;
  const { first, last, previous } = STRINGS.controls;
  const meanings = { first, last, previous, ...does };
  /** @type {(heading: string, keys: import("./keys.js").Keys) => HTMLElement[]} */
  const list = (heading, keys) => {
    const rows = Object.entries(keys).flatMap(([action, some]) =>
      [make("dt", {}, spellKeys(some)), make("dd", {}, meanings[/** @type {keyof typeof meanings} */ (action)])]);
    return [make("b", {}, heading), make("dl", { class: "shortcuts" }, ...rows)];
  };
  const lists = [...list(headings.keys, KEYS), ...list(headings.stage, STAGE_KEYS)];
  return make("div", { id: "player-keys" }, ...lists, make("b", {}, headings.graph), make("p", {}, STRINGS.graph.keys));
}
