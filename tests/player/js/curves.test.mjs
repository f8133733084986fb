import assert from "node:assert/strict";
import { test } from "node:test";

import {
  formatHeight, formatPower, formatRange, readCotangents, readCurves, stairsOf, trendOf,
} from "../../../autodiff_edu/player/js/curves.js";
import { dampedStep } from "../../../autodiff_edu/player/js/newton-damping.js";
import { readHistory } from "../../../autodiff_edu/player/js/history.js";
import { dampings, others, traces } from "./traces.mjs";

const curvesOf = ({ document }) => readCurves(document, readHistory(document));

test("the targets come first, then what is assigned to, then the rest", () => {
  const curves = curvesOf(traces.logistic);
  assert.deepEqual(curves.map(({ name }) => name), ["loss", "w", "b", "p"]);
  assert.equal(curves.map(trendOf).join(" "),
    "loss falls from 0.6931 to 0.5906 over 3 values. the norm of w rises from 0 to 0.4435 over 4 values. " +
    "b falls from 0 to -0.01145 over 4 values. the norm of p rises from 1 to 1.059 over 3 values.");
  assert.deepEqual(curves.map(({ points }) => points[0].scalar), [true, false, true, false]);
  for (const { points, low, high, heights } of curves) {
    assert.deepEqual(points.map(({ step }) => step), points.map(({ step }) => step).toSorted((a, b) => a - b));
    assert.deepEqual([low, high], [Math.min(...heights), Math.max(...heights)]);
  }
});

test("the ends of a curve have three digits, and more where three do not tell them apart", () => {
  assert.deepEqual(formatRange({ low: 0.0386512, high: 0.195111 }), ["0.0387", "0.195"]);
  assert.deepEqual(formatRange({ low: 1.414213, high: 1.414218 }), ["1.41421", "1.41422"]);
  assert.deepEqual(formatRange({ low: -1e-148, high: 2e9 }), ["-1e-148", "2000000000"]);
});

test("where nothing changes there is no curve", () => {
  for (const name of ["diamond", "forward_mode", "two_tapes"]) assert.deepEqual(curvesOf(traces[name]), [], name);
});

test("a curve begins where its name does: with plain numbers, or as a second name of another tensor", () => {
  const array = (data) => ({ shape: [], data, text: String(data) });
  const tensors = ["p₂", "p₃", "p₄"].map((name) => ({ name, kind: "computed" }));
  const changes = [1, 0.5, 0.25].map((data, k) => [{ step: k + 3, array: array(data) }]);
  const begins = [{ name: "p", step: 1, array: array(2) }, { name: "q", step: 1, array: array(7) }];
  const [curve, ...more] = readCurves({ steps: [], tensors, tapes: [], begins }, { changes });
  assert.deepEqual([trendOf(curve), curve.points[0].step, more], ["p falls from 2 to 0.25 over 4 values.", 1, []]);
});

test("after two turns of a training, its target has a curve", () => {
  const scalar = (step, data) => ({ step, array: { shape: [], data, text: String(data) } });
  const passes = [0, 1].map((tensor) => ({ kind: "seed", tensor }));
  const tensors = ["loss", "loss₂", "w"].map((name, k) => ({ name, kind: k < 2 ? "computed" : "variable" }));
  const changes = [[scalar(1, 8)], [scalar(3, 2)], [scalar(0, 0), scalar(2, 5), scalar(4, 6)]];
  const namesOf = (steps) => readCurves({ steps, tensors, tapes: [] }, { changes }).map(({ name }) => name);
  assert.deepEqual(namesOf([...passes, { kind: "assign", tensor: 2 }]), ["loss", "w"]);
  assert.deepEqual(namesOf(passes), ["w"]);
});

