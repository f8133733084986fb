/**
 * What becomes of a contribution once its bead has come along the line, as one movement in three equal parts: the
 * product lights in the formula while the bead travels, then it goes to where it is added, then into the sum, which is
 * seen from then on.
 */

/**
 * `panel` is shown at the step; what flies is a copy of the contribution.
 * @param {HTMLElement} panel
 * @param {import("./flow.js").Flow} flow
 */
export function carry(panel, flow) {
  const third = flow.third();
  if (!third) return;
  const [contribution, after] = ["contribution", "after"].map((name) =>
    /** @type {HTMLElement} */ (panel.querySelector(`[data-field="${name}"]`).parentNode));
  const lit = panel.querySelector("[data-now] [data-factor]");
  const product = lit?.checkVisibility() ? lit : null; // a first look has no formulas
  const glow = "color-mix(in oklab, var(--accent) 40%, transparent)";
  if (product) flow.run(product, [{ background: glow }, { background: glow }], { duration: 2 * third });
  flow.run(contribution, [{ opacity: 0 }, { opacity: 0 }], { duration: 2 * third });
  for (const part of after.children) flow.run(part, [{ opacity: 0 }, { opacity: 0 }], { duration: 3 * third });

  const copy = /** @type {HTMLElement} */ (contribution.cloneNode(true));
  copy.classList.add("carried");
  copy.setAttribute("aria-hidden", "true");
  for (const part of copy.querySelectorAll("[data-field], [tabindex]")) {
    for (const name of ["data-field", "tabindex"]) part.removeAttribute(name);
  }
  const around = panel.getBoundingClientRect();
  const unit = around.width / panel.offsetWidth || 1; // of a panel that is drawn larger
  /** @type {(element: Element) => [x: number, y: number]} */
  const middle = (element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return [(left + width / 2 - around.left) / unit, (top + height / 2 - around.top) / unit];
  };
  const { width, height } = contribution.getBoundingClientRect();
  copy.style.width = `${width / unit}px`;
  /** @type {(element: Element, more?: Keyframe) => Keyframe} */
  const at = (element, more) => {
    const [x, y] = middle(element);
    const scale = element === product ? 0.8 : 1;
    return { transform: `translate(${x - width / unit / 2}px, ${y - height / unit / 2}px) scale(${scale})`, ...more };
  };
  panel.append(copy);
  const there = at(contribution, { offset: 0.5, opacity: 1 });
  const ways = [at(product ?? contribution, { opacity: 1 }), there, at(after, { opacity: 0.3 })];
  const flight = flow.run(copy, ways, { delay: third, duration: 2 * third, easing: "ease-in-out" });
  // It is nowhere before it starts, and nowhere after it has arrived.
  flow.run(copy, [{ visibility: "hidden" }, { visibility: "hidden" }], { duration: third });
  for (const over of ["finish", "cancel"]) flight.addEventListener(over, () => copy.remove());
}
