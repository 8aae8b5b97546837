// A page without a browser for the tests: the document of happy-dom, frames that are painted when a test says so.

import { createRequire } from "node:module";

const { Window } = createRequire(new URL("../../.state/javascript/", import.meta.url))("happy-dom");

const window = new Window({ url: "http://127.0.0.1/dashboard#/waits" });
const NAMES = ["document", "Node", "Element", "HTMLElement", "Event", "KeyboardEvent", "MouseEvent", "CustomEvent", "location",
  "history", "CSS", "getComputedStyle", "localStorage", "sessionStorage"];
for (const name of NAMES) Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });

class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}
Object.assign(globalThis, { ResizeObserver: Observer, IntersectionObserver: Observer });

const frames = new Map();
let newest = 0;
globalThis.requestAnimationFrame = (work) => {
  frames.set(++newest, work);
  return newest;
};
globalThis.cancelAnimationFrame = (frame) => frames.delete(frame);

/** Do what waits for the next frame. */
export function paint() {
  const due = [...frames.values()];
  frames.clear();
  for (const work of due) work();
}

/** Put `node` into the page, `height` px high where it is given. */
export function show(node, height) {
  document.body.replaceChildren(node);
  if (height) Object.defineProperty(node, "clientHeight", { value: height, configurable: true });
  return node;
}

/** Have a person type `value` into `field`, or choose it there. */
export function enter(field, value) {
  field.value = value;
  for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
}