test("unnamed targets are one curve, and names with numbers of the user's are not joined", () => {
  const tensors = ["t1", "t2", "t3", "w", "v₂", "v₂"].map((name, k) =>
    ({ name, kind: k < 3 ? "computed" : k === 5 ? "constant" : "variable", ...(k < 3 && { unnamed: true }) }));
  const steps = [0, 1, 2].map((tensor) => ({ kind: "seed", tensor }));
  const scalar = (step, data) => ({ step, array: { shape: [], data, text: String(data) } });
  const rising = [scalar(0, 1), scalar(1, 2), scalar(2, 3)];
  const changes = [[scalar(0, 5)], [scalar(1, 3)], [scalar(2, 4)], rising, rising, rising];
  const curves = readCurves({ steps, tensors, tapes: [] }, { changes });
  assert.deepEqual(curves.map(({ name }) => name), ["the target", "w", "v₂"]);
  assert.equal(trendOf(curves[0]), "the target falls from 5 to 4 over 3 values.");
  const named = tensors.map((tensor) => ({ ...tensor, unnamed: undefined }));
  const apart = readCurves({ steps, tensors: named, tapes: [] }, { changes });
  assert.deepEqual(apart.map(({ name }) => name), ["w", "v₂"]);
});

test("the tensors that get a variable's name one after the other are one curve", () => {
  const tensors = ["w", "w₂", "w₃", "v", "v₂"].map((name) => ({ name, kind: "variable" }));
  const steps = [{ kind: "assign", tensor: 1, from: 0 }, { kind: "assign", tensor: 2, from: 1 }];
  const scalar = (step, data) => [{ step, array: { shape: [], data, text: String(data) } }];
  const changes = tensors.map((_, k) => scalar(k, k));
  assert.deepEqual(readCurves({ steps, tensors, tapes: [] }, { changes }).map(trendOf), [
    "w rises from 0 to 2 over 3 values.",
  ]);
});

test("a value holds until the next one, and where it is not finite there is a gap", () => {
  const points = [[1, 4], [3, Infinity], [5, 0], [6, 2]].map(([step, height]) => ({ step, height }));
  assert.equal(stairsOf({ points, low: 0, high: 4 }, 9), "M1 0.000H3M5 1.000H6V0.500H9");
});

test("the height of an array is its norm", () => {
  const at = (step, array) => ({ step, array: { text: "", ...array } });
  const changes = [[at(0, { shape: [2], data: [3, 4] }), at(1, { shape: [900], data: null, norm: 7 }),
    at(2, { shape: [2], data: ["nan", 1] }), at(3, { shape: [2, 1], data: [[6], [8]] })]];
  const tensors = [{ name: "w", kind: "variable" }];
  const [{ points, heights }] = readCurves({ steps: [], tensors, tapes: [] }, { changes });
  assert.deepEqual(points.map(({ height }) => height), [5, 7, NaN, 10]);
  assert.deepEqual(heights, [5, 7, 10]);
  assert.deepEqual([formatHeight(0.693147), formatHeight(12345.6), formatHeight(2)], ["0.6931", "12350", "2"]);
});

test("a cotangent is as large as its pass has made it, by its exponent, and what is assigned to comes first", () => {
  const { document } = others.training;
  const curves = readCotangents(document, readHistory(document));
  assert.deepEqual(curves.slice(0, 4).map(({ name }) => name).sort(), ["W1", "W2", "b1", "b2"]);
  for (const { name, points } of curves.slice(0, 4)) {
    const tensor = document.tensors.findIndex((one) => one.name === name);
    const parts = document.steps.filter((step) => step.kind === "accumulate" && step.tensor === tensor);
    const sums = parts.filter(({ count, of }) => count === of).map(({ after }) => Math.hypot(...after.data.flat()));
    assert.equal(points.length, sums.length);
    points.forEach(({ height, step }, k) => {
      assert.ok(Math.abs(height - Math.log10(sums[k])) < 1e-9, name);
      assert.equal(document.steps[step].kind, "accumulate");
    });
  }
  const { document: loop } = traces.loop;
  const [{ name, points, low, high }] = readCotangents(loop, readHistory(loop));
  assert.equal(name, "y");
  assert.ok(points.length > 5 && low < high);
});

