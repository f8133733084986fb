/** How a typed answer is read, and how it is compared with the right one and with what is often answered instead. */

import { brief, isFine } from "./brief.js";
import { ANSWERS } from "./strings.js";

/** How far off an answer may be that was worked out from the numbers of sentences, which have three digits. */
const FROM_THREE_DIGITS = 0.01;
/** @type {Record<string, number>} */
const SPECIAL_NUMBERS = { inf: Infinity, "-inf": -Infinity, nan: NaN };
/**
 * The number of an array without axes; undefined if it is complex or was released.
 * @param {{ data: Data }} array
 */
export const numberIn = ({ data }) => (typeof data === "number" ? data : SPECIAL_NUMBERS[String(data)]);

/** @param {NDArray} array */
export const isNumber = (array) => array.shape.length === 0 && numberIn(array) !== undefined;

/**
 * Questions by how they are answered; questions/index.js says what a question is.
 * @param {{ data: Data, text: string }} array
 * @param {Partial<Question>} about
 * @returns {Question}
 */
export const askNumber = (array, about) => ({
  asks: "number", right: numberIn(array), shown: array.text,
  ...(isFine(array.text) && { within: 1e-9 }), ...about,
});
/** @type {(array: NDArray, about: Partial<Question>) => Question} */
export const askShape = ({ shape }, about) =>
  ({ asks: "shape", right: shape, shown: ANSWERS.shape(shape), ...about });
/** @type {(options: string[], right: string, about: Partial<Question>) => Question} */
export const askChoice = (options, right, about) => ({ asks: "choice", options, right, shown: right, ...about });

/**
 * Equal to three significant digits, or within a part of what is wanted, if one is given; null is None.
 * @param {number | null} answer
 * @param {number | null} wanted
 * @param {number} [within]
 */
export function isClose(answer, wanted, within) {
  if (answer === null || wanted === null) return answer === wanted;
  if (!Number.isFinite(wanted)) return Object.is(answer, wanted);
  if (within !== undefined) return Math.abs(answer - wanted) <= (within + 1e-12) * Math.abs(wanted);
  const third = wanted && 10 ** (Math.floor(Math.log10(Math.abs(wanted))) - 2);
  return Math.abs(answer - wanted) <= (0.500001 * third || 1e-12);
}

/**
 * Whether one number is another, rounded to one of these numbers of digits.
 * @type {(coarse: Answer | undefined, fine: Answer | undefined, digits?: number[]) => boolean}
 */
const isRounded = (coarse, fine, digits = [3, 4, 5, 6, 7, 8, 9]) =>
  digits.some((count) => coarse === Number(Number(fine).toPrecision(count)));

/** @type {(left: number[], right: number[]) => boolean} */
export const sameShape = (left, right) =>
  left.length === right.length && left.every((axis, index) => axis === right[index]);

const THOUSANDS = /^([-+]?[1-9]\d{0,2})((?:,\d{3})+)(?![\d,])/;

/**
 * Reads "0.5", "-2", "1e-3", "0,5", "1,000", "1/3", "inf" and "nan", and "None" as null; else undefined.
 * @param {string} typed
 * @returns {number | null | undefined}
 */
export function readNumber(typed) {
  const bare = typed.replaceAll("−", "-").replace(/\s+/g, "").toLowerCase();
  const plain = bare.replace(THOUSANDS, (_, first, groups) => first + groups.replaceAll(",", ""));
  if (plain === "none") return null;
  if (Object.hasOwn(SPECIAL_NUMBERS, plain)) return SPECIAL_NUMBERS[plain];
  const part = "[-+]?(?:\\d+[.,]?\\d*|[.,]\\d+)(?:e[-+]?\\d+)?";
  const parts = plain.match(new RegExp(`^(${part})(?:/(${part}))?$`));
  if (!parts) return undefined;
  const [top, bottom] = [parts[1], parts[2] ?? "1"].map((digits) => Number(digits.replace(",", ".")));
  return top / bottom;
}

/**
 * Reads "(2, 3)", "[2,3]", "2x3", "2×3", "2 3", "(3,)", "3" and "()"; undefined for anything else.
 * @param {string} typed
 */
export function readShape(typed) {
  const inner = typed.trim().replace(/^\((.*)\)$|^\[(.*)\]$/, "$1$2").trim().replace(/\s*,$/, "");
  if (!inner) return typed.trim() ? [] : undefined;
  const axes = inner.split(/\s*[,x×*]\s*|\s+/i);
  return axes.every((axis) => /^\d+$/.test(axis)) ? axes.map(Number) : undefined;
}

/** @type {Record<Question["asks"], [(typed: string) => Answer | undefined, (...pair: any[]) => boolean]>} */
const READERS = { number: [readNumber, isClose], shape: [readShape, sameShape], choice: [String, Object.is] };
/** @param {string} typed */
const briefly = (typed) => (typed.length > 30 ? `${typed.slice(0, 29)}…` : typed);

/**
 * A text as what is typed in answer to such a question is read.
 * @param {Question["asks"]} asks
 * @param {string} text
 */
export const readAs = (asks, text) => READERS[asks][0](text);

/**
 * What an answer is: {unread} where there is nothing to judge, else {right, hint}. Unless it is a known mistake, a
 * number may be rounded to two digits, and one that a sentence would round need not be exact to its third digit.
 * @param {Pick<Question, "asks" | "right" | "within" | "mistakes" | "hint"> & { shown?: string }} question
 * @param {string} typed
 * @returns {{ unread?: string, right?: boolean, hint?: string }}
 */
export function judge({ asks, right, within, mistakes = [], hint, shown = "" }, typed) {
  const [reader, same] = READERS[asks];
  if (!typed.trim()) return { unread: ANSWERS.nothing[asks === "choice" ? "chosen" : "typed"] };
  const answer = reader(typed);
  if (answer === undefined) return { unread: ANSWERS.unread[asks](briefly(typed)) };
  if (same(answer, right, within)) return { right: true };
  const known = mistakes.filter(([value, text]) => text && value !== undefined && same(answer, value, within));
  if (asks === "number" && isFine(shown) && !known.length) {
    if (isRounded(answer, right)) return { unread: ANSWERS.finer };
    if (isRounded(right, answer)) return { right: true };
  }
  if (asks === "number" && within === undefined && !known.length) {
    const isNear = brief(shown) !== shown && same(answer, right, FROM_THREE_DIGITS);
    if (isNear || (!Number.isInteger(right) && isRounded(answer, right, [2]))) return { right: true }; // 201 in full
  }
  /** @param {Mistake} mistake */
  const distance = ([value]) => Math.abs(Number(answer) - Number(value)) || 0; // 0 for what is not a number
  const [nearest] = known.toSorted((one, other) => distance(one) - distance(other));
  return { right: false, hint: /** @type {string} */ (nearest?.[1] ?? hint) };
}
