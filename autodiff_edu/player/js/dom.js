/** Making and changing elements; texts enter as text nodes and attributes only. */

import * as SHARED from "../../text/shared.json";

export const UNKNOWN = "—"; // never 0: what has not been computed has no value

export const NARROW_SCREEN = "(max-width: 640px)";

/** @typedef {Node | string | number} Child */

/**
 * @template {Element} E
 * @param {E} node
 * @param {Record<string, any>} attributes
 * @param {Child[]} children
 */
export function build(node, attributes = {}, ...children) {
  for (const [name, value] of Object.entries(attributes)) set(node, name, value);
  node.append(.../** @type {(Node | string)[]} */ (children)); // append turns numbers into text
  return node;
}
/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {[attributes?: Record<string, any>, ...children: Child[]]} rest
 */
export const make = (tag, ...rest) => build(document.createElement(tag), ...rest);
/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {[attributes?: Record<string, any>, ...children: Child[]]} rest
 */
export const draw = (tag, ...rest) => build(document.createElementNS("http://www.w3.org/2000/svg", tag), ...rest);

/**
 * Sets an attribute, or removes it for null; untouched where nothing changes, for that is most of a long trace.
 * @param {Element} node
 * @param {string} name
 * @param {unknown} value
 */
export function set(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

/**
 * @param {Element} node
 * @param {string} text
 */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const WITH_EXPONENT = /(-?[\d.]+e-\d+)/; // which a browser would break after its second hyphen
/**
 * Writes a text in which no number is broken at the end of a line.
 * @param {Element} node
 * @param {string} text
 */
export function writeWhole(node, text) {
  if (node.textContent === text) return;
  const parts = text.split(WITH_EXPONENT);
  node.replaceChildren(...parts.map((part, k) => (k % 2 ? make("span", { class: "whole" }, part) : part)));
}

/** @param {string} text */
export function shorten(text, longest = SHARED.longest_value) {
  const characters = Array.from(text);
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : text;
}

/**
 * Scrolls a box, and never the page around it, until the element inside is in view, or its beginning at least.
 * @param {Element} box
 * @param {Element} element
 */
export function reveal(box, element, margin = 24) {
  requestAnimationFrame(() => {
    const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
    /** @type {(low: number, high: number, from: number, to: number) => number} */
    const shift = (low, high, from, to) =>
      low < from ? low - from - margin : high > to ? Math.min(high - to, low - from - 2 * margin) + margin : 0;
    box.scrollTop += shift(inner.top, inner.bottom, outer.top, outer.bottom);
    box.scrollLeft += shift(inner.left, inner.right, outer.left, outer.right);
  });
}
