// One task: its plan with what was done under each step, its messages, waits and recordings, and what can be done to it.

import { actionNode } from "./action.js";
import { api, query } from "../parts/api.js";
import { actionButton, confirmed, notice } from "../parts/dialog.js";
import { el, fill, keyed } from "../parts/dom.js";
import { messageEntry, legend } from "./feed.js";
import { Panel } from "../parts/panel.js";
import { badge, card, facts, moreButton, progress, when } from "../parts/widgets.js";
import { recordingRow } from "./recordings.js";
import { ALL_STATES, waitRow } from "./waits.js";
import { count, duration, money, stateWord } from "../parts/words.js";

const ENDED = new Set(["completed", "failed", "cancelled"]);
const MESSAGES = 200;
const MOST_MESSAGES = 1000;

/** @param {HTMLElement} element @param {Page} page @param {string} taskId */
export function mountTask(element, page, taskId) {
  const { bus } = page;
  /** @type {`/api/tasks/${string}`} */
  const path = `/api/tasks/${encodeURIComponent(taskId)}`;
  const head = el("div", {});
  const tree = el("div.tree", {});
  const thread = el("ul.feed.scroller", { tabindex: "0", "aria-label": "Messages" });
  const [threadBody, waits, films] = [el("div", {}), el("div", {}), el("div", {})];
  let messages = MESSAGES;
  /** @param {BusEvent} event */
  const mine = (event) => event.subject === taskId || event.data?.task_id === taskId;
  const recordings = new Panel(films, bus, {
    load: (signal) => api.get(query("/api/recordings", { task: taskId }), signal),
    topics: ["recording."],
    everyMs: 5000,
    isEmpty: (data) => !data.recordings.length,
    empty: () => "No recording. Tasks with a display of their own are recorded when [recording] says so.",
    show: (body, data) =>
      fill(
        body,
        keyed(
          body.querySelector("ul") ?? el("ul.rows", { "aria-label": "Recordings" }),
          data.recordings,
          (one) => one.recording_id,
          (one) => recordingRow(one, page),
        ),
      ),
  });
  const main = new Panel(tree, bus, {
    load: (signal) => api.get(path, signal),
    topics: ["task.", "wait."],
    everyMs: 3000,
    show: (body, data) => {
      showHead(head, data, page);
      showTree(body, data, () => recordings.data?.recordings ?? []);
    },
  });
  const talk = new Panel(threadBody, bus, {
    load: (signal) => api.get(`${path}/messages?limit=${messages}`, signal),
    topics: ["task.", "wait."],
    everyMs: 5000,
    isEmpty: (data) => !data.messages.length,
    empty: () => "Nothing has been said yet.",
    show: (body, /** @type {Api.TaskThreadReply} */ data) => {
      const down = thread.scrollTop + thread.clientHeight >= thread.scrollHeight - 24 || !thread.isConnected;
      keyed(
        thread,
        data.messages.map((one, at) => ({ ...one, at: data.total - data.messages.length + at })),
        (one) => one.at,
        messageEntry,
      );
      const older = data.total > data.messages.length && messages < MOST_MESSAGES;
      fill(
        body,
        older
          ? moreButton(`Show older (${data.total - data.messages.length})`, () => {
              messages = MOST_MESSAGES;
              talk.refresh();
            })
          : null,
        thread,
      );
      if (down) thread.scrollTop = thread.scrollHeight;
    },
  });
  const watched = new Panel(waits, bus, {
    load: (signal) => api.get(query("/api/waits", { task: taskId, state: ALL_STATES, limit: 50 }), signal),
    topics: ["wait."],
    isEmpty: (data) => !data.waits.length,
    empty: () => "This task has waited for nothing yet.",
    show: (body, data) =>
      fill(
        body,
        keyed(
          body.querySelector("ul") ?? el("ul.rows", { "aria-label": "Waits of the task" }),
          data.waits,
          (one) => one.wait_id,
          waitRow,
        ),
      ),
  });
  const off = bus.on("task.deleted", (event) => {
    if (mine(event)) {
      notice("This task was deleted.");
      page.go("tasks");
    }
  });
  const left = el("div.grid", {}, card("Plan", tree), card("Waits", waits), card("Recordings", films, exported(path)));
  fill(
    element,
    el("div.grid", {}, head, el("div.grid.task-grid", {}, left, card("Messages", el("div", {}, threadBody, legend())))),
  );
  return () => {
    off();
    for (const panel of [main, talk, watched, recordings]) panel.stop();
  };
}

