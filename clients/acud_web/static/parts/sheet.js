// A module's own style sheet, fetched when the module is first shown.

import { el } from "./dom.js";

const asked = new Map();

/** Return once the sheet `name` applies. Rejects when it can't be had; asked again, it is tried again.
 * @param {string} name
 */
export function sheet(name) {
  if (!asked.has(name)) asked.set(name, load(name).catch((fault) => { asked.delete(name); throw fault; }));
  return asked.get(name);
}

/** @param {string} name */
function load(name) {
  const href = `/static/${name}`;
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const onerror = () => reject(new Error(`${name} did not load`));
    document.head.append(el("link", { rel: "stylesheet", href, onload: resolve, onerror }));
  });
}
