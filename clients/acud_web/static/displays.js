// The displays with what is going on on them: their task, and the waits that watch them.

import { query } from "./api.js";

const MOST_TASKS = 200;
const MOST_WAITS = 1000;

/** Return the displays, each with its `task` and the waits that watch it (`watching`, and of these those `unsure`, whose
 * newest verdict is unknown or whose target is missing). What this session may not ask is left out. */
export async function busyDisplays(api, signal) {
  const [listed, tasks, waits] = await Promise.all([
    api.get("/api/displays", signal),
    allowed(api.get(query("/api/tasks", { status: ["active", "paused"], limit: MOST_TASKS }), signal), { tasks: [] }),
    allowed(api.get(query("/api/waits", { state: "watching", limit: MOST_WAITS }), signal), { waits: [] }),
  ]);
  waits.waits.forEach(remember);
  const on = new Map(tasks.tasks.map(({ task }) => [task.display_number, task]));
  return listed.displays.map((display) => {
    const mine = waits.waits.filter((wait) => wait.display === display.name);
    const unsure = mine.filter(isUnsure);
    return { ...display, task: on.get(display.number), watching: mine.length, unsure: unsure.length };
  });
}

const isUnsure = ({ verdict, note }) => note || isUnknown(verdict);
const isUnknown = ({ answer, code }) => answer === "unknown" && code !== "not_judged";

const KNOWN = new Map(); // of each wait that watches: whether its newest verdict is unknown, and its note

function remember({ wait_id: id, state, verdict, note }) {
  if (state === "watching") KNOWN.set(id, { isUnknown: isUnknown(verdict), note });
  else KNOWN.delete(id);
}

/** Tell whether `event`, of a wait, may make it unsure or sure: most verdicts say the same as the one before. */
export function turnsSure({ topic, subject, data }) {
  const known = KNOWN.get(subject);
  if (topic === "wait.note") return known?.note !== data.text;
  return topic === "wait.judged" && (!known || Boolean(known.note) || known.isUnknown !== isUnknown(data));
}

async function allowed(answer, without) {
  return answer.catch((fault) => (fault.status === 403 ? without : Promise.reject(fault)));
}

/** Tell whether nothing is going on on `display`: no task, no wait, nobody who has taken it over, and it is well. */
export function isIdle(display) {
  return !display.task && !display.watching && !display.taken_by && display.state === "up";
}