/** @param {string} path */
function exported(path) {
  return el("a", { href: `${path}/export`, download: "" }, "Everything as a ZIP");
}

/** @param {HTMLElement} head @param {Api.TaskWhole} given @param {Page} page */
function showHead(head, { task, items, actions = [], live_waits: waits }, page) {
  const costs = actions.map((one) => one.action.cost_usd).filter((one) => one !== null && one !== undefined);
  const spent = costs.length ? money(costs.reduce((sum, one) => sum + one, 0)) : "";
  const seal = JSON.stringify([task, items.map((one) => one.status), spent, waits]);
  if (head.dataset.seal === seal) return;
  head.dataset.seal = seal;
  const { activeElement } = document;
  const focus = activeElement && head.contains(activeElement) ? activeElement.getAttribute("data-focus") : "";
  fill(
    head,
    el(
      "div.head",
      {},
      el("a.button.back", { href: "#/tasks" }, "← Tasks"),
      el("h1", {}, task.name),
      badge(task.status),
      progress(items),
      el("div.tools", {}, controls(task, waits, page)),
    ),
    el(
      "section.card.task-facts",
      { "aria-label": "About the task" },
      el(
        "div.body",
        {},
        facts([
          ["Id", el("code", {}, task.task_id)],
          ["Agent", task.agent_id],
          [
            "Display",
            displayNode(task),
          ],
          ["Begun", when(task.created_at)],
          ["Last sign of life", when(task.updated_at)],
          ["Ended", task.ended_at ? when(task.ended_at) : ""],
          ["Took", task.ended_at ? duration(task.ended_at - task.created_at) : ""],
          ["Spent on judging", spent],
          [
            "Stuck",
            task.stuck_at
              ? el("span.warn-text", {}, "its agent was told to take it up again at ", when(task.stuck_at))
              : "",
          ],
        ]),
      ),
    ),
  );
  if (focus) head.querySelector(`[data-focus="${focus}"]`)?.focus();
}

// Names of displays are used again: the link says which one it was by its number, which never is. A task's own display
// ends with the task.
/** @param {Api.Task} task */
function displayNode(task) {
  if (!task.display) return "";
  if (ENDED.has(task.status)) return `${task.display}, ended with the task`;
  return el("a", { href: `#/screens/${encodeURIComponent(task.display)}?number=${task.display_number}` }, task.display);
}

// ---- controls ---------------------------------------------------------------------------------------------------------

/** @param {Api.Task} task @param {number} waits @param {Page} page */
function controls(task, waits, page) {
  const buttons = [];
  if (!ENDED.has(task.status) && page.may("act")) {
    if (task.status === "active")
      buttons.push(actionButton("Pause", () => moved(task, "paused", waits), { focus: "pause" }));
    else buttons.push(actionButton("Resume", () => moved(task, "active", waits), { tone: "primary", focus: "pause" }));
    buttons.push(actionButton("Cancel…", () => moved(task, "cancelled", waits), { tone: "danger", focus: "cancel" }));
  }
  if (ENDED.has(task.status) && page.may("admin"))
    buttons.push(actionButton("Delete…", () => deleted(task, page), { tone: "danger" }));
  return buttons;
}

