/** Which keys are the player's, and which are those of the page around it. */

const MARK = "data-lm-suppress-shortcuts"; // JupyterLab reads keys before the page does, and leaves alone what has it
const FIELD = "input:not([type=range]), select, textarea";
const EDITS = /^[acvxyz]$/i; // what is typed is copied, pasted and taken back by the field itself

/** @type {WeakSet<EventTarget>} what keeps its keys; the mark itself comes and goes */
const keepers = new WeakSet();
const keep = (/** @type {Element} */ part) => { keepers.add(part); part.setAttribute(MARK, "true"); };

/**
 * Keeps keys from JupyterLab, but for combinations with Ctrl or ⌘, such as the one that saves the notebook.
 * @param {Element[]} parts the host and what is drawn in it
 */
export function keepKeys(...parts) {
  for (const part of parts) {
    keep(part);
    part.addEventListener("focusin", (event) => keep(/** @type {Element} */ (event.target)));
  }
}

/** @param {KeyboardEvent} event */
function isOfThePage(event) {
  if (!event.metaKey && (!event.ctrlKey || event.altKey)) return false; // Ctrl with Alt types signs
  const [target] = /** @type {Element[]} */ (event.composedPath());
  return !target.matches?.(FIELD) || (/^[a-z]$/i.test(event.key) && !EDITS.test(event.key));
}

// One listener for all players, and before JupyterLab's, which sits at the document.
globalThis.window?.addEventListener("keydown", (event) => {
  const kept = !isOfThePage(event);
  for (const part of event.composedPath()) {
    if (!keepers.has(part)) continue;
    if (kept) keep(/** @type {Element} */ (part));
    else /** @type {Element} */ (part).removeAttribute(MARK);
  }
}, true);
