/** Numbers for people: the texts of arrays, which have six significant digits, with three. */

/**
 * As `brief` of text/formatting.py does: a page has only the one text, and sentences are put together from both.
 * @param {string} text
 */
export const brief = (text) => text.replace(/(\d+\.\d+)(e[-+]\d+)?/g, (whole, fraction, exponent = "") => {
  const digits = Math.max(3, fraction.indexOf("."));
  const rounded = Number((Number(fraction) * (1 + 1e-12)).toPrecision(digits)); // halfway means up
  return rounded < 10 || !exponent ? `${rounded}${exponent}` : whole;
});
