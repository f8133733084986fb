/** Swipes of one finger step, to the left to the next step and to the right back, where nothing else follows them. */

const SHORTEST = 48; // pixels
const LONGEST = 800; // milliseconds; who takes longer reads, or selects
const FLATTEST = 2; // times as far to the side as up or down

/**
 * Whether a finger on an element moves something else sideways: a slider, a picture that is dragged, what scrolls.
 * @param {Element | null} element
 * @param {Element} root
 */
function isTaken(element, root) {
  for (let part = element; part && part !== root; part = part.parentElement) {
    const { overflowX, touchAction } = getComputedStyle(part);
    const scrolls = part.scrollWidth > part.clientWidth + 1 && ["auto", "scroll"].includes(overflowX);
    if (scrolls || touchAction === "none" || part.matches("input, select, textarea")) return true;
  }
  return false;
}

/**
 * @param {HTMLElement} root
 * @param {{ previous: () => void, next: () => void }} moves
 */
export function stepOnSwipes(root, { previous, next }) {
  /** @type {{ x: number, y: number, at: number } | null} */
  let start = null;
  root.addEventListener("touchstart", ({ touches, target, timeStamp }) => {
    const [{ clientX: x, clientY: y }] = touches;
    const alone = touches.length === 1 && !isTaken(/** @type {Element} */ (target), root);
    start = alone ? { x, y, at: timeStamp } : null;
  }, { passive: true });
  root.addEventListener("touchend", ({ changedTouches, timeStamp }) => {
    if (!start || timeStamp - start.at > LONGEST) return;
    const [across, down] = [changedTouches[0].clientX - start.x, changedTouches[0].clientY - start.y];
    start = null;
    if (Math.abs(across) < SHORTEST || Math.abs(across) < FLATTEST * Math.abs(down)) return;
    (across < 0 ? next : previous)();
  });
}
