// Modules that are fetched when they are first shown, or a moment after the page is there.

import { api, isAway } from "./api.js";

const PRELOADED = ["now", "tasks", "new_task", "waits", "wait", "new_wait", "live", "new_display", "feed", "recordings", "replay",
  "replay_trial", "commentary", "wakes", "usage", "health"];
const AGAIN_MS = 60000; // a file that is missing for good must not load the page again and again
const torn = new Set();

/** Return the module `name`. Browsers remember for as long as the page lives that a file did not load, so the page is then
 * loaded anew, as soon as the gateway answers. */
export async function load(name) {
  try {
    return await import(`./${name}.js`);
  } catch (fault) {
    if (!(fault instanceof TypeError)) throw fault;
    torn.add(name);
    mend();
    const error = `the file ${name}.js did not load.`;
    throw Object.assign(new Error(error), { error, hint: "The page is loaded anew once the gateway answers." });
  }
}

/** Fetch every module, so that none is missed while the connection is gone. */
export function preload() {
  for (const name of PRELOADED) import(`./${name}.js`).catch(() => {}); // who wants it, asks again with `load`
}

/** Load the page anew where a module that was wanted is missing and the gateway answers. */
export async function mend() {
  if (!torn.size || Date.now() - Number(sessionStorage.getItem("acud-mended")) < AGAIN_MS) return;
  const fault = await api.get("/api/health").then(() => null, (one) => one);
  if (isAway(fault)) return; // it is called again as the link is up
  sessionStorage.setItem("acud-mended", String(Date.now()));
  location.reload();
}
