/** Arrays that are written out in the NumPy program: more than a line of numbers is folded to its shape. */

const [LONGEST_LINE, LONGEST_ARRAY] = [48, 24];
/** An array in brackets: lists in lists of numbers, which hold no other brackets. */
const WRITTEN = /(?<=np\.array\()\[[^()]*\](?=[,)])/g;

/**
 * The shape of lists in lists: at each depth, how many items each list has.
 * @param {string} text
 */
function shapeOf(text) {
  /** @type {[number[], number[]]} */
  const [lists, commas] = [[], []]; // by depth
  let depth = -1;
  for (const letter of text) {
    if (letter === "[") lists[++depth] = (lists[depth] ?? 0) + 1;
    else if (letter === "]") depth--;
    else if (letter === ",") commas[depth] = (commas[depth] ?? 0) + 1;
  }
  const shape = lists.map((count, level) => ((commas[level] ?? 0) + count) / count);
  return shape.length > 1 ? shape.join("×") : `length ${shape[0]}`;
}

/**
 * A line of the program as it is shown: `Q = np.array(…)  # 4×3` in place of many digits.
 * @param {string} line
 */
export function foldArrays(line) {
  const [code, remark] = line.split(/ {2}# (.*)/);
  if (code.length <= LONGEST_LINE) return line;
  /** @type {string[]} */
  const shapes = [];
  const folded = code.replace(WRITTEN, (text) => {
    if (text.length <= LONGEST_ARRAY) return text;
    shapes.push(shapeOf(text));
    return "…";
  });
  return shapes.length ? `${folded}  # ${[...shapes, remark].filter(Boolean).join(", ")}` : line;
}
