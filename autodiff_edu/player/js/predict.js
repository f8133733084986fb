/**
 * Predict mode: what is asked before a step is shown, how an answer is read, and what a wrong one may come from.
 *
 * A question is {prompt, array, asks, mistakes}: `asks` is "number" or "shape" (of `array`), and `mistakes` lists what
 * is often answered instead, each {value, hint} or {shape, hint}. All of it comes from the trace document.
 */

import { make, set, write } from "./dom.js";
import { STRINGS } from "./strings.js";

/** The question about a step, or null where there is nothing to work out. */
export function questionAbout(trace, history, number) {
  const step = trace.steps[number];
  const ask = { record: askRecord, "pull back": askPullBack, accumulate: askAccumulate }[step?.kind];
  const question = ask?.(trace, history, step, number) ?? null;
  return question && isAnswerable(question) ? question : null;
}

/** Of shapes only those that are not simply the inputs' are worth a question. */
function askRecord(trace, history, step) {
  const { inputs, output, text } = trace.entries[step.entry];
  const { name, value: array } = trace.tensors[output];
  const differs = inputs.some((input) => !sameShape(trace.tensors[input].value.shape, array.shape));
  if (!array.shape.length || !differs) return null;
  return { prompt: STRINGS.predict.record(name, text), array, asks: "shape", mistakes: [] };
}

function askPullBack(trace, history, step) {
  const { output, text } = trace.entries[step.entry];
  const { name, value } = trace.tensors[output];
  const [array, { hints }] = [step.cotangent, STRINGS.predict];
  const asks = array.shape.length ? "shape" : "number";
  const mistakes = asks === "shape" ? [] : [{ value: numberIn(value), hint: hints.value(name) }];
  return { prompt: STRINGS.predict.arrives[asks](name, text), array, asks, mistakes };
}

function askAccumulate(trace, history, step, number) {
  const { output, text } = trace.entries[step.entry];
  const { name } = trace.tensors[step.tensor];
  const { before, contribution, after: array } = step;
  const { hints, shape: tuple } = STRINGS.predict;
  const whole = `${trace.tensors[output].name} = ${text}`;
  if (array.shape.length) {
    const { shape } = history.arrived(step.entry, number) ?? trace.tensors[output].value;
    const mistakes = [{ shape, hint: hints.outputShape(tuple(shape), tuple(array.shape)) }];
    return { prompt: STRINGS.predict.accumulates.shape(name, whole), array, asks: "shape", mistakes };
  }
  const [had, added] = [before ? numberIn(before) : 0, numberIn(contribution)];
  const g = history.arrived(step.entry, number);
  const local = g && !g.shape.length ? added / numberIn(g) : NaN;
  const replaced = { value: added, hint: before && hints.replaced(contribution.text, before.text) };
  const unmultiplied = [had + local, local].map((value) => ({ value, hint: hints.unmultiplied(g?.text) }));
  const mistakes = [replaced, ...unmultiplied];
  return { prompt: STRINGS.predict.accumulates.number(name, whole, before?.text), array, asks: "number", mistakes };
}

const SPECIAL_NUMBERS = { inf: Infinity, "-inf": -Infinity, nan: NaN };
/** The number of an array without axes; undefined for what is complex or was let go of. */
const numberIn = ({ data }) => (typeof data === "number" ? data : SPECIAL_NUMBERS[data]);
const isAnswerable = ({ asks, array }) => (asks === "shape" ? array.dtype !== "" : numberIn(array) !== undefined);
const sameShape = (left, right) => left.length === right.length && left.every((axis, index) => axis === right[index]);

const answerIn = ({ asks, array }) => (asks === "shape" ? STRINGS.predict.shape(array.shape) : array.text);
const briefly = (typed) => (typed.length > 30 ? `${typed.slice(0, 29)}…` : typed);

/** Equal to three significant digits. */
function isClose(answer, wanted) {
  if (!Number.isFinite(wanted) || !wanted) return Object.is(answer, wanted) || Math.abs(answer - wanted) <= 1e-12;
  const third = 10 ** (Math.floor(Math.log10(Math.abs(wanted))) - 2);
  return Math.abs(answer - wanted) <= Math.max(0.500001 * third, 1e-12);
}

