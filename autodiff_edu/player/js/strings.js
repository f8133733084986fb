/** The texts that the reader sees, by their part of the picture; extra-strings.js has those of special views. */

/**
 * Texts, and functions that put words into them; the words are texts too, unless a type says otherwise.
 * @typedef {{ [part: string]: string | ((...words: string[]) => string) | Texts | object }} Texts
 */

/** @param {number[]} shape */
const shapeOf = (shape) => (shape.length ? `(${shape.join(", ")}${shape.length === 1 ? "," : ""})` : "scalar");
/** @param {number[]} shape */
const sizeOf = (shape) => `(${shape.length === 1 ? `length ${shape[0]}` : shape.join("×")})`;
/** @param {string[]} parts */
const listOf = (parts) => [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter(Boolean).join(" and ");
/** @param {number[]} axes */
const axesOf = (axes) => `${axes.length === 1 ? "axis" : "axes"} ${axes.join(" and ")}`;
/** A name with the d of a derivative; the same as _differential of text/formatting.py. */
const differentialOf = (/** @type {string} */ name) =>
  `d${/^.[\d₀-₉]*$/.test(name) ? name : name[0] === "d" ? `(${name})` : ` ${name}`}`;

/**
 * What is said about any answer that the reader gives: apart from the rest, for built/prediction.js has no more.
 * @satisfies {Texts}
 */
export const ANSWERS = {
  predict: "Predict:",
  check: "Check",
  reveal: "Show me",
  shape: (/** @type {number[]} */ axes) => `(${axes.join(", ")}${axes.length === 1 ? "," : ""})`,
  right: (answer, why = "") => `Right: ${answer}. ${why}`.trim(),
  wrong: (answer, hint, why = "") => ["Not quite.", hint, `Answer: ${answer}.`, why].filter(Boolean).join(" "),
  notQuite: (hint) => `Not quite. ${hint} Try once more.`,
  shown: (answer, why = "") => `Answer: ${answer}. ${why}`.trim(),
  /** @type {Record<string, (typed: string) => string>} */
  unread: {
    number: (typed) => `“${typed}” is not a number. Try 0.5, -2 or 1/3.`,
    shape: (typed) => `“${typed}” is not a shape. Try (2, 3), 2x3 or 3.`,
  },
  nothing: {
    typed: "Nothing is typed yet. Type an answer, or press “Show me”.",
    chosen: "Nothing is chosen yet. Choose an answer, or press “Show me”.",
  },
  finer: "Right so far: type more digits.",
  again: "Go through it line by line.",
};

/**
 * @typedef {(name: string, axes: number[], times: number, small: number[], large: number[]) => string} Copying
 */
/** @typedef {(name: string, from: string, to: string, count: number) => string} Trend */

/** @satisfies {Texts} */
export const STRINGS = {
  player: {
    name: (title) => `Step through ${title}`,
    empty: "Nothing was recorded.",
    /** @type {(found: number | null | undefined, known: number) => string} */
    otherVersion: (found, known) =>
      `This trace has version ${found ?? "unknown"}, but this player draws version ${known}: another release of ` +
      "autodiff_edu wrote it. Restart the kernel and run the cell again, or save the page again.",
  },
  heading: {
    forward: "→ forward pass",
    backward: "← backward pass",
    explain: "← walking back",
    error: "✗ stopped",
    tangents: "→ forward pass, with tangents",
    update: "↻ update",
    over: "✓ finished",
    /** @type {(step: number, of: number) => string} */
    count: (step, of) => `step ${step} of ${of}`,
  },
  controls: {
    first: "First step",
    previous: "Previous step",
    play: "Play",
    pause: "Pause",
    next: "Next step",
    last: "Last step",
    scrubber: "Step",
    turn: (/** @type {number} */ step) => `A backward pass starts at step ${step}`,
    /** @type {(kind: string, step: number) => string} */
    born: (kind, step) => `${kind === "nan" ? "NaN" : kind} appears at step ${step}`,
    turnForward: (/** @type {number} */ step) => `Tangents are pushed forward from step ${step}`,
    speed: "Speed",
    times: (/** @type {number} */ factor) => `${factor}×`,
    size: "How far a step goes",
    aboutSize: "How far Play and the arrows go",
    sizes: { operation: "by operation", line: "by line", turn: "by turn", pass: "by pass" },
    wave: "Replay wave",
    waves: {
      none: "First, an overview: values go down.",
      cotangents: "First, an overview: values go down, cotangents come back.",
      tangents: "First, an overview: values go down, then tangents go the same way.",
    },
    aboutWave: "Values run down the graph, then cotangents run back (w)",
    predict: "Predict",
    aboutPredict: "Work out what comes next before it is shown (p)",
    stage: "Stage",
    aboutStage: "Fill the screen, readable from the back row (f; Esc to exit)",
  },
  keys: {
    /** As they stand on the keyboard. */
    names: { ArrowLeft: "←", ArrowRight: "→", " ": "Space", PageDown: "Page Down", PageUp: "Page Up", Escape: "Esc" },
    range: (first, last) => `${first} – ${last}`,
    either: " or ",
    headings: { keys: "Keys", stage: "On stage", graph: "In the graph" },
    /** What they do, where no button says it. */
    does: {
      next: "Next step; at a question, its answer",
      farther: "A step one size larger",
      back: "The same, back",
      play: "Play or pause",
      predict: "Work out what comes next, or stop that",
      wave: "Replay the wave",
      fit: "Show more of the graph, or larger letters",
      stage: "Fill the screen, or go back",
      help: "Open this list",
      tab: "Choose a panel; press again for more room",
      blank: "Blank the screen until the next key",
      leave: "Leave the stage",
    },
  },
  /** What whole lines and turns have come to; `text` is empty for what has too many numbers. */
  summary: {
    turn: (/** @type {number} */ number) => `turn ${number}`,
    /** @type {(name: string, text: string, shape: number[]) => string} */
    value: (name, text, shape) => (text ? `${name} = ${text}` : `${name} ${sizeOf(shape)}`),
    then: "; after the update, ",
    /** @type {(name: string, expression: string, text: string, shape: number[]) => string} */
    is: (name, expression, text, shape) =>
      (text ? `${name} is ${expression}, which is ${text}.` : `${name} ${sizeOf(shape)} is ${expression}.`),
    /** @type {(where: string, said: string) => string} */
    forward: (where, said) => `${where[0].toUpperCase()}${where.slice(1)}: ${said}.`,
    back: (where, said) => `Back through ${where}: ${said}.`,
    cotangents: {
      first: (name, text) => `the cotangent of ${name} is now ${text}`,
      next: (name, text) => `that of ${name} ${text}`,
    },
    contributions: (/** @type {string[]} */ names) =>
      `${listOf(names)} ${names.length === 1 ? "gets a contribution" : "get contributions"}`,
    list: (/** @type {string[]} */ parts) => listOf(parts),
  },
  strip: {
    memory: "bytes held",
    target: "the target",
    about: (name) => `Show or hide ${name}; ↑ and ↓ go to its previous or next change`,
    value: (name, text) => `${name} = ${text}`,
    size: (name, norm) => `‖${name}‖ = ${norm}`,
    range: (low, high) => `${low} to ${high}`,
    at: (/** @type {number} */ step) => `step ${step}; click to go to the nearest step where something changes`,
    norm: (name) => `the norm of ${name}`,
    /** @type {Trend} */
    rises: (name, from, to, count) => `${name} rises from ${from} to ${to} over ${count} values.`,
    /** @type {Trend} */
    falls: (name, from, to, count) => `${name} falls from ${from} to ${to} over ${count} values.`,
    /** @type {Trend} */
    goes: (name, from, to, count) => `${name} starts at ${from} and ends at ${to}, over ${count} values.`,
    none: "No curve is drawn",
    covered: "Values up to this step",
    which: "Which cotangent to draw, on a logarithmic scale",
    cotangentOf: (name) => `the cotangent of ${name}`,
    cotangent: (name) => `|cotangent of ${name}|, log`,
    noCotangent: "no cotangent",
    equals: (text) => `= ${text}`,
    /** @type {(name: string, from: string, to: string, count: number) => string} */
    logarithmic: (name, from, to, count) =>
      `The size of ${name}, on a logarithmic scale, starts at ${from} and ends at ${to}, ` +
      `over ${count} values.`,
  },
  stage: { tabs: "Panels", panel: "Numbers", graph: "Graph", tape: "Tape", sweep: "Jacobian", contours: "Contours",
    compiling: "Program" },
  predict: {
    idle: "Press “Next”: before anything new happens, you will be asked what comes next.",
    waits: "Answer first, or press “Show me”.",
    more: "Next program",
    score: "How did I do?",
    value: (name, text) => `Next is ${name} = ${text}. What number will ${name} be?`,
    shapeOf: (name, text) => `Next is ${name} = ${text}. What shape will ${name} have?`,
    willRecord: (whole, tape) => `Next is ${whole}. What will ${tape} do?`,
    recorded: { record: "record it", cut: "record it as a cut", skip: "not record it" },
    /** @type {(whole: string, numbers: boolean) => string} */
    kept: (whole, numbers) =>
      `Next is ${whole}. Which values must be kept to differentiate it later${numbers ? ", besides the number" : ""}?`,
    and: " and ",
    nothing: "none of them",
    /** @type {(line: number, tape: string) => string} */
    count: (line, tape) => `Next is line ${line}. How many entries will ${tape} add for it?`,
    cut: (whole, target, source) =>
      `Next is ${whole}. What will the gradient of ${target} with respect to ${source} be?`,
    fate: (target, source) =>
      `Next, the backward pass starts at ${target}. What will its gradient with respect to ${source} be at the end?`,
    fates: { other: "not 0", zero: "0", none: "None" },
    next: (tape) => `Which entry of ${tape} is pulled back next?`,
    gradient: (result) => `What will ${result} be? Type a number, or None.`,
    accumulates: {
      /** @type {(name: string, whole: string, before?: string) => string} */
      number: (name, whole, before) =>
        `Next, ${whole} sends a contribution to ${name}, ` +
        (before == null ? "which has no cotangent yet. " : `whose cotangent is ${before} so far. `) +
        `What will the cotangent of ${name} be then?`,
      shape: (name, whole) => `Next, ${whole} sends a contribution to ${name}. What shape is it?`,
    },
    /** @type {(output: string, input: string, repeated?: boolean) => string} */
    factor: (output, input, repeated) =>
      `${differentialOf(output)}/${differentialOf(input)}${repeated ? ` for this ${input} alone` : ""}`,
    pushes: {
      number: (name, whole) =>
        `Next, tangents are pushed forward through ${whole}. What will the tangent of ${name} be?`,
      shape: (name, whole) =>
        `Next, tangents are pushed forward through ${whole}. What shape will the tangent of ${name} have?`,
    },
    /** @type {(first: number, of: number, second: number, missed: number) => string} */
    scored: (first, of, second, missed) =>
      `You got ${first} of ${of} on the first try${second ? `, ${second} on the second` : ""}.` +
      (missed ? " Look again at:" : ""),
    again: {
      step: (/** @type {number} */ number) => `step ${number}`,
      program: (/** @type {number} */ number) => `program ${number}`,
    },
    hints: {
      input: (name) => `That is the value of ${name}, an input.`,
      compute: "Put the numbers into the formula.",
      sign: "Check the sign.",
      reciprocal: "That is upside down: 1 divided by the answer.",
      inputShape: (name) => `That is the shape of ${name}, an input.`,
      reversed: "The axes are in the wrong order.",
      shape: "Go through the axes from the right: which stay, and which are summed or stretched?",
      recorded: "Is an input watched, or computed from one that is? Does a small nudge get through?",
      kept: "Write down its derivatives. Which values appear in them?",
      count: "Count the operations with an input that is watched, or computed from one that is.",
      zero: "0 would mean that there is a path, but a flat one. Is there a path at all?",
      path: "There is a path, so it is not None.",
      noPath: "Follow the entries back from the target. Do they get there?",
      value: (name) => `That is the value of ${name}; the question is about a cotangent.`,
      next: "What was recorded last is pulled back first.",
      broadcast: (name, shape) =>
        `That is the shape of the output, ${shape}. ${name} was broadcast to it: what flows to its copies is summed.`,
      outputShape: (name, shape) =>
        `That is the shape of the output, ${shape}. A contribution has the shape of the input, ${name}.`,
      likeInput: "A contribution has the shape of the input.",
      replaced: (before) => `You replaced what was there. Add the contribution to ${before} instead.`,
      before: (name) => `That is what ${name} already has. Add the contribution to it.`,
      local: (factor, g) =>
        `That is the local derivative ${factor}: multiply it by the cotangent that arrived, ${g}.`,
      arrived: (factor) => `That is the cotangent that arrived: multiply it by the local derivative ${factor}.`,
      argument: (name) => `That is the contribution to ${name}, the other input.`,
      rule: (factor, g) =>
        `Multiply the cotangent that arrived, ${g}, by the local derivative ${factor}, then add what is already there.`,
      parts: "That is one path of several: add them all up.",
      part: (name) => `That is what ${name} does alone. The other inputs move it, too: add up what each of them does.`,
      locals: "You added up the local derivatives. Multiply each of them by the tangent of its input first.",
      slope: (factor, tangent) =>
        `That is the local derivative ${factor}: multiply it by the tangent of its input, ${tangent}.`,
      moved: (name) => `That is the tangent of ${name}, an input: multiply it by the local derivative.`,
      valueNotTangent: (name) => `That is the value of ${name}; the question is about a tangent.`,
      push: "Multiply the tangent of the input by the local derivative.",
      pushAll: "Multiply the tangent of each input by the local derivative with respect to it, and add them up.",
      tangentShape: (name) => `That is the shape of the tangent of ${name}, an input.`,
      /** @param {number} count */
      stacked: (count) => `That is the shape of one tangent. Here a stack of ${count} is pushed forward together.`,
      likeOutput: "A tangent has the shape of its value; a stack of tangents has one more axis in front.",
      chain: "Multiply the local derivatives along each path; add the paths up.",
    },
    why: {
      kept: (names) => `Its derivatives need ${names}.`,
      stops: (operation) => `Nothing flows back through ${operation}: there is no path, so it is None, not 0.`,
      none: (target, source) => `No entries lead from ${source} to ${target}, so there is no slope at all, not even 0.`,
      parts: (sum, whole) => `The paths add up: ${sum} = ${whole}.`,
    },
  },
  code: {
    heading: "Code",
    line: (/** @type {number} */ number) => `Line ${number}: go to its first step`,
    odd: (kind) => `${kind === "nan" ? "NaN" : kind} appears here`,
    passed: "This line has just run, but has no step of its own",
    leftOut: "This line did not run: the condition above it went the other way",
    /** @type {(calls: string[], more?: boolean) => string} */
    stack: (calls, more) => (more ? ["…", ...calls] : calls).join(" › "),
    program: "The same as NumPy",
  },
  tape: {
    heading: "Tape",
    only: "the tape",
    /** @type {Record<string, string>} */
    states: {
      waiting: "", recorded: "recorded", pulled: "pulled back", pushed: "pushed forward",
      skip: "not recorded", cut: "cut",
    },
    /** @type {Record<string, string>} */
    terms: { pulled: "pull back", pushed: "push forward", skip: "not recorded", cut: "cut" },
    now: { forward: "→ now", backward: "← now", error: "✗ stopped" },
    several: "Tapes",
    more: (/** @type {number} */ count) => `and ${count} more tape${count === 1 ? "" : "s"}`,
    choose: "Go to a tape",
    forgotten: "forgotten",
    /** @type {Record<string, (tape: string) => string>} */
    lanes: {
      recorded: (tape) => `${tape} recorded it`,
      cut: (tape) => `${tape} recorded it, and it cuts the flow`,
      skip: (tape) => `${tape} watches none of its inputs`,
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
    /** @type {(subject: string, edges: string[]) => string} */
    step: (subject, edges) => `${subject}.${edges.length ? ` Lit: ${edges.join("; ")}.` : ""}`,
    /** @type {(from: string, to: string, what?: string) => string} */
    edge: (from, to, what) => `${from} to ${to}${what ? `, ${what}` : ""}`,
    within: (what, group) => `${what}, inside the folded group ${group}`,
    shape: (/** @type {number[]} */ shape) => `shape ${shapeOf(shape)}`,
    keys: "↑ ↓ follow the lines, ← → choose between them, Enter goes to its step, 0 fits the graph",
    fit: "Fit",
    aboutFit: "Show as much of the graph as you can still read (0)",
    near: "Larger",
    aboutNear: "Show it large enough to read (0)",
    tensor: (name, value) => `${name}: ${value}`,
    reached: (name, value, cotangent) => `${name}: ${value}, cotangent ${cotangent}`,
    moved: (name, value, tangent) => `${name}: ${value}, tangent ${tangent}`,
    paused: (tape) => `‖ ${tape} is paused`,
    corner: "A corner: several slopes fit, and the rule takes one",
    marks: {
      skip: "Not recorded: no tape watches it",
      paused: "Computed while a tape was paused",
      unconnected: "No cotangent reached it",
    },
    groups: {
      /** @type {(name: string, count: number) => string} */
      folded: (name, count) => `${name} · ${count} entries`,
    },
  },
  panel: {
    entry: "Entry",
    numbered: (/** @type {number} */ number) => `Entry\u00a0${number}`,
    skipped: "Not recorded",
    /** @type {Record<string, string>} */
    kinds: {
      watch: "Watched", remark: "Folding", seed: "Seed", move: "Tangents start",
      assign: "Assigned", leave: "Turned into plain numbers", pause: "Pause",
      resume: "Recording again", reset: "Reset", release: "Released", explain: "Explanation",
      outcome: "Result",
      line: "Plain Python", error: "Error",
    },
    input: "input",
    output: "output",
    tensor: "tensor",
    value: "value",
    cotangent: "cotangent",
    tangent: "tangent",
    stack: (/** @type {number} */ count) => `a stack of ${count}`,
    from: (name) => `from ${name}`,
    tangentOf: (name) => (name ? `tangent of ${name}` : "tangent"),
    nothingElse: "nothing else",
    arrived: "arrived",
    contribution: "contribution",
    shape: (/** @type {number[]} */ shape) => shapeOf(shape),
    more: (/** @type {number} */ count) => `and ${count} more input${count === 1 ? "" : "s"}`,
    others: (/** @type {number} */ count) => `and ${count} earlier name${count === 1 ? "" : "s"}`,
    unseen: (/** @type {number} */ count, /** @type {string} */ names) =>
      `${count} more row${count === 1 ? "" : "s"}: ${names}`,
    cotangentOf: (name) => `cotangent of ${name}`,
    accumulated: "accumulated cotangent",
    before: "before",
    after: "after",
    nothingYet: "nothing yet",
    /** @type {(count: number, of: number) => string} */
    count: (count, of) => `${count} of ${of}`,
    causes: (/** @type {number} */ count) => (count === 1 ? "1 cut" : `${count} cuts`),
    /** @type {(tape: string, bytes: number, change: number) => string} */
    holds: (tape, bytes, change) =>
      `${tape} holds ${bytes} ${bytes === 1 ? "byte" : "bytes"}${change > 0 ? " ↑" : change < 0 ? " ↓" : ""}`,
    theTape: "The tape",
    none: "None",
  },
  glossary: {
    close: "Close",
    glossary: "In the glossary",
    terms: { // as they stand in book/glossary.md
      cotangent:
        "How fast the target changes as this value changes. It flows back, from the target towards the sources.",
      contribution:
        "What one use of a value adds to its cotangent: the cotangent that arrived there, times the local derivative.",
      accumulate: "Add up the contributions to a value, one from each use. Their sum is its cotangent.",
      seed:
        "The cotangent that a backward pass starts with, at the target: 1, or an array of ones, unless you choose " +
        "another.",
      tangent: "How fast a value changes as the inputs move in a chosen direction. It flows forward, beside the value.",
      "pull back":
        "Turn the cotangent of an operation's output into a contribution for each of its inputs.",
      "push forward":
        "Turn the tangents of an operation's inputs into the tangent of its output.",
      "not recorded":
        "The operation ran, but no tape kept it: it uses nothing that a tape watches, or the tapes were paused.",
      cut:
        "Nothing flows back through the operation: it moves in jumps, or was told to stop the gradient. If every " +
        "path from a source to the target is cut, the gradient is None.",
    },
    signs: "Signs and keys",
    meanings: {
      "→": "Forward: a value, or a tangent",
      "←": "Backward: a cotangent",
      "!": "NaN or an infinity",
      "●": "Recorded on this tape",
      "×": "The tape was reset and has forgotten it",
      "◌": "The tape has released its arrays",
      "▸": "The tape is recording again",
    },
    scissors: "scissors",
    corner: "a corner",
    cut: "Cut: nothing flows back through here",
  },
  nudge: {
    heading: "Nudge",
    about: "Move this value. How far does the target move, and how far does the cotangent say it will?",
    name: "Nudge a value",
    which: "What to nudge",
    element: "Which element",
    close: "Close",
    along: (name) => `${name} along its cotangent`,
    of: (what, target) => `${what} → ${target}`,
    change: (name, from, to) => `${name}: ${from} → ${to}`,
    by: (by) => `by ${by}`,
    nudgeOf: (what) => `nudge of ${what}`,
    changeOf: (target) => `change of ${target}`,
    moves: (target) => `${target} actually moves`,
    says: "the cotangent says",
    saysComplete: "the complete cotangent says",
    product: (slope, by, said) => `${slope} × ${by} = ${said}`,
    nothing: "nothing",
    gap: "the gap",
    notFinite: "not finite",
    aloud: (by, target, moved, said) => `nudge ${by}: ${target} actually moves ${moved}, the cotangent says ${said}`,
    curved: "The cotangent is the slope of the curve at nudge 0: the smaller the nudge, the smaller the gap.",
    straight: "The curve is a straight line here, and the cotangent is its slope.",
    faded: "In the graph, the faded values are those before the nudge.",
    unknown: "unknown",
    unreached: (name) =>
      `No cotangent reached ${name}: you did not ask for it, every path is cut, or no tape watched it.`,
  },
  corner: {
    /** @type {(name: string, operation: string, others: number) => string} */
    at: (name, operation, others) =>
      `${name} is at a corner of ${operation}` +
      (others ? `, and so ${others === 1 ? "is 1 more element" : `are ${others} more elements`}` : ""),
    left: "slope on its left",
    right: "slope on its right",
    taken: "this rule takes",
  },
  broadcasting: {
    /** @type {Copying} */
    apart: (name, axes, times, small, large) =>
      `${name} is broadcast: copied ${times} times along ${axesOf(axes)}, from ${shapeOf(small)} to ${shapeOf(large)}.`,
    /** @type {Copying} */
    together: (name, axes, times, small, large) =>
      `${name} was copied ${times} times along ${axesOf(axes)}, so what comes back to the copies adds up: from ` +
      `${shapeOf(large)} to ${shapeOf(small)}.`,
    copies: (/** @type {number} */ times) => `${times} copies`,
    sum: (/** @type {number[]} */ axes) => `Σ ${axesOf(axes)}`,
  },
  array: {
    asTable: "as a table",
    magnitude: "magnitudes of complex numbers",
    flattened: (/** @type {number} */ count) => `all axes but the last flattened into ${count} rows`,
    /** @type {(n: number, axis: number, axes: number) => string} */
    every: (n, axis, axes) => {
      const nth = `${n}${n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;
      const inner = ["column", "row"][axes - 1 - axis] ?? `index of axis ${axis}`;
      const part = axes === 1 ? "element" : inner;
      return n === 1 ? "" : `every ${nth} ${part}`;
    },
  },
};