/** @type {Record<string, (waits: number) => string[]>} */
const WILL = {
  paused: (waits) => [
    "Its waits stand still and judge nothing; their time limits go on.",
    `${count(waits, "wait")} of it watching now.`,
    "Its agent may go on working: it sees the status with its next request.",
  ],
  active: (waits) => [`Its waits look again at what is on the screen (${count(waits, "wait")}).`],
  cancelled: (waits) => [
    `${count(waits, "wait")} watching for it will be cancelled.`,
    "Its own display, if it has one, ends with all programs on it; its recording is closed and kept.",
    "It can't be taken up again.",
  ],
};

/** @param {Api.Task} task @param {string} status @param {number} waits */
async function moved(task, status, waits) {
  const verb = status === "paused" ? "Pause" : "Cancel the task";
  if (
    status !== "active" &&
    !(await confirmed(`${verb.split(" ")[0]} “${task.name}”?`, WILL[status](waits), verb, {
      tone: status === "cancelled" ? "danger" : "primary",
    }))
  )
    return;
  await api.post(`/api/tasks/${encodeURIComponent(task.task_id)}/status`, { status });
  notice(`The task is ${stateWord(status).word} now.`);
}

/** @param {Api.Task} task @param {Page} page */
async function deleted(task, page) {
  const lines = ["Its plan, actions, messages and recordings are deleted from the disk.", "This can't be undone."];
  if (!(await confirmed(`Delete “${task.name}”?`, lines, "Delete"))) return;
  await api.del(`/api/tasks/${encodeURIComponent(task.task_id)}`);
  page.go("tasks");
}

// ---- the plan -----------------------------------------------------------------------------------------------------------

const WHOLE = -1;

/** @param {HTMLElement} body @param {Api.TaskWhole} given @param {() => Api.RecordingInfo[]} films */
function showTree(body, { items, actions = [] }, films) {
  /** @type {PlanRow[]} */
  const rows = items.map((item) => ({ item, actions: [] }));
  /** @type {PlanRow} */
  const whole = { item: null, actions: [] };
  const under = new Map(rows.map((row) => [row.item?.number, row]));
  for (const one of actions) (under.get(one.action.item ?? WHOLE) ?? whole).actions.push(one);
  if (whole.actions.length) rows.push(whole);
  if (!rows.length) return fill(body, el("p.nothing", {}, "No plan, and nothing done yet."));
  const place = body.querySelector(".items") ?? el("div.items", {});
  keyed(
    place,
    rows,
    (row) => row.item?.number ?? WHOLE,
    (row, before) => itemNode(row, before, films),
  );
  return fill(body, place);
}

/** @param {PlanRow} given @param {HTMLDetailsElement | null} before @param {() => Api.RecordingInfo[]} films */
function itemNode({ item, actions }, before, films) {
  const failed = item?.failed_actions ? `, ${item.failed_actions} failed` : "";
  const list = before?.querySelector("ul.actions") ?? el("ul.actions", {});
  keyed(
    list,
    actions,
    (one) => one.action.action_id,
    (one) => actionNode(one, films),
  );
  const said = item
    ? [el("span.number", {}, `${item.number}.`), el("span.words", {}, item.title), badge(item.status)]
    : [el("span.words", {}, "For the task as a whole")];
  const hidden = item ? item.actions - actions.length : 0;
  const summary = el(
    "summary",
    { "data-focus": `item-${item?.number ?? "whole"}` },
    said,
    el(
      "span.muted.small",
      {},
      `${count(item ? item.actions : actions.length, "action")}${failed}`,
      item?.duration_seconds ? ` · ${duration(item.duration_seconds)}` : "",
    ),
  );
  const older =
    item && hidden > 0
      ? el("p", { class: "muted small actions" }, `The newest ${actions.length} of ${item.actions} actions.`)
      : null;
  const content = actions.length ? list : el("p", { class: "muted small actions" }, "Nothing done here yet.");
  // What somebody opened or closed stays so until the step's state changes.
  const state = item?.status ?? "whole";
  const open = before && before.dataset.state === state ? before.open : ["active", "failed", "whole"].includes(state);
  return el("details", { open, "data-state": state }, summary, older, content);
}
