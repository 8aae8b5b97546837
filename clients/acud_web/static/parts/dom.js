// Elements from plain values. Everything a daemon says goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

// el("button.primary", {type: "button", onclick}, "Words", child, null): strings become text nodes, null is left out.
/** @template {string} Name @param {Name} tag @param {Attributes} [attributes] @param {...Nested} children
 * @returns {ElementOf<Name>} */
export function el(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  return filled(document.createElement(name), classes, attributes, children);
}

/** @param {string} tag @param {Attributes} [attributes] @param {...Nested} children @returns {SVGElement} */
export function svg(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  return filled(document.createElementNS(SVG, name), classes, attributes, children);
}

/** @param {any} node @param {string[]} classes @param {Attributes} attributes @param {Nested[]} children */
function filled(node, classes, attributes, children) {
  if (classes.length) node.classList.add(...classes);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...flat(children));
  return node;
}

/** Return the nodes and texts in `children`, whatever their depth. @param {Nested[]} children @returns {(Node | string)[]} */
function flat(children) {
  const deep = /** @type {any[]} */ (children);
  return deep.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** @param {unknown} value */
export function text(value) {
  return document.createTextNode(value === null || value === undefined ? "" : String(value));
}

// Make `node` hold exactly `children`, without touching the ones that are there already.
/** @param {Element} node @param {...Nested} children */
export function fill(node, ...children) {
  const nodes = flat(children).map((child) => (child instanceof Node ? child : text(child)));
  if (nodes.length === node.childNodes.length && nodes.every((child, at) => child === node.childNodes[at])) return node;
  node.replaceChildren(...nodes);
  return node;
}

const KEPT = new WeakMap();

// Show `items` in `node`, one child each, and keep the child of an item that did not change: no flicker, no lost focus,
// no lost scroll place. A child that is made anew gets the focus back on the element with the same `data-focus`.
/** @param {Element} node @param {any[]} items @param {(item: any) => any} keyOf
 * @param {(item: any, before: any) => Element} make
 */
export function keyed(node, items, keyOf, make) {
  const before = KEPT.get(node) ?? new Map();
  const after = new Map();
  const focus = node.contains(document.activeElement) ? focusKey(document.activeElement) : null;
  for (const item of items) {
    const key = keyOf(item);
    const seal = JSON.stringify(item);
    const kept = before.get(key);
    after.set(key, kept && kept.seal === seal ? kept : { seal, child: make(item, kept?.child ?? null) });
  }
  KEPT.set(node, after);
  arrange(
    node,
    [...after.values()].map((one) => one.child),
  );
  if (focus && !node.contains(document.activeElement))
    node.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
  return node;
}

/** @param {Element} node @param {Element[]} children */
function arrange(node, children) {
  const wanted = new Set(children);
  for (const child of [...node.childNodes]) if (!wanted.has(/** @type {Element} */ (child))) child.remove();
  children.forEach((child, at) => {
    if (node.childNodes[at] !== child) node.insertBefore(child, node.childNodes[at] ?? null);
  });
}

/** @param {Element | null} active */
function focusKey(active) {
  return active?.closest("[data-focus]")?.getAttribute("data-focus") ?? null;
}

// A function that runs `work` once, `ms` after the first of several calls.
/** @param {() => unknown} work @param {number} [ms] */
export function settled(work, ms = 200) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const call = () => {
    if (!timer)
      timer = setTimeout(() => {
        timer = undefined;
        work();
      }, ms);
  };
  call.cancel = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return call;
}