/** Reads "0.5", "-2", "1e-3", "0,5", "1/3", "inf" and "nan"; undefined for anything else. */
export function readNumber(typed) {
  const plain = typed.replaceAll("−", "-").replace(/\s+/g, "").toLowerCase();
  if (Object.hasOwn(SPECIAL_NUMBERS, plain)) return SPECIAL_NUMBERS[plain];
  const part = "[-+]?(?:\\d+[.,]?\\d*|[.,]\\d+)(?:e[-+]?\\d+)?";
  const parts = plain.match(new RegExp(`^(${part})(?:/(${part}))?$`));
  if (!parts) return undefined;
  const [top, bottom] = [parts[1], parts[2] ?? "1"].map((digits) => Number(digits.replace(",", ".")));
  return top / bottom;
}

/** Reads "(2, 3)", "[2,3]", "2x3", "2×3", "2 3", "(3,)", "3" and "()"; undefined for anything else. */
export function readShape(typed) {
  const inner = typed.trim().replace(/^\((.*)\)$|^\[(.*)\]$/, "$1$2").trim().replace(/\s*,$/, "");
  if (!inner) return typed.trim() ? [] : undefined;
  const axes = inner.split(/\s*[,x×*]\s*|\s+/i);
  return axes.every((axis) => /^\d+$/.test(axis)) ? axes.map(Number) : undefined;
}

/** What is said about an answer: {said, over, right}; `over` is false where there was nothing to judge. */
export function judge(question, typed) {
  const [words, { array, asks, mistakes }] = [STRINGS.predict, question];
  const shapes = asks === "shape";
  const answer = shapes ? readShape(typed) : readNumber(typed);
  if (!typed.trim()) return { said: words.nothingTyped, over: false };
  if (answer === undefined) return { said: (shapes ? words.noShape : words.noNumber)(briefly(typed)), over: false };
  const isAnswered = shapes ? (shape) => sameShape(answer, shape) : (value) => isClose(answer, value);
  if (isAnswered(shapes ? array.shape : numberIn(array))) {
    return { said: words.right(answerIn(question)), over: true, right: true };
  }
  const known = mistakes.find(({ value, shape, hint }) => hint && isAnswered(shapes ? shape : value));
  return { said: words.wrong(answerIn(question), known?.hint ?? ""), over: true, right: false };
}

/**
 * The line with the question and the verdict; `reveal` shows the step that was asked about.
 * `asks(number)` says whether that step is asked about, and then puts the question in place of the step.
 */
export function predictView(trace, history, reveal) {
  const words = STRINGS.predict;
  let [on, question] = [false, null];
  const verdict = make("p", { class: "verdict", "aria-live": "polite" });
  const prompt = make("span", { class: "prompt" });
  const input = make("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: false });
  const check = make("button", { type: "button", "data-action": "check" }, words.check);
  const giveUp = make("button", { type: "button", "data-action": "reveal" }, words.reveal);
  const form = make("div", { class: "question", hidden: "" }, make("label", {}, prompt, input), check, giveUp);
  const element = make("div", { class: "predict", hidden: "" }, form, verdict);
  const withdraw = () => { question = null; form.hidden = true; };
  const say = (text, right) => { write(verdict, text); set(verdict, "data-right", right ?? null); };
  const end = ({ said, right }) => { withdraw(); reveal(); say(said, right); };
  const answer = () => {
    const judged = judge(question, input.value);
    if (judged.over) end(judged);
    else { say(judged.said); input.select(); }
  };
  // Not a form: where a page shows the player in a sandbox, forms may be forbidden.
  check.addEventListener("click", answer);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault(); // the button that has the focus next must not be pressed by the same key
    answer();
  });
  giveUp.addEventListener("click", () => end({ said: words.shown(answerIn(question)) }));
  const asks = (number) => {
    if (!question) {
      question = on ? questionAbout(trace, history, number) : null;
      if (!question) return false;
      write(prompt, question.prompt);
      say("");
      input.value = "";
      form.hidden = false;
    }
    input.focus();
    return true;
  };
  /** Any move withdraws the question and the verdict. */
  const show = () => { withdraw(); say(on ? words.idle : ""); };
  const toggle = () => { on = !on; element.hidden = !on; show(); return on; };
  return { element, show, asks, toggle };
}
