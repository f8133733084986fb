/** The entry at hand: its inputs, its output, the cotangent that arrived, and the accumulator. */

import { UNKNOWN, make, set, write } from "./dom.js";

export function panelView(trace, history) {
  const fields = {};
  const field = (name, tag = "span") =>
    (fields[name] = make(tag, { "data-field": name, class: tag === "span" ? "value" : null }));
  const row = (label, value) => make("div", {}, label, make("dd", {}, value));
  const span = (name, text) => make("span", { class: name }, text);
  const part = (sign, name) => make("div", { class: "part" }, span("sign", sign), span("label", name), field(name));
  const output = [row(field("value of", "dt"), field("value")), row(field("cotangent of", "dt"), field("cotangent"))];
  const sum = make("div", { class: "sum" }, part("", "before"), part("+", "contribution"), part("=", "after"));
  const accumulator = make("div", { class: "accumulator" }, make("p", {}, field("target", "b"), field("count")), sum);
  const parts = [field("operation"), field("inputs", "dl"), make("dl", {}, ...output), accumulator];
  const describe = ({ name, value }) => (value.shape.length ? `${name} (${value.shape.join("×")})` : name);
  const show = (number) => {
    const step = trace.steps[number];
    const entry = trace.entries[step.entry];
    const subject = entry?.output ?? step.tensor;
    const about = trace.tensors[subject];
    const arrived = entry ? history.arrived(step.entry, number) : about && history.cotangent(subject, number);
    const sums = step.kind === "accumulate";
    const texts = {
      caption: entry?.number ? `Entry ${entry.number}` : entry ? "Not recorded" : about ? "Tensor" : "Entry",
      operation: entry ? `${about.name} = ${entry.text}` : about?.name,
      "value of": about ? `value of ${describe(about)}` : "value",
      value: about && history.value(subject, number),
      "cotangent of": about ? `cotangent of ${about.name}` : "cotangent",
      cotangent: arrived?.text,
      target: sums ? `cotangent of ${trace.tensors[step.tensor].name}` : "accumulated cotangent",
      before: sums ? (step.before?.text ?? "nothing yet") : UNKNOWN,
      contribution: step.contribution?.text ?? UNKNOWN,
      after: step.after?.text ?? UNKNOWN,
      count: sums ? `${step.count} of ${step.of}` : "",
    };
    for (const [key, text] of Object.entries(texts)) write(fields[key], text ?? UNKNOWN);
    const shown = (tensor) => make("span", { class: "value", "data-input": tensor }, history.value(tensor, number));
    const input = (tensor) => row(make("dt", {}, `input ${describe(trace.tensors[tensor])}`), shown(tensor));
    fields.inputs.replaceChildren(...Array.from(new Set(entry?.inputs), input));
    set(sum, "data-active", sums || null);
    // Arrays need the whole width, one below the other.
    set(sum, "data-long", [texts.before, texts.contribution, texts.after].some((text) => text.length > 14) || null);
  };
  const body = make("div", { class: "body" }, ...parts);
  return { element: make("figure", { class: "panel" }, field("caption", "figcaption"), body), show };
}
