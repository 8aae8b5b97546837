// What tasks and waits are called, and where they are: people are told names, not ids.

import { allowed, api } from "./api.js";
import { condition } from "./words.js";

const TASKS = new Map();
const WAITS = new Map();
const EVERY_MS = 2000;
/** When each was asked for last, and what settles with its answer. */
const ASKED = { tasks: { atMs: -Infinity, over: Promise.resolve() }, waits: { atMs: -Infinity, over: Promise.resolve() } };

/** @param {string} id */
export const taskName = (id) => TASKS.get(id)?.name ?? "";
/** @param {string} id */
export const taskDisplay = (id) => TASKS.get(id)?.display ?? "";
/** @param {string} id */
export const waitName = (id) => WAITS.get(id)?.name ?? "";
/** {name, display, task} of a wait; empty texts for one that is not known.
 * @param {string} id
 */
export const waitPlace = (id) => WAITS.get(id) ?? { name: "", display: "", task: "" };

/** @param {Api.Task} task */
export function nameTask(task) {
  TASKS.set(task.task_id, { name: task.name, display: task.display ?? "" });
}

/** @param {Api.WaitInfo} wait */
export function nameWait(wait) {
  const name = wait.spec.label || condition(wait.spec.until);
  WAITS.set(wait.wait_id, { name, display: wait.display, task: wait.spec.task_id ?? "" });
}

/** Learn the names of those of these ids that are not known, asking at most every 2 s, and for the newest. One that is
 * older has no name.
 * @param {{ tasks?: string[]; waits?: string[] }} given @param {AbortSignal} [signal]
 */
export async function learn({ tasks = [], waits = [] }, signal) {
  await Promise.all([
    ask("tasks", tasks, TASKS, "/api/tasks?limit=200", ({ tasks }) => { for (const { task } of tasks) nameTask(task); }, signal),
    ask("waits", waits, WAITS, "/api/waits?limit=1000", (found) => found.waits.forEach(nameWait), signal),
  ]);
}

/** @param {"tasks" | "waits"} kind @param {string[]} ids @param {Map<string, any>} known @param {string} path
 * @param {(found: any) => void} take @param {AbortSignal} [signal]
 */
async function ask(kind, ids, known, path, take, signal) {
  const last = ASKED[kind];
  const lacks = () => ids.some((id) => id && !known.has(id));
  while (lacks() && !signal?.aborted) {
    const leftMs = last.atMs + EVERY_MS - Date.now();
    if (leftMs <= 0) {
      last.atMs = Date.now();
      const answer = allowed(api.get(path, signal).then(take), undefined);
      last.over = answer.catch(() => {});
      await answer;
      for (const id of ids) if (id && !known.has(id)) known.set(id, { name: "", display: "", task: "" });
    } else {
      await last.over;
      if (lacks()) await new Promise((done) => setTimeout(done, leftMs));
    }
  }
}
