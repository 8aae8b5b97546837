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
  const on = new Map(tasks.tasks.map(({ task }) => [task.display_number, task]));
  return listed.displays.map((display) => {
    const mine = waits.waits.filter((wait) => wait.display === display.name);
    const unsure = mine.filter(({ verdict, note }) => note || (verdict.answer === "unknown" && verdict.code !== "not_judged"));
    return { ...display, task: on.get(display.number), watching: mine.length, unsure: unsure.length };
  });
}

async function allowed(answer, without) {
  return answer.catch((fault) => (fault.status === 403 ? without : Promise.reject(fault)));
}

/** Tell whether nothing is going on on `display`: no task, no wait, nobody who has taken it over, and it is well. */
export function isIdle(display) {
  return !display.task && !display.watching && !display.taken_by && display.state === "up";
}
