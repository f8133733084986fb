import assert from "node:assert/strict";
import { test } from "node:test";

import "./elements.mjs";
import {
  drawBarName, drawDotName, drawName, drawTree, equation, result,
} from "../../../autodiff_edu/player/js/formula.js";
import * as SHARED from "../../../autodiff_edu/text/shared.json";

const NAMES = ["x", "w"];
const inNames = (leaf) => ({ node: leaf === "g" ? drawBarName("y") : drawName(NAMES[leaf] ?? leaf) });
const plain = (node) => node.textContent.replace(/\s/g, "");
const written = (tree, leaf = inNames) => plain(drawTree(tree, leaf));
/** With numbers in place of x and w. */
const counted = (tree, ...numbers) => written(tree, (leaf) => ({ number: numbers[leaf] }));

test("parentheses are where they are needed, and only there", () => {
  const trees = [
    [["*", ["+", 0, 1], 0], "(x+w)·x"], [["+", ["*", 0, 1], 0], "x·w+x"], [["+", 0, ["+", 1, 0]], "x+(w+x)"],
    [["+", ["+", 0, 1], 0], "x+w+x"], [["-", 0, ["-", 1, 0]], "x−(w−x)"], [["-", ["-", 0, 1], 0], "x−w−x"],
    [["*", 0, ["*", 1, 0]], "x·(w·x)"], [["*", ["*", 0, 1], 0], "x·w·x"], [["*", 0, ["+", 1, 0]], "x·(w+x)"],
    [["*", 0, ["number", 1.000001]], "x·1.000001"], [["*", 0, ["number", 0.333333]], "x·0.333333"],
    [["**", ["neg", 0], ["number", 2]], "(−x)2"], [["neg", ["**", 0, ["number", 2]]], "−x2"],
    [["neg", ["+", 0, 1]], "−(x+w)"], [["neg", ["*", 0, 1]], "−x·w"], [["*", ["neg", 0], 1], "(−x)·w"],
    [["+", ["neg", 0], 1], "−x+w"], [["+", 0, ["neg", 1]], "x+(−w)"], [["-", 0, ["*", 1, 0]], "x−w·x"],
    [["/", ["+", 0, 1], ["-", 0, 1]], "x+wx−w"], [["*", ["/", 0, 1], 0], "xw·x"], [["**", ["/", 0, 1], 0], "(xw)x"],
    [["**", ["*", 0, 1], 0], "(x·w)x"], [["**", 0, ["+", 0, 1]], "xx+w"], [["@", 0, ["+", 0, 1]], "x\u2062(x+w)"],
    [["/", 0, ["+", ["number", 1], ["==", 0, 1]]], "x1+[x=w]"], [["*", ["<=", 0, 1], 0], "[x≤w]·x"],
    [[">", ["+", 0, 1], 0], "x+w>x"], [["&", [">", 0, 1], ["!=", 0, 1]], "x>w∧x≠w"],
    [["index", ["+", 0, 1], "1:"], "(x+w)[1:]"], [["transpose", ["@", 0, 1]], "(x\u2062w)⊤"],
    [["not", ["+", 0, 1]], "¬(x+w)"],
  ];
  for (const [tree, text] of trees) assert.equal(written(tree), text, JSON.stringify(tree));
});

test("functions have parentheses unless what follows is plain", () => {
  const call = (...rest) => ["call", ...rest];
  const trees = [
    [call("sin", 0), "sinx"], [call("sin", ["+", 0, 1]), "sin(x+w)"], [call("sin", ["*", 0, 1]), "sin(x·w)"],
    [call("sin", ["**", 0, ["number", 2]]), "sinx2"], [call("exp", 0), "exp(x)"],
    [call("maximum", 0, 1), "maximum(x,w)"],
    [["*", call("sin", 0), 1], "sin(x)·w"], [["*", 1, call("sin", 0)], "w·sinx"], [["+", call("cos", 0), 1], "cosx+w"],
    [["**", call("sin", 0), ["number", 2]], "(sinx)2"], [call("log", call("sin", 0)), "log(sinx)"],
    [call("sqrt", ["+", 0, 1]), "x+w"], [call("cbrt", 0), "x3"], [call("absolute", ["-", 0, 1]), "|x−w|"],
    [call("fabs", 0), "|x|"], [call("conjugate", ["+", 0, 1]), "(x+w)*"],
    [["sum", ["+", 0, 1], "axis 0"], "∑axis 0(x+w)".replace(" ", "")], [["sum", ["*", 0, 1]], "∑x·w"],
    [["where", [">", 0, 1], 0, 1], "{xwherex>wwelsewhere"], [["code", "np.roll(x)"], "np.roll(x)"],
    [["name", "pi"], "pi"],
  ];
  for (const [tree, text] of trees) assert.equal(written(tree), text, JSON.stringify(tree));
});

