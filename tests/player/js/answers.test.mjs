import assert from "node:assert/strict";
import { test } from "node:test";

import {
  askChoice, isClose, isNumber, judge, numberIn, askNumber, readAs, readNumber, readShape, sameShape, askShape,
} from "../../../autodiff_edu/player/js/answers.js";
import { predictions } from "./traces.mjs";

test("numbers may be written in many ways", () => {
  const ways = {
    "0.5": 0.5, ".5": 0.5, "5.": 5, "+5": 5, "-2": -2, "−2": -2, "1e-3": 1e-3, "1E3": 1000, "3.33e-1": 0.333,
    "0,5": 0.5, ",5": 0.5, "0,333": 0.333, "1,2e4": 12000, "1,000": 1000, "12,000.0": 12000, "-1,234,567": -1234567,
    "1/3": 1 / 3, " 1 / 3 ": 1 / 3, "−1/-3": 1 / 3, "12/2": 6, "1,000/8": 125, "1/0": Infinity,
    inf: Infinity, "-inf": -Infinity, "−INF": -Infinity, NaN, none: null, " None ": null,
  };
  for (const [typed, number] of Object.entries(ways)) assert.ok(Object.is(readNumber(typed), number), typed);
});

test("what is not a number is not read as one", () => {
  const others = ["", "a lot", "(2, 3)", "1/2/3", "1//2", "9x", "NaN(3)", "__proto__", "constructor", "e5", ".", ","];
  for (const typed of [...others, "1,2,3", "0x10", "--1", "1e", "infinity", "<img src=x>"]) {
    assert.equal(readNumber(typed), undefined, typed);
  }
  assert.equal(readNumber("1,0000"), 1); // a comma, and no thousands
  assert.equal(readNumber("0,123,456"), undefined);
});

test("shapes may be written in many ways", () => {
  const ways = {
    "(2, 3)": [2, 3], "[2,3]": [2, 3], "2x3": [2, 3], "2X3": [2, 3], "2×3": [2, 3], "2*3": [2, 3], "2 3": [2, 3],
    "2, 3": [2, 3], "(3,)": [3], "3,": [3], " [3] ": [3], "(3)": [3], 3: [3], "()": [], "[ ]": [],
    "(2, 0, 10)": [2, 0, 10],
  };
  for (const [typed, shape] of Object.entries(ways)) assert.deepEqual(readShape(typed), shape, typed);
  for (const typed of ["", "  ", "(2, x)", "-3", "2.5", "(2, 3", "a", "2,,3"]) {
    assert.equal(readShape(typed), undefined, typed);
  }
});

test("a number is right to three significant digits, or within what is asked for", () => {
  const pairs = [
    [5.95, 6, false], [6.004, 6, true], [6.006, 6, false], [5.996, 6, true], [0.333, 1 / 3, true], [0.33, 1 / 3, false],
    [-6, 6, false], [0, 0, true], [1e-13, 0, true], [1e-11, 0, false], [1234, 1230, true], [1236, 1230, false],
    [1e-13, 1e-13, true], [0, 1e-13, false], [-5e-14, 5e-14, false], [5.13e-14, 5.132e-14, true],
    [999.4, 1000, true], [994, 1000, false], [-3.33, -10 / 3, true],
    [Infinity, Infinity, true], [-Infinity, Infinity, false], [NaN, NaN, true], [5, NaN, false], [NaN, 5, false],
    [null, null, true], [null, 0, false], [0, null, false],
  ];
  for (const [answer, wanted, right] of pairs) assert.equal(isClose(answer, wanted), right, `${answer} for ${wanted}`);
  assert.ok(isClose(1024, 1024, 0) && !isClose(1023, 1024, 0) && !isClose(1025, 1024, 0));
  assert.ok(isClose(119, 100, 0.2) && isClose(120, 100, 0.2) && !isClose(121, 100, 0.2) && isClose(-81, -100, 0.2));
  assert.ok(isClose(1 / 3, 1 / 3, 0));
});

test("an answer may be worked out from the three digits of a sentence", () => {
  const third = { asks: "number", right: 2 / 3, shown: "0.666667", mistakes: [[0.67, "That is w."]], hint: "Look." };
  assert.deepEqual(judge(third, "0.666"), { right: true }, "0.333 + 0.333");
  assert.deepEqual(judge(third, "0.65"), { right: false, hint: "Look." });
  assert.deepEqual(judge(third, "0.67"), { right: false, hint: "That is w." }, "a known mistake stays one");
  const whole = { asks: "number", right: 201, shown: "201", hint: "Look." };
  assert.deepEqual(judge(whole, "200"), { right: false, hint: "Look." }, "what is shown in full is asked for in full");
  const long = { ...whole, right: 1.87475, shown: "1.87475", mistakes: [[1.6, "That is w."]] };
  for (const right of ["1.9", "1.87", "1.875", "1.87475"]) assert.ok(judge(long, right).right, right);
  for (const wrong of ["1.8", "2", "1.85", "1.92", "-1.9"]) assert.ok(!judge(long, wrong).right, wrong);
  assert.ok(judge({ ...long, right: 0.0346, shown: "0.0346" }, "0.035").right && !judge(whole, "180").right);
  assert.deepEqual(judge({ ...third, within: 0 }, "0.666"), { right: false, hint: "Look." });
});

