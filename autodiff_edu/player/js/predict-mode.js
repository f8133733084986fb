/** Predict mode: a question in place of the next step, two tries to answer it, and a score at the end. */

import { judge } from "./answers.js";
import { make, set, write } from "./dom.js";
import { questionsOf } from "./questions/index.js";
import { ANSWERS, STRINGS } from "./strings.js";

const TRIES = 2;

/**
 * @typedef {object} Drill
 * @property {Ask} ask
 * @property {Map<number, number>} results
 * @property {number} number
 * @property {number} of
 * @property {(number: number) => void} open
 * @property {boolean} focus
 * @property {Element | null} [staged]
 */

/**
 * The line with the question and the verdict. `asks(number)` says whether that step is asked about, and then puts the
 * question in place of the step; `reveal(number)` shows it, `cover(on)` hides what the page knows of later steps.
 * A `drill`, which player/drill.py describes, asks one question about each of its programs: it has the `results` of
 * all, the `number` of this one, how many there are (`of`), and `open(number)`, which shows another.
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 * @param {{
 *   grouped: boolean, drill: Drill | undefined, reveal: (step: number) => void, cover: (on: boolean) => void,
 *   go: (step: number) => void,
 * }} player
 */
export function predictModeView(trace, history, { grouped, drill, reveal, cover, go }) {
  const words = STRINGS.predict;
  const questions = questionsOf(trace, history, grouped);
  /** @type {Map<number, number>} */
  const results = drill?.results ?? new Map(); // by step or program: at which try the answer was right, or 0
  const last = trace.steps.length - 1;
  /** @type {[boolean, Question | null, number, number]} */
  let [on, question, asked, tries] = [false, null, -1, 0];
  /** @type {(action: string, text: string, pressed: () => void) => HTMLButtonElement} */
  const button = (action, text, pressed) => {
    const element = make("button", { type: "button", "data-action": action }, text);
    element.addEventListener("click", pressed);
    return element;
  };
  const verdict = make("p", { class: "verdict", "aria-live": "polite" });
  const prompt = make("p", { class: "prompt" });
  const input = make("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: false });
  const options = make("div", { class: "options", role: "group", tabindex: -1 });
  const check = button("check", ANSWERS.check, () => answer(input.value));
  const giveUp = () => end(0, ANSWERS.shown(question.shown, question.why), null); // which is not a mistake
  const shows = button("reveal", ANSWERS.reveal, giveUp);
  const form = make("div", { class: "question", hidden: "" }, input, options, check, shows);
  const links = make("div", { class: "onwards" });
  const element = make("div", { class: "predict", hidden: "" }, prompt, form, verdict, links);
  const isDone = () => results.has(drill ? drill.number : asked);
  const withdraw = () => {
    const focused = /** @type {ShadowRoot} */ (form.getRootNode()).activeElement;
    if (focused && form.contains(focused)) {
      /** @type {HTMLElement} */ (form.closest(".player")).focus({ preventScroll: true }); // else keys go to the page
    }
    question = null;
    form.hidden = true;
    write(prompt, "");
  };
  /** @type {(text: string, right?: boolean | null, ...more: Element[]) => void} */
  const say = (text, right, ...more) => {
    write(verdict, text);
    set(verdict, "data-right", right ?? null);
    links.replaceChildren(...more);
  };
  const score = () => {
    const at = (/** @type {number} */ nth) => [...results.values()].filter((each) => each === nth).length;
    const missed = [...results].filter(([, nth]) => nth !== 1).map(([key]) => key);
    const label = words.again[drill ? "program" : "step"];
    const goTo = (/** @type {number} */ key) => button("again", label(key + 1), () => (drill?.open ?? go)(key));
    say(words.scored(at(1), results.size, at(2), missed.length), null, ...missed.map(goTo));
  };
  /** @type {(nth: number, text: string, right?: boolean | null) => void} */
  const end = (nth, text, right = nth > 0) => {
    const [number, said] = [asked, question.prompt];
    if (!isDone()) results.set(drill ? drill.number : number, nth);
    withdraw();
    reveal(number);
    write(prompt, said); // which the verdict answers
    say(text, right, ...onwards());
    if (drill) /** @type {HTMLElement} */ (links.firstChild).focus({ preventScroll: true });
  };
  /** What leads on from an answer: to the next program of a drill, and after the last one to the score. */
  const onwards = () => {
    if (!drill && asked < last) return [];
    const left = [...Array(drill?.of ?? 0).keys()].filter((number) => !results.has(number));
    const next = left.find((number) => number > drill.number) ?? left[0];
    /** @type {["score" | "more", () => void]} */
    const [action, pressed] = next === undefined ? ["score", score] : ["more", () => drill.open(next)];
    return [button(action, words[action], pressed)];
  };
  /** @type {(typed: string, chosen?: Element) => void} */
  const answer = (typed, chosen) => {
    const { unread, right, hint = "" } = judge(question, typed);
    if (unread) say(unread);
    else if (right) end(tries + 1, ANSWERS.right(question.shown, question.why));
    else if (tries + 1 === TRIES) {
      end(0, ANSWERS.wrong(question.shown, hint === question.hint ? "" : hint, question.why));
    } else {
      tries += 1;
      say(ANSWERS.notQuite(hint), false);
      if (chosen) set(chosen, "aria-disabled", true);
    }
    if (question) (chosen ? options : input).focus({ preventScroll: true });
    if (question && !chosen) input.select();
  };
  // Not a form: where a page shows the player in a sandbox, forms may be forbidden.
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault(); // the button that has the focus next must not be pressed by the same key
    answer(input.value);
  });
  const choice = (/** @type {string} */ text) => {
    const one = button("choose", text, () => { if (!one.hasAttribute("aria-disabled")) answer(text, one); });
    return one;
  };
  const questionAt = (/** @type {number} */ number) => {
    if (!drill) return questions.at(number);
    return drill.ask.step === number && !isDone() ? questions.about(drill.ask) : null;
  };
  const asks = (/** @type {number} */ number, focus = true) => {
    if (question && number < asked) return false; // of a drill, whose question stays
    if (!question) {
      question = on ? questionAt(number) : null;
      if (!question) return false;
      [asked, tries] = [number, 0];
      const isChoice = question.asks === "choice";
      write(prompt, question.prompt);
      for (const field of [input, options]) set(field, "aria-label", question.prompt);
      options.replaceChildren(...(isChoice ? question.options.map(choice) : []));
      [input.hidden, check.hidden, options.hidden] = [isChoice, isChoice, !isChoice];
      say("");
      input.value = "";
      form.hidden = false;
    } else if (focus) say(words.waits);
    if (focus) (question.asks === "choice" ? options : input).focus({ preventScroll: true });
    return true;
  };
  /**
   * Any move withdraws the question and the verdict; but a drill's question stays until its step is shown.
   * @param {number} step
   */
  const show = (step) => {
    if (drill && question && step < asked) return;
    if (drill && question && !isDone()) results.set(drill.number, 0);
    withdraw();
    if (!on) say("");
    else if (!drill && results.size && step === last) score();
    else say(drill ? "" : words.idle, null, ...(drill && isDone() ? onwards() : []));
  };
  const toggle = () => {
    on = !on;
    element.hidden = !on;
    withdraw();
    cover(on);
    if (on && drill) asks(drill.ask.step, drill.focus);
    return on;
  };
  return { element, show, asks, toggle, giveUp, isOpen: () => on && question !== null };
}
