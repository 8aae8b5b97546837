// Elements from plain values. Everything a daemon says goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

// el("button.primary", {type: "button", onclick}, "Words", child, null): strings become text nodes, null is left out.
export function el(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  return filled(document.createElement(name), classes, attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  return filled(document.createElementNS(SVG, name), classes, attributes, children);
}

function filled(node, classes, attributes, children) {
  if (classes.length) node.classList.add(...classes);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function text(value) {
  return document.createTextNode(value === null || value === undefined ? "" : String(value));
}

// Make `node` hold exactly `children`, without touching the ones that are there already.
export function fill(node, ...children) {
  const wanted = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  const nodes = wanted.map((child) => (child instanceof Node ? child : text(child)));
  if (nodes.length === node.childNodes.length && nodes.every((child, at) => child === node.childNodes[at])) return node;
  node.replaceChildren(...nodes);
  return node;
}

const KEPT = new WeakMap();

// Show `items` in `node`, one child each, and keep the child of an item that did not change: no flicker, no lost focus,
// no lost scroll place. A child that is made anew gets the focus back on the element with the same `data-focus`.
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

function arrange(node, children) {
  const wanted = new Set(children);
  for (const child of [...node.childNodes]) if (!wanted.has(child)) child.remove();
  children.forEach((child, at) => {
    if (node.childNodes[at] !== child) node.insertBefore(child, node.childNodes[at] ?? null);
  });
}

function focusKey(active) {
  return active?.closest("[data-focus]")?.dataset.focus ?? null;
}

// A function that runs `work` once, `ms` after the first of several calls.
export function settled(work, ms = 200) {
  let timer = 0;
  const call = () => {
    if (!timer)
      timer = setTimeout(() => {
        timer = 0;
        work();
      }, ms);
  };
  call.cancel = () => {
    clearTimeout(timer);
    timer = 0;
  };
  return call;
}
