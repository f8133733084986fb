import assert from "node:assert/strict";
import { test } from "node:test";

import { judge } from "../../../autodiff_edu/player/js/answers.js";
import { readHistory } from "../../../autodiff_edu/player/js/history.js";
import { questionsOf } from "../../../autodiff_edu/player/js/questions/index.js";
import { STRINGS } from "../../../autodiff_edu/player/js/strings.js";
import { drills, others, traces } from "./traces.mjs";

/** What is asked at which step, in order. */
function askedOf({ document, layout }) {
  const questions = questionsOf(document, readHistory(document), layout.groups.length > 0);
  return [...document.steps.keys()].flatMap((step) => {
    const question = questions.at(step);
    return question ? [{ step, ...question }] : [];
  });
}

const KINDS = {
  "tangents are pushed": "pushed", number: "value", "What shape will": "shape", "do?": "recorded", kept: "kept",
  "How many": "count", "pass starts at": "fate", "pulled back next": "next", sends: "sum", "the gradient of": "cut",
};
const kindOf = ({ prompt }) => Object.entries(KINDS).find(([text]) => prompt.includes(text))[1];

for (const name of ["diamond", "broadcasting", "network", "two_tapes", "stopped", "two_passes"]) {
  test(`the kinds of question about ${name} alternate`, () => {
    const { document } = traces[name];
    const asked = askedOf(traces[name]);
    const kinds = asked.map(kindOf);
    asked.slice(2).forEach(({ step }, k) => {
      const { count, of } = document.steps[document.steps[step].kind === "record" ? step + 1 : step];
      assert.ok(new Set(kinds.slice(k, k + 3)).size > 1 || (count === of && of > 1) || count === 2, kinds.join());
    });
    assert.ok(new Set(kinds).size >= 4);
    const backward = asked.filter(({ step }) => document.steps[step].pass !== undefined).length;
    assert.ok(backward > 0 && backward < asked.length);
    assert.ok(asked.length >= 5);
    assert.ok(!asked.some(({ step }) => step === 0), "the first step is on show already");
  });
}

test("0 answers what is 0 up to rounding, and no other tiny number", () => {
  const asked = askedOf(others.tiny).filter(({ asks, shown }) => asks === "number" && Math.abs(Number(shown)) < 1e-6);
  const isZero = ({ step }) => others.tiny.document.steps[step].text.includes("(0 up to rounding)");
  assert.ok(asked.some(isZero) && !asked.every(isZero), asked.map(({ prompt, shown }) => prompt + shown).join());
  for (const question of asked) assert.equal(judge(question, "0").right, isZero(question), question.prompt);
});

