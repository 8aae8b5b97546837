// Modules that are fetched when they are first shown, or a moment after the page is there.

import { PAGES, PARTS } from "../pages.js";
import { api, isAway } from "./api.js";

const AGAIN_MS = 60000; // a file that is missing for good must not load the page again and again
let isTorn = false;

/** Return the module that `importing` brings. Browsers remember for as long as the page lives that a file did not load, so
 * the page is then loaded anew, as soon as the gateway answers.
 * @template Module @param {() => Promise<Module>} importing
 */
export async function load(importing) {
  try {
    return await importing();
  } catch (/** @type {any} */ fault) {
    if (!(fault instanceof TypeError)) throw fault;
    isTorn = true;
    mend();
    const error = `a file did not load: ${fault.message}`;
    throw Object.assign(new Error(error), { error, hint: "The page is loaded anew once the gateway answers." });
  }
}

/** Fetch every module, so that none is missed while the connection is gone. */
export function preload() {
  const all = [...PAGES.flatMap(({ module, form }) => (form ? [module, form] : [module])), ...Object.values(PARTS)];
  for (const importing of all) importing().catch(() => {}); // a page that needs it asks again with `load`
}

/** Load the page anew where a module that was wanted is missing and the gateway answers. */
export async function mend() {
  if (!isTorn || Date.now() - Number(sessionStorage.getItem("acud-mended")) < AGAIN_MS) return;
  const fault = await api.get("/api/health").then(() => null, (/** @type {any} */ one) => one);
  if (isAway(fault)) return; // it is called again as the link is up
  sessionStorage.setItem("acud-mended", String(Date.now()));
  location.reload();
}
