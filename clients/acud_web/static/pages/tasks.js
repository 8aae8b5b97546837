// The tasks, and one of them beside the list.

import { api, query } from "../parts/api.js";
import { el } from "../parts/dom.js";
import { searched } from "../parts/filters.js";
import { mountList } from "../parts/list.js";
import { nameTask } from "../parts/names.js";
import { badge, progress, when } from "../parts/widgets.js";
import { mountTask } from "./task.js";
import { count, stateWord } from "../parts/words.js";

const MOST = 200;
const KINDS = [
  ["live", "Under way"],
  ["ended", "Ended"],
  ["all", "All"],
];
/** @type {Record<string, string[]>} */
const STATUSES = {
  live: ["active", "paused"],
  ended: ["completed", "failed", "cancelled"],
  all: ["active", "paused", "completed", "failed", "cancelled"],
};

/** @param {Api.TaskView} given */
export function taskRow({ task, items, live_waits: waits }) {
  return el(
    "li",
    {},
    el(
      "a.row",
      { href: `#/tasks/${encodeURIComponent(task.task_id)}`, "data-focus": task.task_id },
      el("span.title", {}, task.name),
      badge(task.status),
      el(
        "span.facts",
        {},
        progress(items),
        waits ? el("span", {}, count(waits, "wait")) : null,
        task.display ? el("span", {}, task.display) : null,
        el("span", {}, when(task.updated_at)),
        task.stuck_at ? el("span.warn-text", {}, "stuck") : null,
      ),
    ),
  );
}

/** @type {Record<string, Omit<BulkAct, "run">>} */
const MOVES = {
  paused: {
    words: "Pause…",
    title: "Pause",
    verb: "Pause them",
    done: "paused",
    lines: ["Their waits stand still and judge nothing; their time limits go on.", "Their agents may go on working: they see the status with their next request."],
    good: ({ task }) => task.status === "active",
  },
  active: {
    words: "Resume…",
    title: "Resume",
    verb: "Resume them",
    done: "resumed",
    lines: ["Their waits look again at what is on the screens."],
    good: ({ task }) => task.status === "paused",
  },
  cancelled: {
    words: "Cancel…",
    title: "Cancel",
    verb: "Cancel them",
    tone: "danger",
    done: "cancelled",
    lines: ["Their waits are cancelled.", "Their own displays end with all programs on them.", "They can't be taken up again."],
    good: ({ task }) => ["active", "paused"].includes(task.status),
  },
};

/** @param {"paused" | "active" | "cancelled"} status */
function moving(status) {
  return { ...MOVES[status], run: (/** @type {Api.TaskView} */ { task }) => api.post(`/api/tasks/${encodeURIComponent(task.task_id)}/status`, { status }) };
}

/** @type {WholeShape} */
const SHAPE = {
  title: "Tasks",
  noun: "tasks",
  kinds: KINDS,
  kind: "live",
  most: MOST,
  load: async (kind, limit, signal) => {
    const { tasks, total } = await api.get(query("/api/tasks", { status: STATUSES[kind], limit }), signal);
    for (const { task } of tasks) nameTask(task);
    return { rows: tasks, total };
  },
  filters: ["state", "display", "within"],
  facets: (/** @type {Api.TaskView} */ { task, items }) => ({
    words: searched(task.name, task.agent_id, task.display, task.task_id, ...items.map((item) => item.title)),
    state: task.status,
    display: task.display,
    utcS: task.updated_at,
  }),
  words: (name, value) => (name === "state" ? stateWord(value).word : value),
  topics: ["task.", "wait.created", "wait.resolved", "wait.timeout", "wait.failed", "wait.cancelled"],
  everyMs: 5000,
  id: (one) => one.task.task_id,
  row: taskRow,
  empty: (kind) => (kind === "ended" ? "No task has ended yet." : noTasks()),
  beyond: (rest) => el("p.muted", { class: "muted small nothing" }, `${rest} older ones: acud task list --all`),
  mount: mountTask,
  make: { href: "#/tasks/new", words: "New task", scope: "wait" },
  bulk: { scope: "act", acts: [moving("paused"), moving("active"), moving("cancelled")] },
};

/** @param {HTMLElement} element @param {Page} page @param {string[]} given @param {URLSearchParams} values */
export function mount(element, page, [chosen], values) {
  return mountList(element, page, SHAPE, chosen, values);
}

function noTasks() {
  return [
    el("p", {}, "No task is under way."),
    el(
      "p",
      {},
      "An agent begins one with ",
      el("code", {}, "task_register"),
      "; by hand: ",
      el("code", {}, 'acud task register "Name" "First step"'),
    ),
  ];
}
