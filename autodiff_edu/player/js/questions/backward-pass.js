/** Predict's questions about the backward pass: what it reaches, in which order it goes, and what it adds up. */

import { askChoice, askNumber, askShape, isNumber, numberIn } from "../answers.js";
import { flat, isWritten, magnitude } from "../array.js";
import { ANSWERS, STRINGS } from "../strings.js";

/**
 * @param {Trace} trace
 * @param {import("../history.js").History} history
 * @param {import("./index.js").Named} named
 */
export function backwardQuestions({ steps, entries, tensors }, history, { name, whole, called, factor }) {
  const { hints, why, ...words } = STRINGS.predict;
  const makers = new Map(entries.map((entry) => [entry.output, entry]));
  /** @type {Set<Entry>} */
  const cuts = new Set(); // the entries through which nothing flows
  /** @type {Map<number, number[]>} */
  const watched = new Map(); // by the tape
  /** @type {Map<number, { first: number, sums: Map<number, Step[]> }>} */
  const passes = new Map(); // {first step, sums: the steps that add to each tensor}
  steps.forEach(({ kind, tape, entry, tensor, pass }, number) => {
    if (kind === "cut") cuts.add(entries[entry]);
    if (kind === "watch") watched.set(tape, [...(watched.get(tape) ?? []), tensor]);
    if (pass === undefined) return;
    if (!passes.has(pass)) passes.set(pass, { first: number, sums: new Map() });
    const { sums } = passes.get(pass);
    if (kind === "accumulate") sums.set(tensor, [...(sums.get(tensor) ?? []), steps[number]]);
  });
  /**
   * Whether what a tape recorded leads from a tensor to another.
   * @type {(source: number, target: number, tape: number) => boolean}
   */
  const leads = (source, target, tape) => {
    const [seen, waiting] = [new Set(), [target]];
    for (const at of waiting) {
      const maker = makers.get(at);
      if (at === source) return true;
      if (seen.has(at) || !maker?.tapes.includes(tape) || cuts.has(maker)) continue;
      seen.add(at);
      waiting.push(...maker.inputs);
    }
    return false;
  };
  /** @type {(tensor: number, number: number) => Mistake} */
  const valueOf = (tensor, number) => [Number(history.value(tensor, number)), hints.value(name(tensor))];

  /**
   * What becomes of a source: asked only where something reaches it, or nothing can.
   * @type {(step: Step, number: number) => Question | null}
   */
  const fate = ({ tensor, tape, pass }, number) => {
    const { first, sums } = passes.get(pass);
    const known = (watched.get(tape) ?? []).filter((each) => each !== tensor);
    const source = known.find((each) => !leads(each, tensor, tape)) ?? known.find((each) => sums.has(each));
    if (first !== number || source === undefined) return null;
    const { zero, none, other } = words.fates;
    const prompt = words.fate(name(tensor), name(source));
    if (!sums.has(source)) {
      /** @type {Mistake[]} */
      const mistakes = [[zero, hints.zero], [other, hints.noPath]];
      return askChoice([other, zero, none], none, { prompt, mistakes, why: why.none(name(tensor), name(source)) });
    }
    const slopes = flat(sums.get(source).at(-1).after);
    if (!slopes.every((item) => Number.isFinite(magnitude(item)))) return null; // neither 0 nor a number that is not 0
    const isZero = slopes.every((item) => item === 0);
    /** @type {Partial<Question>} */
    const about = { prompt, mistakes: [[none, hints.path]], hint: hints.chain };
    return askChoice([other, zero, none], isZero ? zero : other, about);
  };

  /** @type {(step: Step, number: number) => Question | null} */
  const next = ({ entry, tape, pass }, number) => {
    const { first } = passes.get(pass);
    const left = [...entries.keys()].filter((index) => {
      const pulled = history.pulled(index, number);
      const isOver = steps[pulled]?.pass === pass && pulled < number;
      return entries[index].tapes.includes(tape) && history.appeared[index] < first && !isOver;
    });
    const at = left.indexOf(entry);
    const some = new Set([at, 0, at - 1, at + 1].filter((index) => index in left));
    const options = [...some].sort((one, other) => one - other).map((index) => whole(left[index]));
    if (at < 0 || options.length < 2 || new Set(options).size < options.length) return null;
    return askChoice(options, whole(entry), { prompt: words.next(called(tape)), hint: hints.next });
  };

  /**
   * What an array's cotangent has at its largest element once a contribution is added.
   * @type {(step: Step, hint: string) => Question}
   */
  const elementOf = ({ entry, tensor, before, contribution, after }, hint) => {
    const spell = (/** @type {number} */ number) => String(Number(number.toPrecision(6)));
    const [had, added, right] = [before, contribution, after].map((array) => /** @type {number[]} */ (flat(array)));
    if (after.every || !right.every((item) => Number.isFinite(item))) return null;
    const at = right.reduce((most, item, k) => (Math.abs(item) > Math.abs(right[most]) ? k : most), 0);
    let [rest, index] = [at, ""];
    for (const length of after.shape.toReversed()) {
      [rest, index] = [Math.floor(rest / length), `, ${rest % length}${index}`];
    }
    const prompt = words.accumulates.number(`${name(tensor)}[${index.slice(2)}]`, whole(entry), spell(had[at]));
    /** @type {Mistake[]} */
    const mistakes = [
      [added[at], hints.replaced(spell(had[at]))], [had[at], hints.before(name(tensor))],
      [had[at] - added[at], hints.sign],
    ];
    return askNumber({ data: right[at], text: String(right[at]) }, { prompt, mistakes, hint });
  };

  /** @type {(step: Step, number: number) => Question | null} */
  const sum = (at, number) => {
    const { entry, argument, tensor, before, contribution, after, pass } = at;
    const { arguments: given, output } = entries[entry];
    const [g, from] = [history.arrived(entry, number), history.pulled(entry, number)];
    // What an outer tape records of this pass has already shown the result; a sum is asked about before that.
    if (!before && steps.slice(from, number).some(({ kind }) => kind === "record")) return null;
    const derivative = factor(entry, argument);
    /** @param {"number" | "shape"} asks */
    const prompt = (asks) => words.accumulates[asks](name(tensor), whole(entry), before?.text);
    if (before && (after.shape.length === 1 || isWritten(after))) return elementOf(at, hints.rule(derivative, g?.text));
    if (after.shape.length) {
      const { shape } = g ?? tensors[output].value;
      const copied = shape.length > after.shape.length || shape.some((n, axis) => n > 1 && after.shape[axis] === 1);
      const hint = (copied ? hints.broadcast : hints.outputShape)(name(tensor), ANSWERS.shape(shape));
      /** @type {Mistake[]} */
      const mistakes = [[shape, hint], [after.shape.toReversed(), hints.reversed]];
      const about = { prompt: prompt("shape"), mistakes, hint: hints.likeInput };
      return after.dtype ? askShape(after, about) : null;
    }
    if (!isNumber(after) || !isNumber(contribution)) return null;
    const [had, added] = [before ? numberIn(before) : 0, numberIn(contribution)];
    const arrived = g && isNumber(g) ? numberIn(g) : NaN;
    const local = added / arrived;
    const others = steps.slice(from, from + 2 * given.length + 1).filter((step) =>
      step.kind === "accumulate" && step.entry === entry && step.pass === pass && step.argument !== argument);
    /** @type {(value: number, hint: string) => Mistake[]} */
    const alone = (value, hint) => [[had + value, hint], [value, hint]];
    /** @type {Mistake[]} */
    const mistakes = [
      [added, before && hints.replaced(before.text)],
      ...alone(local, hints.local(derivative, g?.text)),
      ...alone(arrived, hints.arrived(derivative)),
      ...alone(-added, hints.sign),
      ...others.flatMap((step) =>
        alone(numberIn(step.contribution), hints.argument(name(/** @type {number} */ (given[step.argument]))))),
      [had, before && hints.before(name(tensor))],
      valueOf(tensor, number), valueOf(output, number),
      ...alone(arrived / local, hints.reciprocal),
      [null, hints.path],
    ];
    return askNumber(after, { prompt: prompt("number"), mistakes, hint: hints.rule(derivative, g?.text) });
  };

  /**
   * A whole derivative, from the code alone: a drill asks it before the pass starts.
   * @type {(step: Step, number: number, ask: Ask) => Question}
   */
  const gradient = ({ tensor, pass }, number, { subject, target, result }) => {
    const prompt = words.gradient(result);
    const source = tensors.findIndex((each) => each.name === subject);
    const sums = passes.get(pass).sums.get(source);
    if (!sums) {
      /** @type {Pick<Question, "right" | "shown" | "mistakes" | "hint">} */
      const about = { right: null, shown: "None", mistakes: [[0, hints.zero]], hint: hints.noPath };
      return { asks: "number", prompt, ...about, why: why.none(target, subject) };
    }
    const { after } = sums.at(-1);
    const right = numberIn(after);
    /** @type {Mistake[]} */
    const parts = sums.length > 1 ? sums.map(({ contribution }) => [numberIn(contribution), hints.parts]) : [];
    /** @type {Mistake[]} */
    const mistakes = [
      [null, hints.path], ...parts, [-right, hints.sign],
      [valueOf(tensor, number)[0], hints.value(target)], valueOf(source, number),
      [1 / right, hints.reciprocal],
    ];
    const explained = why.parts(sums.map(({ contribution }) => contribution.text).join(" + "), after.text);
    return askNumber(after, { prompt, mistakes, hint: hints.chain, why: parts.length ? explained : "" });
  };
  return { fate, next, sum, gradient };
}
