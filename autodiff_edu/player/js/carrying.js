/**
 * What becomes of a contribution once its bead has come along the line, as one movement: the product lights in the
 * formula while the bead travels; from the arrow's head the contribution then goes over to that product, to where it is
 * added, and into the sum, which is seen from then on, in the box of the graph, too.
 */

const [AT_PRODUCT, ADDED] = [[0.35, 0.45], [0.7, 0.8]]; // portions of the flight at which it arrives there and leaves
const PADDING = 8; // pixels at both sides of what is carried, as in panel.css

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
  flow.run(contribution, [{ opacity: 0 }, { opacity: 0 }], { duration: (1 + 2 * ADDED[0]) * third });
  for (const part of after.children) flow.run(part, [{ opacity: 0 }, { opacity: 0 }], { duration: 3 * third });

  const copy = /** @type {HTMLElement} */ (contribution.cloneNode(true));
  copy.classList.add("carried");
  copy.setAttribute("aria-hidden", "true");
  for (const part of copy.querySelectorAll("[data-field], [tabindex]")) {
    for (const name of ["data-field", "tabindex"]) part.removeAttribute(name);
  }
  const around = panel.getBoundingClientRect();
  const unit = around.width / panel.offsetWidth || 1; // of a panel that is drawn larger
  /** @type {(place: Element) => DOMRect} */
  const inside = (place) =>
    (place.querySelector(".numbers, .heat, .value:not([data-aside])") ?? place).getBoundingClientRect();
  const { width, height } = inside(contribution);
  copy.style.width = `${width / unit + 2 * PADDING}px`;
  /** @type {(x: number, y: number, more: Keyframe) => Keyframe} */
  const at = (x, y, { scale = 1, ...more }) => {
    const [left, top] = [(x - around.left - width / 2) / unit - PADDING, (y - around.top - height / 2) / unit];
    return { transform: `translate(${left}px, ${top}px) scale(${scale})`, easing: "ease-in-out", ...more };
  };
  /** @type {(place: Element, more: Keyframe) => Keyframe} */
  const over = (place, more) => {
    const { left, top, width: wide, height: tall } = inside(place);
    return at(left + wide / 2, top + tall / 2, more);
  };
  panel.append(copy);
  const [bead, small] = [flow.rest(), { scale: 0.8 }];
  const ways = [
    bead ? at(bead[0], bead[1], small) : over(product ?? contribution, small),
    ...(product ? AT_PRODUCT.map((offset) => over(product, { offset, ...small })) : []),
    ...ADDED.map((offset) => over(contribution, { offset, opacity: 1 })),
    over(after, { opacity: 0.3 }),
  ];
  const flight = flow.run(copy, ways, { delay: third, duration: 2 * third });
  // It is nowhere before it starts, and nowhere after it has arrived.
  flow.run(copy, [{ visibility: "hidden" }, { visibility: "hidden" }], { duration: third });
  for (const end of ["finish", "cancel"]) flight.addEventListener(end, () => copy.remove());
}