for (const [name, trace] of Object.entries({ ...traces, ...others })) {
  test(`of the questions about ${name}, each takes its right answer, and no mistake is right`, () => {
    for (const question of askedOf(trace)) {
      const { asks, right, shown, options, mistakes = [] } = question;
      const typed = asks === "number" ? String(right ?? "None") : shown;
      assert.deepEqual(judge(question, typed), { right: true }, question.prompt);
      assert.ok(judge(question, asks === "number" && typeof right === "number" ? shown : typed).right, shown);
      if (options) assert.ok(options.includes(right) && new Set(options).size === options.length, question.prompt);
      for (const [wrong, hint] of mistakes) {
        if (!hint || wrong === undefined || Number.isNaN(wrong)) continue;
        const text = Array.isArray(wrong) ? `(${wrong})` : String(wrong ?? "None").replace("Infinity", "inf");
        const said = judge(question, text);
        assert.ok(said.right || said.hint.length > 0, `${question.prompt} ${text}`);
      }
      assert.doesNotMatch(JSON.stringify(question), /undefined|NaN of|\[object/);
    }
  });
}

const numbers = (trace, kind, wanted = {}) => [...trace.document.steps.keys()].filter((step) => {
  const found = trace.document.steps[step];
  return found.kind === kind && Object.entries(wanted).every(([key, value]) => found[key] === value);
});
const tensor = ({ document }, name) => document.tensors.findIndex((each) => each.name === name);
const questionAt = (trace, step) => askedOf(trace).find((question) => question.step === step);

test("what is asked about a small program", () => {
  const kinds = askedOf(traces.cubic).map(kindOf);
  assert.deepEqual(kinds,
    ["value", "kept", "recorded", "fate", "next", "sum", "sum", "next", "sum", "sum", "sum"]);
});

test("a turn of a loop is asked about once, and what all the turns add up to", () => {
  const asked = askedOf(traces.power);
  assert.equal(asked.filter(({ prompt }) => prompt.includes("sends")).length, 4);
  const { steps } = traces.power.document;
  assert.ok(asked.some(({ step }) => steps[step].count === steps[step].of && steps[step].of > 2));
  assert.ok(asked.length < traces.power.document.steps.length / 2);
});

for (const name of ["power", "cubic", "two_tapes", "diamond"]) {
  test(`the first time that contributions add up in each pass of ${name} is asked about, before it is shown`, () => {
    const trace = traces[name] ?? others[name];
    const { steps } = trace.document;
    const asked = askedOf(trace);
    const passes = new Set(steps.flatMap(({ count, pass }) => (count > 1 ? [pass] : [])));
    assert.ok(passes.size);
    for (const pass of passes) {
      const first = steps.findIndex((step) => step.pass === pass && step.count > 1);
      const before = steps[first - 1].kind === "record" ? first - 1 : first;
      const question = asked.find(({ step }) => step === before);
      assert.match(question?.prompt ?? "", /whose cotangent is .* so far/);
    }
  });
}

test("a cut is offered where there is one", () => {
  for (const [trace, offered] of [[traces.a_cut, true], [traces.cubic, false]]) {
    const fates = askedOf(trace).filter((question) => kindOf(question) === "recorded");
    assert.ok(fates.length > 0);
    for (const { options } of fates) {
      const wanted = ["record it", ...(offered ? ["record it as a cut"] : []), "not record it"];
      assert.deepEqual(options, wanted);
    }
  }
});

test("each known mistake about a sum has its hint", () => {
  const trace = traces.cubic;
  const { steps } = trace.document;
  const x = tensor(trace, "x");
  const [, second] = numbers(trace, "accumulate", { tensor: x });
  const question = questionAt(trace, second);
  const [before, added, after] = ["before", "contribution", "after"].map((part) => steps[second][part].data);
  const g = steps.slice(0, second).findLast(({ kind }) => kind === "pull back").cotangent.data;
  const local = added / g;
  assert.equal(new Set([added, after, local, before + local, before, g]).size, 6);
  const hints = [
    [added, "You replaced what was there"], [local, `multiply it by the cotangent that arrived, ${g}.`],
    [before + local, `multiply it by the cotangent that arrived, ${g}.`],
    [before + g, "That is the cotangent that arrived: multiply it"], [before - added, "Check the sign"],
    [before, "That is what x already has"], ["None", "it is not None"],
    [123456, `Multiply the cotangent that arrived, ${g}, by the local derivative d`],
    [123456, "/dx for this x alone, then add what is already there."],
  ];
  for (const [typed, hint] of hints) assert.ok(judge(question, String(typed)).hint.includes(hint), `${typed}: ${hint}`);
  assert.ok(question.prompt.includes(`whose cotangent is ${before} so far`));

  const [first] = numbers(trace, "accumulate");
  assert.ok(judge(questionAt(trace, first), "123456").hint.startsWith(
    "Multiply the cotangent that arrived, 1, by the local derivative d"));
  assert.ok(questionAt(trace, first).prompt.includes("which has no cotangent yet"));
  const [toY] = numbers(trace, "accumulate", { tensor: tensor(trace, "y") });
  const aboutY = { 9: "That is the contribution to w, the other input", 45: "the question is about a cotangent",
    0.2: "upside down" };
  for (const [typed, hint] of Object.entries(aboutY)) {
    assert.ok(judge(questionAt(trace, toY), typed).hint.includes(hint), typed);
  }
  const [value] = numbers(trace, "record");
  assert.ok(judge(questionAt(trace, value), "3").hint.includes("That is the value of x, an input"));
});

test("of arrays the shapes are asked", () => {
  const trace = traces.rows;
  const [toY] = numbers(trace, "accumulate", { tensor: tensor(trace, "y") });
  for (const right of ["(3,)", "3", " [3] ", "(3)"]) assert.ok(judge(questionAt(trace, toY), right).right, right);
  const hint = judge(questionAt(trace, toY), "2x3").hint;
  assert.ok(hint.includes("That is the shape of the output, (2, 3). y was broadcast to it"), hint);
  const [z] = numbers(trace, "accumulate", { before: null });
  const ways = ["(2, 3)", "2x3", "2×3", "2, 3", "[2,3]", "2 3"];
  for (const right of ways) assert.ok(judge(questionAt(trace, z), right).right, right);
  assert.ok(judge(questionAt(trace, z), "3x2").hint.includes("in the wrong order"));
  assert.ok(judge(questionAt(trace, z), "()").hint.includes("That is the shape of the output, ()"));
  const [record] = numbers(trace, "record");
  assert.ok(judge(questionAt(trace, record), "3").hint.includes("That is the shape of y, an input"));
  assert.ok(judge(questionAt(trace, record), "(2, 3)").right);
});

test("where contributions to an array add up, one element of the sum is asked", () => {
  const array = (...data) => ({ shape: [2], dtype: "float64", data, text: `[${data.join(" ")}]` });
  const { document } = traces.cubic;
  const steps = [...document.steps];
  const at = steps.findIndex(({ kind, before }) => kind === "accumulate" && before);
  const sums = { before: array(1, 2), contribution: array(3, -7), after: array(4, -5) };
  steps[at] = { ...steps[at], ...sums };
  const changed = { ...document, steps };
  const question = questionsOf(changed, readHistory(changed), false).about({ kind: "sum", step: at });
  assert.ok(question.prompt.includes("to x[1], whose cotangent is 2 so far"), question.prompt);
  assert.deepEqual(judge(question, "-5"), { right: true });
  for (const [typed, hint] of [["-7", "You replaced"], ["2", "already has"], ["9", "sign"]]) {
    assert.ok(judge(question, typed).hint.includes(hint), typed);
  }
});

test("a derivative cannot be read as a name", () => {
  const written = [["y", "x₂"], ["loss", "w"], ["iff", "slope"], ["dy", "x"], ["W1", "b"]]
    .map((names) => STRINGS.predict.factor(...names));
  assert.deepEqual(written, ["dy/dx₂", "d loss/dw", "d iff/d slope", "d(dy)/dx", "dW1/db"]);
});

test("tangents are asked in forward mode, with a hint for each mistake", () => {
  const trace = traces.pushing; // exp(x w - 6) w + x
  assert.ok(askedOf(trace).filter((question) => kindOf(question) === "pushed").length >= 3);
  const [product] = numbers(trace, "push forward"); // t = x w: 1 · 2 + 0.5 · 3
  const question = questionAt(trace, product);
  const hints = {
    2: "That is what x does alone.", 1.5: "That is what w does alone.", 5: "You added up the local derivatives.",
    3: "/dw: multiply it by the tangent of its input, 0.5.",
    1: "That is the tangent of x, an input", 0.5: "That is the tangent of w, an input", "-3.5": "Check the sign",
    6: "the question is about a tangent", None: "it is not None",
    77: "Multiply the tangent of each input by the local derivative with respect to it",
  };
  for (const [typed, hint] of Object.entries(hints)) assert.ok(judge(question, typed).hint.includes(hint), typed);
  assert.ok(judge(question, "7/2").right);
  assert.equal(question.shown, "3.5");
});

test("of a stack of tangents the shape is asked", () => {
  const [product, total] = numbers(traces.stacked, "push forward").map((step) => questionAt(traces.stacked, step));
  assert.ok(judge(product, "3").hint.includes("Here a stack of 3 is pushed forward together"));
  assert.ok(judge(product, "(3, 3)").right);
  assert.ok(judge(total, "()").hint.includes("Here a stack of 3 is pushed"));
  assert.ok(judge(total, "3").right);
  assert.ok(judge(total, "3x3").hint.includes("the tangent of t1, an input"));
});

test("None is not zero", () => {
  const trace = traces.cut_off;
  const [cut] = numbers(trace, "cut").map((step) => questionAt(trace, step));
  assert.ok(cut.prompt.endsWith("What will the gradient of t1 with respect to x be?"));
  assert.deepEqual([cut.options, cut.right], [["0", "1", "None"], "None"]);
  const zero = "0 would mean that there is a path, but a flat one. Is there a path at all?";
  assert.equal(judge(cut, "0").hint, zero);
  assert.ok(cut.why.startsWith("Nothing flows back through floor"));
  const [seed] = numbers(trace, "seed").map((step) => questionAt(trace, step));
  assert.equal(judge(seed, "0").hint, zero);
  assert.equal(judge(seed, "not 0").right, false);
  assert.ok(seed.right === "None" && seed.why.startsWith("No entries lead from x to z"));
});

test("what becomes of a gradient that is not a number is not asked", () => {
  const asked = askedOf(traces.not_a_number);
  assert.ok(asked.length > 0);
  assert.ok(!asked.some((question) => kindOf(question) === "fate"));
});

test("a walk over contours is asked about lengths and curvature", () => {
  const { steps } = others.walk.document;
  const [first, second] = askedOf(others.walk);
  const lengths = steps.map(({ gradient }) => Math.hypot(...gradient.data));
  assert.deepEqual(first.options, ["longer", "shorter"]);
  assert.equal(first.right, lengths[first.step] > lengths[first.step - 1] ? "longer" : "shorter");
  assert.ok(first.prompt.includes("Will the gradient be longer or shorter there?"));
  assert.equal(second.right, "up in one direction and down in another");
  assert.ok(second.why.startsWith("The eigenvalues of the Hessian are ["));
  const curving = (...data) => {
    const changed = steps.map((step) => ({ ...step, eigenvalues: { text: "", data } }));
    const document = { ...others.walk.document, steps: changed };
    return questionsOf(document, readHistory(document), false).about({ kind: "curves", step: 1 })?.right;
  };
  assert.deepEqual([[1, 2], [-2, -1], [-1, 1], [0, 1]].map((pair) => curving(...pair)),
    ["up in every direction", "down in every direction", "up in one direction and down in another", undefined]);
});

test("a pass that shortens a program is asked about the lines that go", () => {
  const { compiling } = others.shrinking.document;
  const asked = askedOf(others.shrinking);
  const gone = compiling.map(({ lines }) => lines.filter(({ state }) => state === "gone").length);
  assert.deepEqual(asked.map(({ step }) => step), [...gone.keys()].filter((step) => gone[step]));
  for (const { step, right, prompt, why } of asked) {
    assert.equal(right, gone[step]);
    assert.ok(prompt.includes(`“${compiling[step].name}”`) && prompt.endsWith("How many lines will go?"));
    const [first] = compiling[step].lines.filter(({ state }) => state === "gone");
    assert.ok(why.startsWith(`It takes out ${first.text.trim().split(" = ")[0]}`));
  }
  const [unused] = asked;
  assert.ok(unused.prompt.startsWith("Next, “unused” takes out what nothing needs."));
  assert.ok(judge(unused, "77").hint.startsWith("Read the program from its end"));
});

for (const { level, programs, answers } of drills) {
  test(`a drill of level ${level} takes the answers that Python works out`, () => {
    assert.equal(programs.length, 10);
    programs.forEach(({ trace, layout, ask }, number) => {
      const questions = questionsOf(trace, readHistory(trace), layout.groups.length > 0);
      const question = questions.about(ask);
      assert.deepEqual(judge(question, answers[number]), { right: true }, `${question.prompt} ${answers[number]}`);
      assert.equal(question.shown, answers[number]);
      assert.equal(judge(question, "77777").right, false);
      assert.ok(judge(question, "77777").hint.length > 10);
    });
  });
}
