// Modules that are fetched when they are first shown, or a moment after the page is there.

import { api, isAway } from "./api.js";

const MODULES = {
  now: () => import("../pages/now.js"),
  tasks: () => import("../pages/tasks.js"),
  new_task: () => import("../pages/new_task.js"),
  waits: () => import("../pages/waits.js"),
  wait: () => import("../pages/wait.js"),
  new_wait: () => import("../pages/new_wait.js"),
  screens: () => import("../live/screens.js"),
  new_display: () => import("../pages/new_display.js"),
  feed: () => import("../pages/feed.js"),
  recordings: () => import("../pages/recordings.js"),
  replay: () => import("../pages/replay.js"),
  replay_trial: () => import("../pages/replay_trial.js"),
  commentary: () => import("../pages/commentary.js"),
  wakes: () => import("../pages/wakes.js"),
  usage: () => import("../pages/usage.js"),
  health: () => import("../pages/health.js"),
};
const AGAIN_MS = 60000; // a file that is missing for good must not load the page again and again
/** @type {Set<string>} */
const torn = new Set();

/** Return the module `name`. Browsers remember for as long as the page lives that a file did not load, so the page is then
 * loaded anew, as soon as the gateway answers.
 * @template {keyof typeof MODULES} Name @param {Name} name
 * @returns {Promise<Awaited<ReturnType<(typeof MODULES)[Name]>>>}
 */
export async function load(name) {
  try {
    return /** @type {any} */ (await MODULES[name]());
  } catch (/** @type {any} */ fault) {
    if (!(fault instanceof TypeError)) throw fault;
    torn.add(name);
    mend();
    const error = `the file ${name}.js did not load.`;
    throw Object.assign(new Error(error), { error, hint: "The page is loaded anew once the gateway answers." });
  }
}

/** Fetch every module, so that none is missed while the connection is gone. */
export function preload() {
  for (const fetched of Object.values(MODULES)) fetched().catch(() => {}); // a page that needs it asks again with `load`
}

/** Load the page anew where a module that was wanted is missing and the gateway answers. */
export async function mend() {
  if (!torn.size || Date.now() - Number(sessionStorage.getItem("acud-mended")) < AGAIN_MS) return;
  const fault = await api.get("/api/health").then(() => null, (/** @type {any} */ one) => one);
  if (isAway(fault)) return; // it is called again as the link is up
  sessionStorage.setItem("acud-mended", String(Date.now()));
  location.reload();
}