test("fractions, roots and powers are drawn as such", () => {
  const fraction = drawTree(["/", 0, ["**", 1, ["number", 3]]], inNames);
  assert.equal(fraction.tag, "mfrac");
  assert.deepEqual(fraction.children.map(plain), ["x", "w3"]);
  assert.equal(fraction.children[1].tag, "msup");
  assert.equal(fraction.namespaceURI, "http://www.w3.org/1998/Math/MathML");
  assert.equal(drawTree(["call", "sqrt", 0], inNames).tag, "msqrt");
  assert.equal(drawTree(["call", "cbrt", 0], inNames).tag, "mroot");
  const low = drawTree(["**", 0, ["number", 2]], inNames).children[0];
  assert.deepEqual([low.tag, low.attributes.height], ["mpadded", "0.4em"], "an exponent stands beside its base");
  const tall = drawTree(["**", ["/", 0, 1], ["number", 2]], inNames).children[0];
  assert.equal(tall.children[0].attributes.stretchy, "true", "and parentheses grow with what is tall");
  const small = drawTree(["**", ["+", 0, 1], ["number", 2]], inNames).children[0].children[0];
  assert.equal(small.children[0].attributes.stretchy, "false");
});

test("numbers have the parentheses that their signs and exponents need", () => {
  const trees = [
    [["*", 0, 1], [3, "-2"], "3·(−2)"], [["*", 0, 1], ["-3", 2], "(−3)·2"], [["+", 0, 1], ["-3", "-2"], "−3+(−2)"],
    [["**", 0, ["number", 2]], ["-3"], "(−3)2"], [["**", 0, ["number", 2]], ["1e-11"], "(1e-11)2"],
    [["*", 0, 1], ["1.23e-11", "2"], "1.23e-11·2"], [["*", 0, 1], ["1+2j", "2"], "(1+2j)·2"],
    [["**", 0, ["number", 2]], ["nan"], "nan2"], [["*", 0, 1], ["-inf", "0.5"], "(−inf)·0.5"],
    [["call", "sin", 0], ["2"], "sin2"], [["call", "sin", 0], ["-2"], "sin(−2)"], [["neg", 0], ["-2"], "−(−2)"],
    [["number", 0.123457], [], "0.123457"], [["number", -2], [], "−2"], [["number", 1e-12], [], "1e-12"],
  ];
  for (const [tree, numbers, text] of trees) {
    assert.equal(counted(tree, ...numbers.map(String)), text, JSON.stringify([tree, numbers]));
  }
});

test("every operator that Python draws is drawn, as tightly as Python binds it", () => {
  const operators = Object.entries(SHARED.operators).filter(([, { drawn: sign }]) => sign);
  assert.ok(operators.length > 10);
  for (const [operator, { drawn: sign, binds }] of operators) {
    assert.equal(written([operator, 0, 1]), `x${sign}w`);
    for (const [other, { drawn: inner, binds: loose }] of operators) {
      const left = written([operator, [other, 0, 1], 0]);
      const compared = loose === 1 && binds > 2;
      const [open, close] = loose >= binds ? ["", ""] : compared ? ["[", "]"] : ["(", ")"];
      assert.equal(left, `${open}x${inner}w${close}${sign}x`, `${other} in ${operator}`);
    }
  }
});

test("a cotangent has a bar, a tangent a dot, and long names are cut", () => {
  assert.deepEqual([plain(drawBarName("y")), drawBarName("y").attributes.class], ["y¯", "bar"]);
  assert.deepEqual([plain(drawDotName("y")), drawDotName("y").attributes.class], ["y˙", "dot"]);
  const long = "n".repeat(100);
  assert.equal(plain(drawName(long)), `${"n".repeat(SHARED.longest_value - 1)}…`);
  assert.equal(written(["*", "g", 0]), "y¯·x");
});

test("an equation goes on with signs, and its result is a number or a text", () => {
  const line = equation(drawName("y"), ["=", drawTree(["*", 0, 1], inNames)], ["=", result("-6", 20)]);
  assert.equal(plain(line), "y=x·w=−6");
  assert.equal(line.tag, "math");
  assert.deepEqual(["2.5", "[1 2]", "inf"].map((text) => result(text, 20).tag), ["mn", "mtext", "mn"]);
  assert.equal(plain(result(`[${"1 ".repeat(40)}]`, 20)).length <= 20, true);
  assert.equal(result("[1 2 3 4 5 6 7 8 9 10 11 12 13]", 99).attributes.class, "long");
});
