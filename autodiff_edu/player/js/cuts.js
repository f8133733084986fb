/** What becomes of entries and tensors: cut, not watched, computed during a pause, never reached; and where to jump. */

/**
 * @param {Trace} trace
 * @param {import("./history.js").History} history
 */
export function readCuts(trace, history) {
  const makers = new Map(trace.entries.map((entry, index) => [entry.output, index]));
  /** @type {[Map<number, number>, Map<string, number[]>]} */
  const [seen, uses] = [new Map(), new Map()];
  /**
   * Which of an entry's inputs an argument is: some arguments are texts, such as the subscripts of einsum.
   * @type {(entry: number, argument: number) => number}
   */
  const inputOf = (entry, argument) =>
    trace.entries[entry].arguments.slice(0, argument).filter(Number.isInteger).length;
  trace.steps.forEach(({ kind, tensor, entry, argument }, number) => {
    if (tensor !== undefined && !seen.has(tensor)) seen.set(tensor, number);
    if (kind === "accumulate") {
      for (const key of [`${entry}.${inputOf(entry, argument)}`, `to ${tensor}`]) {
        if (!uses.has(key)) uses.set(key, []);
        uses.get(key).push(number);
      }
    }
    if (!["record", "cut", "skip"].includes(kind)) return;
    for (const input of trace.entries[entry].inputs) if (!seen.has(input)) seen.set(input, number);
  });
  /** @type {(steps: number[] | undefined, at: number) => number | undefined} */
  const inPass = (steps, at) => steps?.find((step) => trace.steps[step].pass === history.pass[at]) ?? steps?.[0];
  /** @param {number} entry */
  const stops = (entry) => ["cut", "skip"].find((fate) => fate === history.computed[entry]);
  /** @type {(tensor: number, step: number) => string | null} */
  const state = (tensor, step) => (makers.has(tensor) ? history.state(makers.get(tensor), step) : null);
  /** @type {(tensor: number, step: number) => "skip" | "paused" | "unconnected" | null} */
  const mark = (tensor, step) => {
    const entry = makers.get(tensor);
    const paused = history.paused[history.appeared[entry]]?.length ? "paused" : null;
    if (history.computed[entry] === "skip") return paused ?? "skip";
    return history.missed(tensor, step) ? "unconnected" : paused;
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
  /** @param {number} tensor */
  const stepOfValue = (tensor) => (makers.has(tensor) ? history.appeared[makers.get(tensor)] : seen.get(tensor));
  const names = (/** @type {number} */ step) => history.paused[step].map(history.tapeName);
  /** @type {(entry: number, input: number) => boolean} */
  const flowsBack = (entry, input) => uses.has(`${entry}.${input}`);
  const found = { stepOfEntry, stepOfUse, stepOfTensor, stepOfValue };
  return { stops, inputOf, flowsBack, state, mark, isAt, ...found, paused: names };
}
