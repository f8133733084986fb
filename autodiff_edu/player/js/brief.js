/** Numbers for people: the texts of arrays, which have six significant digits, with three. */

/** Whether a number has more than six digits: it has them only where fewer would mislead. */
export const isFine = (/** @type {string} */ text) => /[1-9](\.?\d){5}[0.]*[1-9]/.test(text);
/**
 * As `brief` of text/formatting.py does: a page has only the one text, and sentences are put together from both.
 * @type {(text: string, least?: number) => string}
 */
export const brief = (text, least) => text.replace(/(\d+\.\d+)(e[-+]\d+)?/g, (whole, fraction, exponent = "") => {
  if (fraction.endsWith("0") || (!least && isFine(fraction))) return whole; // a final 0: it has been rounded already
  const digits = Math.max(least ?? 3, fraction.indexOf("."));
  const written = (Number(fraction) * (1 + (digits < 12 ? 1e-12 : 0))).toPrecision(digits); // halfway means up
  const rounded = Number(written);
  const isWhole = rounded === Number(fraction) || written.includes("e");
  if (exponent && rounded >= 10) return pad(Number(`${rounded}${exponent}`).toExponential(digits - 1));
  return `${isWhole ? rounded : written}${exponent}`;
});
/** With two digits in the exponent, as Python writes it. */
const pad = (/** @type {string} */ text) => text.replace(/([-+])(?=\d$)/, "$10");

const MOST_DIGITS = 15;
/**
 * A number with so many digits, as Python writes it: with an exponent from 10 ** `known` on.
 * @type {(number: number, digits: number, known?: number) => string}
 */
export const withDigits = (number, digits, known = Math.max(6, digits)) => {
  const isFar = number !== 0 && (Math.abs(number) < 1e-4 || Math.abs(number) >= 10 ** known);
  return brief(isFar ? pad(number.toExponential()) : String(number + 0), digits);
};

/**
 * How many digits summands need for their sum, which has `least` of them, or at least three, to be what is shown;
 * undefined where so many are enough, or where all that is left is rounding. If three are too few, there are at least
 * six, so that a third form is rare. As `count_digits_of_sum` of text/formatting.py does.
 * @type {(parts: number[], total: number, least: number) => number | undefined}
 */
export function digitsOfSum(parts, total, least) {
  if (!total || ![total, ...parts].every(Number.isFinite)) return undefined;
  const shown = (/** @type {number} */ number, /** @type {number} */ digits) =>
    Number(withDigits(number, digits, MOST_DIGITS));
  const text = String(total);
  const few = isFine(text) ? text.replace(/e.*|\D/g, "").replace(/^0+/, "").length : least;
  for (const wanted of new Set([few, 3])) {
    for (let digits = few; digits <= MOST_DIGITS; digits = Math.max(6, digits + 1)) {
      const sum = parts.reduce((known, part) => known + shown(part, digits), 0);
      const rounded = Number(sum.toPrecision(Math.max(6, wanted)));
      if (shown(rounded, wanted) === shown(total, wanted)) return digits > least ? digits : undefined;
    }
  }
  return undefined;
}
