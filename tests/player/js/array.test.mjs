import assert from "node:assert/strict";
import { test } from "node:test";

import {
  formatBriefly, colour, isOff, isTiny, largestOf, limitOf, magnitude, mixColour, piecesOf, formatItem, shade,
} from "../../../autodiff_edu/player/js/array.js";
import { nonfiniteIn, readNonfinite } from "../../../autodiff_edu/player/js/nonfinite.js";
import { cellsOf, hasCells, rowsOf } from "../../../autodiff_edu/player/js/thumbnails.js";
import { traces } from "./traces.mjs";

const count = (...shape) => {
  let next = 0;
  const fill = ([length, ...rest]) => (length === undefined ? next++ : Array.from({ length }, () => fill(rest)));
  return { shape, data: fill(shape) };
};

test("the magnitude of a complex number, an infinity, a NaN and a truth value", () => {
  const pairs = [
    [-2.5, -2.5], ["3+4j", 5], ["-3-4j", 5], ["1e-3+0j", 1e-3], ["inf", Infinity], ["-inf", -Infinity],
    ["inf-1j", Infinity], ["1+infj", Infinity], [true, 1], [false, 0],
  ];
  for (const [item, size] of pairs) assert.equal(magnitude(item), size, String(item));
  for (const item of ["nan", "nan+1j"]) assert.ok(Number.isNaN(magnitude(item)), item);
});

test("numbers in narrow cells are short, with a minus sign", () => {
  const pairs = [
    [0.123456, "0.1235"], [-2, "−2"], [1234567, "1235000"],
    [-1e9, "−1e9"], [1.25e7, "1.25e7"], [99999, "99999"], [-0.5, "−0.5"], [0.000012345, "1.234e-5"],
    ["nan", "nan"], ["-inf", "−inf"], [true, "True"], [false, "False"], [0, "0"],
  ];
  for (const [item, text] of pairs) assert.equal(formatBriefly(item, 4), text, String(item));
  assert.deepEqual([-0.998, 1, 12.04].map((item) => formatBriefly(item, 2)), ["−1.0", "1", "12"]);
  assert.equal(formatItem(-0.123456789), "−0.123456789");
  assert.deepEqual([0, 1e-4, 9e-5, -9e-5, -1].map(isTiny), [false, false, true, true, false]);
});

test("colours go from the middle to one of the ends", () => {
  assert.equal(colour(0, 4), "background: color-mix(in oklab, var(--high) 0%, var(--middle))");
  assert.equal(colour(-1, 4), "background: color-mix(in oklab, var(--low) 25%, var(--middle))");
  assert.equal(colour(8, 4), "background: color-mix(in oklab, var(--high) 100%, var(--middle))");
  assert.equal(colour(3, 0), "background: color-mix(in oklab, var(--high) 0%, var(--middle))");
  assert.deepEqual([NaN, Infinity, -Infinity].map((value) => colour(value, 4)), [null, null, null]);
  assert.equal(mixColour(-0.5, 0.256), "color-mix(in oklab, var(--low) 26%, var(--middle))");
  assert.equal(limitOf({ data: [1, [-7, "inf"]] }, null, { data: null }, { data: "3+4j" }), 7);
  assert.equal(limitOf({ data: ["nan"] }), 0);
  const masks = [[2, -1e9], [0, -1e9], [2e4, 1e9], [0.5, 3e6, 6.1e6], [1, 1e6], [-1e9, 2, -1e9 + 3]];
  assert.deepEqual(masks.map((data) => limitOf({ data })), [2, 1e9, 1e9, 6.1e6, 1e6, 2]);
  assert.equal(limitOf({ data: [2, 1e9] }, { data: [1e9, 0] }), 2);
  assert.equal(largestOf({ data: [2, -1e9] }), 1e9);
  assert.deepEqual([colour(-1e9, 2), isOff(-1e9, 2), isOff(2, 2), isOff(5, 0)], [null, true, false, false]);
});

