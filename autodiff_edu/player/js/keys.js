/** The keys of a player, in the tables that both bind and list them. */

import { STRINGS } from "./strings.js";

/** @typedef {Record<string, string[]>} Keys by what they do, in the order in which the player lists them */

/** @satisfies {Keys} */
export const KEYS = {
  next: ["ArrowRight"], previous: ["ArrowLeft"], farther: ["Shift+ArrowRight"], back: ["Shift+ArrowLeft"],
  first: ["Home"], last: ["End"], play: [" "], predict: ["p"], wave: ["w"], fit: ["0"], stage: ["f"], help: ["?"],
};
/** On stage alone; the first two are those of a presenter's remote. @satisfies {Keys} */
export const STAGE_KEYS = {
  next: ["PageDown"], previous: ["PageUp"], tab: [..."123456789"], blank: ["b", "."], leave: ["Escape"],
};

/** @typedef {Record<keyof typeof KEYS | keyof typeof STAGE_KEYS | "reveal", (key?: string) => void>} Actions */

/**
 * What a key does, if it is among some.
 * @type {<Does extends string>(keys: Record<Does, string[]>, event: KeyboardEvent) => Does | undefined}
 */
export function actionOf(keys, { key, shiftKey }) {
  const name = shiftKey && !/^\S$/.test(key) ? `Shift+${key}` : key; // some keyboards type digits with Shift
  return /** @type {(keyof typeof keys)[]} */ (Object.keys(keys)).find((does) => keys[does].includes(name));
}

/**
 * Keys as they stand on the keyboard.
 * @param {string[]} keys
 */
export function spellKeys(keys) {
  const { names, range, either } = STRINGS.keys;
  const spelt = keys.map((key) =>
    key.split("+").map((part) => /** @type {Record<string, string>} */ (names)[part] ?? part).join("+"));
  return spelt.length > 2 ? range(spelt[0], spelt.at(-1)) : spelt.join(either);
}

/**
 * Whether a field has a use for a key. A list has ↑ and ↓, and in a field that is empty there is nowhere to go.
 * @type {(target: Element, key: string) => boolean}
 */
function isTyped(target, key) {
  if (!target.matches("input:not([type=range]), select, textarea")) return false;
  const field = /** @type {HTMLInputElement} */ (target);
  const isFree = field.matches("select") || (field.value === "" && field.matches("input"));
  return !(/^Page/.test(key) || (/^Arrow(Left|Right)$/.test(key) && isFree));
}

/**
 * Does what a key stands for, by the names of the actions; keys that stand for nothing here go on to the page. While
 * something `isAsked`, the next step is its answer.
 * @param {KeyboardEvent} event
 * @param {Actions} actions
 */
export function handleKey(event, actions, onStage = false, isAsked = false) {
  let action = actionOf(KEYS, event) ?? (onStage ? actionOf(STAGE_KEYS, event) : undefined);
  if (action === "leave") { event.stopPropagation(); actions.leave(); return; }
  // What is typed is neither a shortcut of the player nor of the page around it.
  if (isTyped(/** @type {Element} */ (event.target), event.key)) { event.stopPropagation(); return; }
  if (event.ctrlKey || event.altKey || event.metaKey || !action) return;
  event.stopPropagation();
  // On a button that was reached with Tab, Space presses that button.
  if (event.key === " " && /** @type {Element} */ (event.target).matches("button, summary")) return;
  event.preventDefault();
  if (action === "next" && isAsked) action = /** @type {any} */ ("reveal");
  if (!(event.repeat && ["stage", "help", "predict", "reveal"].includes(action))) actions[action](event.key);
}
