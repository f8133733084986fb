/** What becomes of entries and tensors: cut, not watched, computed during a pause, never reached; and where to jump. */

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 */
export function readFates(trace, history) {
  const makers = new Map(trace.entries.map((entry, index) => [entry.output, index]));
  /** @type {[Map<number, string>, Set<number>, number[][], Map<number, { tape: number, number: number }>]} */
  const [stopped, during, pauses, ends] = [new Map(), new Set(), [], new Map()];
  /** @type {[Map<number, number[]>, Map<number, number>, Map<string, number[]>]} */
  const [watched, seen, uses] = [new Map(), new Map(), new Map()];
  /**
   * @template K
   * @param {Map<K, number[]>} map
   * @param {K} key
   * @param {number} step
   */
  const note = (map, key, step) => {
    if (!map.has(key)) map.set(key, []);
    map.get(key).push(step);
  };
  /**
   * Which of an entry's inputs an argument is: some arguments are texts, such as the subscripts of einsum.
   * @type {(entry: number, argument: number) => number}
   */
  const inputOf = (entry, argument) =>
    trace.entries[entry].arguments.slice(0, argument).filter(Number.isInteger).length;
  /** @type {number[]} */
  let paused = [];
  trace.steps.forEach((step, number) => {
    const { kind, tape, tensor, entry, argument } = step;
    if (kind === "pause") paused = [...paused, tape];
    if (kind === "resume" || kind === "reset") paused = paused.filter((each) => each !== tape);
    pauses.push(paused);
    if (kind === "watch") note(watched, tensor, tape);
    if (tensor !== undefined && !seen.has(tensor)) seen.set(tensor, number);
    if (step.pass !== undefined && !step.tangent) ends.set(step.pass, { tape, number });
    if (kind === "accumulate") {
      for (const key of [`${entry}.${inputOf(entry, argument)}`, `to ${tensor}`]) note(uses, key, number);
    }
    if (!["record", "cut", "skip"].includes(kind)) return;
    for (const input of trace.entries[entry].inputs) if (!seen.has(input)) seen.set(input, number);
    if (paused.length) during.add(entry);
    if (kind === "cut" || (kind === "skip" && !trace.entries[entry].tapes.length)) stopped.set(entry, kind);
  });
  /** @type {(steps: number[] | undefined, at: number) => number | undefined} */
  const inPass = (steps, at) => steps?.find((step) => trace.steps[step].pass === history.pass[at]) ?? steps?.[0];
  const stops = (/** @type {number} */ entry) => stopped.get(entry);
  /** @type {(tensor: number, step: number) => string | null} */
  const state = (tensor, step) => (makers.has(tensor) ? history.state(makers.get(tensor), step) : null);
  /**
   * Whether a backward pass has ended that might have reached the tensor, and has not.
   * @type {(tensor: number, step: number) => boolean}
   */
  const missed = (tensor, step) => {
    const end = ends.get(history.pass[step]);
    if (!end || step < end.number || history.cotangent(tensor, step)) return false;
    return (trace.entries[makers.get(tensor)]?.tapes ?? watched.get(tensor) ?? []).includes(end.tape);
  };
  /** @type {(tensor: number, step: number) => "skip" | "paused" | "unconnected" | null} */
  const mark = (tensor, step) => {
    const entry = makers.get(tensor);
    if (stopped.get(entry) === "skip") return during.has(entry) ? "paused" : "skip";
    return missed(tensor, step) ? "unconnected" : during.has(entry) ? "paused" : null;
  };
  /** @type {(tensor: number, where: Where | null) => boolean} */
  const isAt = (tensor, where) => {
    const maker = trace.entries[makers.get(tensor)];
    return Boolean(where && maker?.where) && JSON.stringify(where) === JSON.stringify(maker.where);
  };
  /**
   * The step at which a pass that is on show comes to an entry, or else the one that computes the entry.
   * @type {(entry: number, at: number) => number}
   */
  const stepOfEntry = (entry, at) => {
    const [pulled, appeared] = [history.pulled(entry, at), history.appeared[entry]];
    const reached = history.backward[at] || history.pushing(at) ? pulled : undefined;
    return reached ?? (Number.isFinite(appeared) ? appeared : (pulled ?? at));
  };
  /** @type {(entry: number, input: number, at: number) => number} */
  const stepOfUse = (entry, input, at) =>
    (history.backward[at] ? inPass(uses.get(`${entry}.${input}`), at) : undefined) ?? stepOfEntry(entry, at);
  /** @type {(tensor: number, at: number) => number} */
  const stepOfTensor = (tensor, at) => {
    if (makers.has(tensor)) return stepOfEntry(makers.get(tensor), at);
    return (history.backward[at] ? inPass(uses.get(`to ${tensor}`), at) : undefined) ?? seen.get(tensor) ?? at;
  };
  const names = (/** @type {number} */ step) => pauses[step].map(history.tapeName);
  /** @type {(entry: number, input: number) => boolean} */
  const flowsBack = (entry, input) => uses.has(`${entry}.${input}`);
  return { stops, inputOf, flowsBack, state, mark, isAt, stepOfEntry, stepOfUse, stepOfTensor, paused: names };
}