test("an array of any number of axes is cut into pieces of rows", () => {
  const labels = (array) => piecesOf(array).map(({ label }) => label);
  const shapes = (array) => piecesOf(array).map(({ rows }) => rows.map((row) => row.length));
  const [one] = piecesOf(count());
  assert.deepEqual([one.rows, one.label], [[[0]], ""]);
  assert.deepEqual([shapes(count(40)), labels(count(40))], [[[40]], [""]], "a vector is one row");
  assert.deepEqual(piecesOf(count(40))[0].names(0, 35), [35]);
  assert.deepEqual(shapes(count(2, 3)), [[3, 3]]);
  assert.deepEqual(labels(count(2, 2, 3, 2)), ["[0, 0, :, :]", "[0, 1, :, :]", "[1, 0, :, :]", "[1, 1, :, :]"]);
  assert.deepEqual(piecesOf(count(2, 2, 3, 2))[2].names(1, 1), [1, 0, 1, 1]);
  assert.deepEqual(labels(count(9, 2, 2)), ["all axes but the last flattened into 18 rows"]);
  assert.deepEqual(piecesOf(count(9, 2, 2))[0].names(5, 1), [2, 1, 1]);
  assert.deepEqual(piecesOf({ ...count(5, 4), every: [4, 3] })[0].names(2, 3), [8, 9], "of an array that was thinned");
  assert.deepEqual(piecesOf({ ...count(20), every: [5] })[0].names(0, 18), [90]);
});

test("a thumbnail takes cells evenly", () => {
  assert.deepEqual(cellsOf(count(2, 3)), [[0, 1, 2], [3, 4, 5]]);
  assert.deepEqual(cellsOf(count(3)), [[0, 1, 2]]);
  assert.deepEqual(cellsOf(count(40)), [count(40).data], "a vector is one row");
  assert.deepEqual(cellsOf(count(96)), [count(48).data.map((at) => 2 * at)]);
  const large = cellsOf(count(100, 32));
  assert.deepEqual([large.length, large[0].length], [8, 16]);
  assert.deepEqual([large[0][1], large[1][0], large[7][15]], [2, 12 * 32, 87 * 32 + 30]);
  assert.deepEqual([count(), count(0, 3), count(2), { shape: [2], data: null }, null].map(hasCells).map(Boolean),
    [false, false, true, false, false]);
});

test("shades go with the magnitude, and only zero looks like zero", () => {
  const portion = (value) => Number(shade(value, 100).match(/(\d+)%/)[1]);
  assert.deepEqual([0, 1e-6, 12.5, 13, 50, 100, 200].map(portion), [0, 13, 13, 25, 50, 100, 100]);
  assert.ok(shade(-100, 100).includes("--low") && shade(100, 100).includes("--high"));
  assert.ok(shade(5, 0).includes(" 0%"));
});

test("NaN and infinities are found in texts, and not in names or complex units", () => {
  const odd = { "[1 nan]": "nan", inf: "inf", "[-inf 2]": "-inf", "1+infj": "inf" };
  const texts = { ...odd, info: null, nano: null, "1.5": null };
  for (const [text, kind] of Object.entries(texts)) assert.equal(nonfiniteIn(text), kind, text);
  assert.equal(nonfiniteIn(undefined), null);
  assert.equal(nonfiniteIn("1+nanj"), "nan");
});

test("births and what they spoil", () => {
  const { document } = traces.divided;
  const { births, lines, last } = readNonfinite(document);
  const born = document.steps.findIndex((step) => step.born);
  assert.deepEqual(births, [{ step: born, kind: "nan", where: document.steps[born].where }]);
  assert.deepEqual(lines, births);
  assert.ok(last > born && last < document.steps.length);
  const clean = readNonfinite(traces.diamond.document);
  assert.deepEqual(clean, { births: [], lines: [], last: -1 });
  const [where, elsewhere] = [{ code: 0, line: 1 }, { code: 0, line: 2 }];
  const steps = [where, where, null, elsewhere].map((place) => ({ kind: "pause", born: "inf", where: place }));
  assert.deepEqual(readNonfinite({ steps, tensors: [], entries: [] }).lines.map(({ step }) => step), [0, 3]);
});

test("a small array is written in rows, and of three axes each matrix in a line", () => {
  assert.deepEqual(rowsOf("[[6 1 0] [1 12.3456 0] [0 0 18]]"), ["6    1  0", "1 12.3  0", "0    0 18"]);
  assert.deepEqual(rowsOf("[1 2 3 4 5]"), ["1 2 3 4 5"]);
  assert.deepEqual(rowsOf("[[[1 2] [3 4] [5 6]] [[7 8] [9 10] [11 12]]]"), [
    " 1  2    3  4    5  6", " 7  8    9 10   11 12",
  ]);
});
