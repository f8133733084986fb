/** Every text that the reader sees, by the part of the picture it stands in: a translation changes this table alone. */

export const STRINGS = {
  player: {
    name: (title) => `Step through ${title}`,
    empty: "Nothing was recorded.",
    otherVersion: (found, known) =>
      `This trace is of version ${found ?? "unknown"}, and this player draws version ${known}: another release of ` +
      "autodiff_edu wrote it. Restart the kernel and run the cell again; a page has to be saved again.",
  },
  heading: {
    forward: "→ forward pass",
    backward: "← backward pass",
    tangents: "→ forward pass, with tangents",
    count: (step, of) => `step ${step} of ${of}`,
  },
  controls: {
    first: "First step",
    previous: "Previous step",
    play: "Play",
    pause: "Pause",
    next: "Next step",
    last: "Last step",
    space: "Space", // the names of the keys, as they stand on the keyboard
    home: "Home",
    end: "End",
    scrubber: "Step",
    turn: (step) => `A backward pass starts at step ${step}`,
    turnForward: (step) => `Tangents are pushed forward from step ${step}`,
    speed: "Speed",
    times: (factor) => `${factor}×`,
    predict: "Predict",
    aboutPredict: "Type the next number or shape before it is shown",
    stage: "Stage",
    aboutStage: "Fill the screen, readable from the back row (f; Esc to exit)",
  },
  strip: {
    target: "target",
    about: (name) => `Show or hide ${name}; ↑ and ↓ go to the step where it changed last, or changes next`,
    value: (name, text) => `${name} = ${text}`,
    size: (name, norm) => `‖${name}‖ = ${norm}`,
    at: (step) => `step ${step}; click to go to the nearest step where something changes`,
    norm: (name) => `the norm of ${name}`,
    rises: (name, from, to, count) => `${name} rises from ${from} to ${to} over ${count} values.`,
    falls: (name, from, to, count) => `${name} falls from ${from} to ${to} over ${count} values.`,
    goes: (name, from, to, count) => `${name} starts at ${from} and ends at ${to}, over ${count} values.`,
    none: "No curve is drawn",
  },
  stage: { tabs: "Panels", panel: "Numbers", graph: "Graph", tape: "Tape", sweep: "Jacobian", contours: "Contours" },
  predict: {
    idle: "Go on with “Next step”: before something new is computed, you will be asked what it is.",
    check: "Check",
    reveal: "Show me",
    shape: (axes) => `(${axes.join(", ")}${axes.length === 1 ? "," : ""})`,
    record: (name, text) => `Next is ${name} = ${text}. What shape will ${name} have?`,
    arrives: {
      number: (name, text) => `Next, ${name} = ${text} is pulled back. What cotangent arrives at ${name}?`,
      shape: (name, text) =>
        `Next, ${name} = ${text} is pulled back. What shape is the cotangent that arrives at ${name}?`,
    },
    accumulates: {
      number: (name, text, before) =>
        `Next, ${text} sends a contribution to ${name}, which has ${before ?? "nothing"} so far. ` +
        `What will ${name} have then?`,
      shape: (name, text) => `Next, ${text} sends a contribution to ${name}. What shape is it?`,
    },
    right: (answer) => `Right: it is ${answer}.`,
    wrong: (answer, hint) => `Not quite: it is ${answer}. ${hint}`.trim(),
    shown: (answer) => `It is ${answer}.`,
    noNumber: (typed) => `“${typed}” is not a number. Try 0.5, -2 or 1/3.`,
    noShape: (typed) => `“${typed}” is not a shape. Try (2, 3), 2x3 or 3.`,
    nothingTyped: "Nothing is typed yet. Type an answer, or press “Show me”.",
    hints: {
      replaced: (contribution, before) =>
        `You replaced what was there: the contribution, ${contribution}, is added to ${before}.`,
      unmultiplied: (g) => `The cotangent that arrived, ${g}, multiplies the local derivative.`,
      value: (name) => `That is the value of ${name}; the question is about its cotangent.`,
      outputShape: (output, input) =>
        `That is the shape of the output, ${output}. A contribution has the shape of the input it flows to, ${input}.`,
    },
  },
  code: {
    heading: "Code",
    line: (number) => `Line ${number}: go to its first step`,
    passed: "Has just run, and has no step of its own",
    stack: (calls, more) => (more ? ["…", ...calls] : calls).join(" › "),
    program: "The same as NumPy",
  },
  tape: {
    heading: "Tape",
    states: {
      waiting: "", recorded: "recorded", pulled: "pulled back", pushed: "pushed forward",
      skip: "not recorded", cut: "cut",
    },
    now: { forward: "→ now", backward: "← now" },
    several: "Tapes",
    more: (count) => `and ${count} more tape${count === 1 ? "" : "s"}`,
    choose: "Go to a tape",
    forgotten: "forgotten",
    lanes: {
      recorded: (tape) => `${tape} recorded it`,
      cut: (tape) => `${tape} recorded it, and it cuts the flow`,
      skip: (tape) => `${tape} watches nothing in it`,
      paused: (tape) => `${tape} is paused`,
      backward: (tape) => `Computed by the backward pass of ${tape}`,
      tangents: (tape) => `Computed while tangents were pushed forward over ${tape}`,
      forgotten: (tape) => `${tape} has forgotten it`,
      released: (tape) => `${tape} has released its arrays`,
    },
  },
  graph: {
    heading: "Graph",
    name: "The graph of the tensors",
    tensor: (name, value) => `${name}: ${value}`,
    reached: (name, value, cotangent) => `${name}: ${value}, cotangent ${cotangent}`,
    moved: (name, value, tangent) => `${name}: ${value}, tangent ${tangent}`,
    paused: (tape) => `‖ ${tape} is paused`,
    theTape: "the tape",
    marks: {
      skip: "Not recorded: no tape watches it",
      paused: "Computed while a tape was paused",
      unconnected: "No cotangent reached it",
    },
    groups: {
      scope: ({ name }) => name,
      call: ({ name }) => name,
      pass: ({ name }) => `← pass of ${name}`,
      push: ({ name }) => `→ tangents over ${name}`,
      loop: ({ times }) => `loop ×${times}`,
      turn: ({ number }) => `turn ${number}`,
      folded: (name, count) => `${name} · ${count} entries`,
    },
  },
  panel: {
    entry: "Entry",
    numbered: (number) => `Entry ${number}`,
    skipped: "Not recorded",
    kinds: {
      watch: "Watched", remark: "Folding", seed: "The backward pass starts", move: "Tangents start here",
      assign: "Assigned", leave: "Left for NumPy", pause: "Pause",
      resume: "Recording again", reset: "Reset", release: "Released", explain: "Explanation",
      line: "Plain Python", error: "Error",
    },
    input: "input",
    output: "output",
    tensor: "tensor",
    value: "value",
    cotangent: "cotangent",
    tangent: "tangent",
    stack: (count) => `a stack of ${count}`,
    from: (name) => `from ${name}`,
    tangentOf: (name) => (name ? `tangent of ${name}` : "tangent"),
    nothingElse: "nothing else",
    arrived: "arrived",
    contribution: "contribution",
    shape: (shape) => (shape.length === 0 ? "scalar" : `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`),
    more: (count) => `and ${count} more inputs`,
    cotangentOf: (name) => `cotangent of ${name}`,
    accumulated: "accumulated cotangent",
    before: "before",
    after: "after",
    nothingYet: "nothing yet",
    count: (count, of) => `${count} of ${of}`,
    holds: (tape, bytes) => `${tape} holds ${bytes} ${bytes === 1 ? "byte" : "bytes"}`,
    theTape: "The tape",
  },
  sweep: {
    heading: (target, source) => `Jacobian of ${target} with respect to ${source}`,
    before: {
      rows: "Each row takes a backward pass from a one-hot seed.",
      columns: "Each column takes a forward pass from a one-hot tangent.",
      both: "Each row takes a backward pass from a one-hot seed, each column a forward pass from a one-hot tangent.",
    },
    one: {
      rows: (number, of, seed) => `Row ${number} of ${of}, from the seed ${seed}`,
      columns: (number, of, tangent) => `Column ${number} of ${of}, from the tangent ${tangent}`,
    },
    stack: {
      rows: (of) => `All ${of} rows at once, from a stack of one-hot seeds`,
      columns: (of) => `All ${of} columns at once, from a stack of one-hot tangents`,
    },
    passes: {
      rows: (over, of) => `reverse: ${over} of ${of} passes`,
      columns: (over, of) => `forward: ${over} of ${of} passes`,
    },
    once: { rows: "reverse: all rows in one pass", columns: "forward: all columns in one pass" },
  },
  patches: {
    heading: (target, source) => `The Jacobian of a batch: ${target} with respect to ${source}`,
    sample: (name, number) => `${name}[${number}]`,
    folded: "folded",
    whole: (shape) => `shape ${shape}`,
    none: "Nothing is pulled back yet.",
    made: "A patch for each sample of the result (down) and of the argument (across).",
    folds: "The patches of each column slide down and add up.",
    direct: "batch_jacobian: a seed for all samples at once, and never a fourth axis.",
  },
  contours: {
    heading: "Contours",
    name: (point, value) => `Contours of the function, at ${point} with the value ${value}`,
    legend: { gradient: "against the gradient", newton: "Newton's direction", model: "quadratic model", path: "path" },
    rows: {
      point: "point", value: "value", gradient: "gradient", hessian: "Hessian", eigenvalues: "its eigenvalues",
      step: "step", next: "next point", next_value: "next value",
    },
  },
  array: {
    asTable: "as a table",
    magnitude: "magnitudes of complex numbers",
    wrapped: (count) => `${count} elements in a row`,
    flattened: (count) => `the leading axes in one, of ${count} rows`,
    every: (n, axis, axes) => {
      const nth = `${n}${n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;
      const inner = ["column", "row"][axes - 1 - axis] ?? `index of axis ${axis}`;
      const part = axes === 1 ? "element" : inner;
      return n === 1 ? "" : `every ${nth} ${part}`;
    },
  },
};