test("a number with more than six digits is wanted with all of them", () => {
  const near = askNumber({ data: 1.000001, text: "1.000001", shape: [] }, { hint: "Look." });
  assert.match(judge(near, "1").unread, /^Right so far:/);
  assert.deepEqual(judge({ ...near, mistakes: [[1, "That is x."]] }, "1"), { right: false, hint: "That is x." });
  assert.deepEqual(judge(near, "1.01"), { right: false, hint: "Look." });
  assert.deepEqual(judge(near, "1.000001"), { right: true });
  const tanh = askNumber({ data: 0.9999998, text: "0.9999998", shape: [] }, { hint: "Look." });
  for (const right of ["0.9999998", "0.99999977", "0.9999997749"]) assert.ok(judge(tanh, right).right, right);
  assert.match(judge(tanh, "1.00").unread, /^Right so far:/);
  for (const wrong of ["0.999999", "0.9999997", "1.0000002", "0.998"]) assert.equal(judge(tanh, wrong).right, false);
  assert.deepEqual(judge(askNumber({ data: 1.23457, text: "1.23457", shape: [] }, {}), "1.23"), { right: true });
  assert.ok(judge(askNumber({ data: 1234570, text: "1.23457e+06", shape: [] }, {}), "1230000").right);
});

test("shapes are the same if all axes are", () => {
  assert.ok(sameShape([], []) && sameShape([2, 3], [2, 3]));
  assert.ok(!sameShape([2, 3], [3, 2]) && !sameShape([2], [2, 1]) && !sameShape([2, 1], [2]));
});

test("a number is an array without axes that is finite or not, and known", () => {
  assert.equal(numberIn({ data: 2.5 }), 2.5);
  assert.deepEqual(["inf", "-inf", "nan"].map((data) => numberIn({ data })), [Infinity, -Infinity, NaN]);
  assert.ok(isNumber({ shape: [], data: 0 }) && isNumber({ shape: [], data: "nan" }));
  for (const data of ["1+2j", null, undefined, true]) assert.ok(!isNumber({ shape: [], data }), String(data));
  assert.ok(!isNumber({ shape: [1], data: [1] }));
});

test("a question knows how it is answered, and its right answer as a text", () => {
  const about = { hint: "Look." };
  const number = { asks: "number", right: 2, shown: "2", hint: "Look." };
  assert.deepEqual(askNumber({ data: 2, text: "2", shape: [] }, about), number);
  const shapes = [[], [3], [2, 3]].map((shape) => askShape({ shape }, about).shown);
  assert.deepEqual(shapes, ["()", "(3,)", "(2, 3)"]);
  const choice = { asks: "choice", options: ["a", "b"], right: "b", shown: "b", hint: "Look." };
  assert.deepEqual(askChoice(["a", "b"], "b", about), choice);
});

test("what is not an answer is told so, and costs no try", () => {
  const asked = { asks: "number", right: 1 };
  for (const typed of ["", "   "]) {
    assert.deepEqual(judge(asked, typed), { unread: "Nothing is typed yet. Type an answer, or press “Show me”." });
  }
  const choice = { asks: "choice", right: "a" };
  assert.deepEqual(judge(choice, ""), { unread: "Nothing is chosen yet. Choose an answer, or press “Show me”." });
  assert.deepEqual(judge(asked, "six"), { unread: "“six” is not a number. Try 0.5, -2 or 1/3." });
  const shape = { asks: "shape", right: [1] };
  assert.deepEqual(judge(shape, "one"), { unread: "“one” is not a shape. Try (2, 3), 2x3 or 3." });
  const long = `${"9".repeat(40)}x`;
  assert.equal(judge(asked, long).unread, `“${"9".repeat(29)}…” is not a number. Try 0.5, -2 or 1/3.`);
  assert.ok(judge(asked, `${"9".repeat(29)}x`).unread.startsWith(`“${"9".repeat(29)}x”`));
});

test("a wrong answer gets the hint of the known mistake that is nearest, else that of the question", () => {
  const numbers = [[65536, "bottom"], [65535, "tree"], [null, "path"], [Infinity, "no end"]];
  const mistakes = [...numbers, [7, ""], [undefined, "?"]];
  const asked = { asks: "number", right: 131071, within: 0.01, mistakes, hint: "Look." };
  const near = { 65535: "tree", 65536: "bottom", 65500: "tree", 65600: "bottom" };
  const said = { ...near, None: "path", inf: "no end", 7: "Look." };
  for (const [typed, hint] of Object.entries(said)) {
    assert.deepEqual(judge(asked, typed), { right: false, hint }, typed);
  }
  assert.deepEqual(judge(asked, "131,071"), { right: true });
  assert.deepEqual(judge({ ...asked, right: 65535 }, "65535"), { right: true }, "though a mistake is close to it");
  const exact = { asks: "number", right: 1024, within: 0, mistakes: [[512, "Twice that."]], hint: "Look." };
  assert.deepEqual(judge(exact, "512"), { right: false, hint: "Twice that." });
  assert.deepEqual(judge(exact, "513"), { right: false, hint: "Look." }, "a mistake is as exact as the answer");
  const shape = { asks: "shape", right: [2, 3], mistakes: [[[3, 2], "reversed"]] };
  assert.deepEqual(judge(shape, "3x2"), { right: false, hint: "reversed" });
  assert.deepEqual(judge(shape, "3"), { right: false, hint: undefined });
  assert.deepEqual(judge({ asks: "choice", right: "a", mistakes: [["b", "no"]] }, "b"), { right: false, hint: "no" });
});

test("the course's answers are read as Python writes them, and every hint is found", () => {
  assert.ok(predictions.length > 50);
  for (const { question, asks, right, hints, within } of predictions) {
    const mistakes = Object.entries(hints).map(([wrong, hint]) => [readAs(asks, wrong), hint]);
    const asked = { asks, right: readAs(asks, right), within, mistakes, hint: "" };
    assert.notEqual(asked.right, undefined, question);
    assert.deepEqual(judge(asked, right), { right: true }, question);
    for (const [wrong, hint] of Object.entries(hints)) {
      assert.deepEqual(judge(asked, wrong), { right: false, hint }, `${question} ${wrong}`);
    }
  }
});
