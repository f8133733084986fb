/** The texts of the views that only some documents have, which player/extra_parts.py describes. */

/** @type {(word: string, names: string[]) => string} */
const linesOf = (word, names) => (names.length === 1 ? `${word} ${names}` : `${word}s ${names.join(", ")}`);
/** @type {(word: string, of: number) => string} */
const allOf = (word, of) => (of === 1 ? `The only ${word}` : `All ${of} ${word}s at once`);

/** @satisfies {import("./strings.js").Texts} */
export const EXTRA_STRINGS = {
  sweep: {
    heading: (target, source) => `Jacobian of ${target} with respect to ${source}`,
    before: {
      rows: "Each row takes a backward pass from a one-hot seed.",
      columns: "Each column takes a forward pass from a one-hot tangent.",
      both: "Each row takes a backward pass from a one-hot seed, each column a forward pass from a one-hot tangent.",
      shared: "Rows that share no column, or columns that share no row, are filled by one pass.",
    },
    one: {
      /** @type {(names: string[], seed: string) => string} */
      rows: (names, seed) => `${linesOf("Row", names)}, from the seed ${seed}`,
      /** @type {(names: string[], tangent: string) => string} */
      columns: (names, tangent) => `${linesOf("Column", names)}, from the tangent ${tangent}`,
    },
    stack: {
      /** @type {(of: number, seeds: number) => string} */
      rows: (of, seeds) => `${allOf("row", of)}, from a stack of ${seeds < of ? seeds : "one-hot"} seeds`,
      /** @type {(of: number, seeds: number) => string} */
      columns: (of, seeds) => `${allOf("column", of)}, from a stack of ${seeds < of ? seeds : "one-hot"} tangents`,
    },
    passes: {
      /** @type {(over: number, of: number) => string} */
      rows: (over, of) => `reverse: ${over} of ${of} passes`,
      /** @type {(over: number, of: number) => string} */
      columns: (over, of) => `forward: ${over} of ${of} passes`,
    },
    /** @type {Record<"rows" | "columns", (number: number) => string>} */
    seed: { rows: (number) => `filled from seed ${number}`, columns: (number) => `filled from tangent ${number}` },
    once: { rows: "reverse: all rows in one pass", columns: "forward: all columns in one pass" },
  },
  patches: {
    heading: (target, source) => `The Jacobian of a batch: ${target} with respect to ${source}`,
    /** @type {(name: string, number: number) => string} */
    sample: (name, number) => `${name}[${number}]`,
    folded: "folded",
    whole: (shape) => `shape ${shape}`,
    none: "Nothing has been pulled back yet.",
    made: "One patch for each pair of samples: those of the result go down, those of the argument across.",
    folds: "The patches of each column slide down and add up.",
    direct: "batch_jacobian: each seed serves all samples at once, so there is never a fourth axis.",
  },
  contours: {
    heading: "Contours",
    name: (point, value) => `Contours of the function, whose value at ${point} is ${value}`,
    legend: {
      gradient: "negative gradient, same scale at every step", newton: "Newton's step", damped: "damped step",
      model: "quadratic model", path: "path",
    },
    rows: {
      point: "point", value: "value", gradient: "gradient", hessian: "Hessian", eigenvalues: "its eigenvalues",
      step: "step", halvings: "times halved", next: "next point", next_value: "next value",
      digits: "correct digits, up to 10",
    },
    lengthened: "The gradient is too short to see here, so its arrow is not drawn to scale.",
    damping: {
      label: "Damping",
      name: "Damping: how much of the identity is added to the Hessian",
      none: "H + λI is singular, so there is no unique step.",
      still: "The gradient is 0, so there is no step.",
      downhill: (step) => `The step −(H + λI)⁻¹g is ${step}. It starts downhill.`,
      unsure: (step) => `The step −(H + λI)⁻¹g is ${step}. H + λI is not positive definite, so it may lead uphill.`,
    },
    ask: {
      longer: {
        prompt: (point) => `Next is the point ${point}. Will the gradient be longer or shorter there?`,
        yes: "longer",
        no: "shorter",
        hint: "Where contours are close together, the gradient is long.",
        /** @type {(before: number, now: number) => string} */
        why: (before, now) => `Its length goes from ${Number(before.toPrecision(3))} to ${Number(now.toPrecision(3))}.`,
      },
      curves: {
        prompt: (point) => `Next is the point ${point}. How will the quadratic model curve there?`,
        up: "up in every direction",
        down: "down in every direction",
        both: "up in one direction and down in another",
        hint: "Ellipses are contours of a bowl or a dome, hyperbolas those of a saddle.",
        why: (eigenvalues) => `The eigenvalues of the Hessian are ${eigenvalues}.`,
      },
    },
  },
  compilerPasses: {
    heading: "Program",
    stages: "Passes, with the number of operations left",
    left: "operations:",
    constants: (/** @type {string[]} */ names) => `constants: ${names.join(", ")}`,
    prompt: (name, purpose) => `Next, “${name}”${purpose && ` ${purpose}`}. How many lines will go?`,
    changed: "That many lines change. How many go?",
    hint: "Which lines does this pass make superfluous?",
    hints: {
      unused: "Read the program from its end: is what a line computes read by a line that is needed itself?",
      folded: "Which lines compute with constants alone, or return what they are given?",
      shared: "Which lines compute what a line above them computes already?",
      joined: "Which results are small, have no name in your code, and are read by one line only?",
    },
    why: (/** @type {string[]} */ names) => `It takes out ${names.join(", ")}.`,
  },
};
