/**
 * One question of the course, asked before the cell that answers it. course/predictions.py describes the content:
 * {question, asks, choices, sealed, css}, and in `sealed` {right, hints, why, within}, all answers as they are typed.
 */

import { judge, readAs } from "./answers.js";
import { make, set } from "./dom.js";
import { keepKeys } from "./shortcuts.js";
import { ANSWERS } from "./strings.js";

const TRIES = 2;
const SETTLED = "autodiff-settled"; // for the page around it, which may have something to unfold

/**
 * @typedef {{ question: string, asks: Question["asks"], choices: string[], sealed: string, css: string }} Content
 */

/** The static page: starts every question that is not asked yet, however many copies of this script the page has. */
function mountAll() {
  for (const host of document.querySelectorAll("[data-autodiff-prediction]")) {
    const data = host.querySelector('script[type="application/json"]');
    if (data && !host.shadowRoot) mount(host, JSON.parse(data.textContent));
  }
}

/**
 * What no reader of the page's source should see by accident.
 * @type {(text: string) => { right: string, hints: Record<string, string>, why: string, within: number }}
 */
const unsealed = (text) =>
  JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.codePointAt(0))));

/** What is stressed: not the signs of a product, nor the stars of a power. */
const STRESSED = /(?<![\w*)\]])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*(])/;

/**
 * A text with what stands in `backticks` as code, and what stands between *stars* stressed.
 * @type {(text: string) => (HTMLElement | string)[]}
 */
const formatText = (text) =>
  text.split("`").flatMap((part, k) => (k % 2 ? make("code", {}, part) : formatEmphasis(part)));
/** @type {(text: string) => (HTMLElement | string)[]} */
const formatEmphasis = (text) => text.split(STRESSED).map((part, k) => (k % 2 ? make("em", {}, part) : part));
/** @param {string} text */
const plainText = (text) => formatText(text).map((part) => /** @type {Element} */ (part).textContent ?? part).join("");

/**
 * @param {Element} host
 * @param {Content} content
 */
function mount(host, { question, asks, choices, sealed, css }) {
  const { right, hints, why, within } = unsealed(sealed);
  /** @type {Mistake[]} */
  const mistakes = Object.entries(hints).map(([wrong, hint]) =>
    [readAs(asks, wrong), hint]);
  const asked = { asks, right: readAs(asks, right), within, mistakes, hint: ANSWERS.again };
  const label = plainText(question);
  let tries = 0;

  const field = make("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: false });
  set(field, "aria-label", label);
  const radios = choices.map((value) => make("input", { type: "radio", name: "answer", value }));
  const options = radios.map((radio) => make("label", {}, radio, make("span", {}, ...formatText(radio.value))));
  /** @type {(action: "check" | "reveal", pressed: () => void) => HTMLButtonElement} */
  const button = (action, pressed) => {
    const element = make("button", { type: "button", "data-action": action }, ANSWERS[action]);
    element.addEventListener("click", pressed);
    return element;
  };
  const buttons = make("div", { class: "options" },
    button("check", () => answer()), button("reveal", () => settle(ANSWERS.shown(right, why))));
  const answers = choices.length
    ? make("div", { class: "options", role: "radiogroup", "aria-label": label }, ...options) : field;
  const verdict = make("p", { class: "verdict", "aria-live": "polite" });
  const root = make("div", { class: "prediction", role: "group", tabindex: -1, "aria-label": ANSWERS.predict },
    make("p", { class: "prompt" }, make("strong", {}, ANSWERS.predict), " ", ...formatText(question)),
    make("div", { class: "question" }, answers, buttons), verdict, make("p", { class: "blank" }));

  /** @type {(text: string, isRight?: boolean) => void} */
  const say = (text, isRight) => {
    verdict.replaceChildren(...formatText(text));
    set(verdict, "data-right", isRight ?? null);
  };
  /** @type {(text: string, isRight?: boolean) => void} */
  const settle = (text, isRight) => {
    say(text, isRight);
    if (buttons.contains(host.shadowRoot.activeElement)) root.focus({ preventScroll: true });
    buttons.hidden = true;
    field.readOnly = true;
    for (const radio of radios) radio.disabled = true;
    host.dispatchEvent(new CustomEvent(SETTLED, { bubbles: true, composed: true }));
  };
  const answer = () => {
    if (buttons.hidden) return;
    const chosen = radios.find((radio) => radio.checked);
    const { unread, right: isRight, hint } = judge(asked, choices.length ? chosen?.value ?? "" : field.value);
    if (unread) { say(unread); return; }
    tries += 1;
    if (isRight) { settle(ANSWERS.right(right, why), true); return; }
    if (tries === TRIES) {
      settle(ANSWERS.wrong(right, hint === ANSWERS.again ? "" : hint, why), false);
      return;
    }
    say(ANSWERS.notQuite(hint), false);
    if (!chosen) { field.focus({ preventScroll: true }); field.select(); return; }
    [chosen.checked, chosen.disabled] = [false, true];
    set(chosen.parentElement, "data-wrong", "");
    radios.find((radio) => !radio.disabled).focus({ preventScroll: true });
  };
  // Not a form: where a page shows the question in a sandbox, forms may be forbidden.
  answers.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    answer();
  });
  keepKeys(host, root);
  host.attachShadow({ mode: "open" }).replaceChildren(make("style", {}, css), root);
}

if (globalThis.document) mountAll();
