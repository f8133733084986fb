/** As much of a page as formulas are built of: elements with attributes, texts and children. */

class Element {
  constructor(namespace, tag) {
    Object.assign(this, { namespaceURI: namespace, tag, attributes: {}, children: [], texts: [] });
  }
  append(...parts) {
    this.texts.push(...parts);
    this.children.push(...parts.filter((part) => part instanceof Element));
  }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name] ?? null; }
  removeAttribute(name) { delete this.attributes[name]; }
  get textContent() { return this.texts.map((part) => part.textContent ?? part).join(""); }
  /** The first element below with one of some tags, given as "a, b". */
  querySelector(tags) {
    for (const child of this.children) {
      const found = tags.split(", ").includes(child.tag) ? child : child.querySelector(tags);
      if (found) return found;
    }
    return null;
  }
}

globalThis.document = { createElementNS: (namespace, tag) => new Element(namespace, tag) };