test("what is 0 or not finite is a gap on the logarithmic scale, and tangents are not cotangents", () => {
  const tensors = [{ name: "w", kind: "variable" }, { name: "c", kind: "constant" }];
  const data = [1e-148, 0, "nan", 100, 1];
  const totals = () => data.map((item, step) => ({ step, array: { shape: [], data: item, text: String(item) } }));
  const [curve, ...more] = readCotangents({ steps: [], tensors }, { totals });
  assert.deepEqual(more, []);
  assert.deepEqual([curve.low, curve.high].map(Math.round), [-148, 2]);
  assert.deepEqual([formatPower(curve.low), formatPower(curve.high)], ["1e-148", "100"]);
  assert.equal(stairsOf(curve, 5), "M0 1.000H1M3 0.000H4V0.013H5");
  const { document } = traces.forward_mode;
  assert.deepEqual(readCotangents(document, readHistory(document)), []);
});

test("sizes of many magnitudes have a logarithmic scale", () => {
  const scalar = (step, data) => ({ step, array: { shape: [], data, text: String(data) } });
  const tensors = ["residual", "y"].map((name) => ({ name, kind: "variable" }));
  const changes = [[-1, 0.1, 1e-3, 0, 1e-7], [-1, 0.1, 1e-3, 0, 1]].map((all) => all.map((data, k) => scalar(k, data)));
  const [curve, other] = readCurves({ steps: [], tensors, tapes: [] }, { changes });
  assert.deepEqual([curve.low, curve.high, formatRange(curve)], [-7, 0, ["1e-7", "1, log"]]);
  assert.equal(stairsOf(curve, 5), "M0 0.000H1V0.143H2V0.429H3M4 1.000H5");
  assert.match(trendOf(curve), /^The size of residual, on a logarithmic scale, starts at 1 and ends at 1e-7, over 4/);
  assert.deepEqual([other.low, other.high], [-1, 1]);
});

test("what comes back to the tensor that a name began as is not in the name's curve", () => {
  const total = (step, data) => ({ step, array: { shape: [], data, text: String(data) } });
  const tensors = ["a", ..."₂₃₄₅₆"].map((name, k) => ({ name: k ? `x${name}` : name, kind: "computed" }));
  const begins = [{ name: "x", tensor: 0, ...total(0, 2) }];
  const totals = (tensor) => [total(9 - tensor, tensor ? 10 ** -tensor : 0.35)];
  const [curve] = readCotangents({ steps: [], tensors, begins }, { totals });
  assert.deepEqual([curve.name, curve.points.length, curve.low, curve.high], ["x", 5, -5, -1]);
});

test("a damped step is the solution that NumPy finds", () => {
  assert.ok(dampings.length > 20);
  for (const { gradient, hessian, lambda, step } of dampings) {
    const found = dampedStep(gradient, hessian, lambda);
    found.forEach((part, k) => assert.ok(Math.abs(part - step[k]) <= 1e-9 * Math.max(1, ...step.map(Math.abs))));
  }
  assert.equal(dampedStep([1, 1], [[-2, 0], [0, 3]], 2), null, "where the matrix is singular there is none");
  assert.equal(dampedStep([1, 1], [[0, 0], [0, 0]], 0), null);
  assert.equal(dampedStep([Infinity, 1], [[1, 0], [0, 1]], 1), null);
});

test("a small part of Newton's step is not rounding alone where the slider is at 0 or near it", () => {
  const [gradient, hessian] = [[-21.6, -5.0], [[932.75, -429.78], [-429.78, 200]]];
  const exact = dampedStep(gradient, hessian, 0);
  const rounded = gradient.map((part) => Number(part.toPrecision(2)));
  for (const lambda of [0, 1e-3, 1, 1e3, 1e6]) {
    const [wanted, found] = [gradient, rounded].map((each) => dampedStep(each, hessian, lambda, exact));
    found.forEach((part, k) => assert.ok(Math.abs(part / wanted[k] - 1) < 1e-9));
    dampedStep(gradient, hessian, lambda).forEach((part, k) => assert.ok(Math.abs(part / wanted[k] - 1) < 1e-9));
  }
});
