// The displays with what is going on on them: their task, and the waits that watch them.

import { allowed, query } from "./api.js";

const MOST_TASKS = 200;
const MOST_WAITS = 1000;

/** Return the displays, each with its `task` and how many waits watch it (`watching`), of how many the newest verdict is
 * unknown (`unsure`; so it is while a target is missing), and how many wait for their judge (`behind`). What this session may not ask is left out.
 * @param {Gateway} api @param {AbortSignal} [signal] @returns {Promise<Display[]>}
 */
export async function busyDisplays(api, signal) {
  const [listed, tasks, waits] = await Promise.all([
    api.get("/api/displays", signal),
    allowed(api.get(query("/api/tasks", { status: ["active", "paused"], limit: MOST_TASKS }), signal), { tasks: [], total: 0 }),
    allowed(api.get(query("/api/waits", { state: "watching", limit: MOST_WAITS }), signal), { waits: [], total: 0, facets: null }),
  ]);
  waits.waits.forEach(remember);
  const on = new Map(tasks.tasks.map(({ task }) => [task.display_number, task]));
  return listed.displays.map((display) => {
    const mine = waits.waits.filter((wait) => wait.display === display.name);
    const unsure = mine.filter(({ verdict }) => isUnknown(verdict)).length;
    return { ...display, task: on.get(display.number), watching: mine.length, unsure, behind: mine.filter(isBehind).length };
  });
}

const BEHIND_S = 5; // less is the time of one look

/** Tell whether the judge of `wait` is so far behind that its verdict may be old.
 * @param {Api.WaitInfo} wait
 */
export const isBehind = (wait) => wait.behind_s > BEHIND_S;

/** @param {{ answer?: string; code?: string }} given */
const isUnknown = ({ answer, code }) => answer === "unknown" && code !== "not_judged";

/** @type {Map<string, { isUnknown: boolean; isBehind: boolean; note: string }>} */
const KNOWN = new Map(); // of each wait that watches

/** @param {Api.WaitInfo} wait */
function remember(wait) {
  const { wait_id: id, state, verdict, note } = wait;
  if (state === "watching") KNOWN.set(id, { isUnknown: isUnknown(verdict), isBehind: isBehind(wait), note });
  else KNOWN.delete(id);
}

/** Tell whether `event`, of a wait, may make it unsure or sure: most verdicts say the same as the one before.
 * @param {BusEvent} given
 */
export function turnsSure({ topic, subject, data }) {
  const known = KNOWN.get(subject);
  if (topic === "wait.note") return known?.note !== data.text;
  return topic === "wait.judged" && (!known || known.isBehind || Boolean(known.note) || known.isUnknown !== isUnknown(data));
}

/** Tell whether nothing is going on on `display`: no task, no wait, nobody who has taken it over, and it is well.
 * @param {Display} display
 */
export function isIdle(display) {
  return !display.task && !display.watching && !display.taken_by && display.state === "up";
}
