// The tasks, and one of them beside the list.

import { api, query } from "./api.js";
import { el, fill, keyed } from "./dom.js";
import { arrows } from "./keys.js";
import { Panel, nothing } from "./panel.js";
import { badge, moreButton, panelHead, progress, segments, since, tick } from "./parts.js";
import { mountTask } from "./task.js";
import { count } from "./words.js";

const PAGE = 50;
const MOST = 200;
const KINDS = [
  ["live", "Under way"],
  ["ended", "Ended"],
  ["all", "All"],
];
const STATUSES = {
  live: ["active", "paused"],
  ended: ["completed", "failed", "cancelled"],
  all: ["active", "paused", "completed", "failed", "cancelled"],
};

let kind = "live";

export function taskRow({ task, items, live_waits: waits }) {
  return el(
    "li",
    {},
    el(
      "a.row",
      { href: `#/tasks/${encodeURIComponent(task.task_id)}`, "data-focus": task.task_id, "data-task": task.task_id },
      el("span.title", {}, task.name),
      badge(task.status),
      el(
        "span.facts",
        {},
        progress(items),
        waits ? el("span", {}, count(waits, "wait")) : null,
        task.display ? el("span", {}, task.display) : null,
        el("span", {}, since(task.updated_at)),
        task.stuck_at ? el("span.warn-text", {}, "stuck") : null,
      ),
    ),
  );
}

export function mountTasks(element, page, [chosen]) {
  const list = el("ul.rows", { "aria-label": "Tasks" });
  const body = el("div.scroller", {});
  const detail = el("div.detail", {});
  let limit = PAGE;
  if (chosen && kind === "live") kind = "all";
  const panel = new Panel(body, page.bus, {
    load: (signal) => api.get(query("/api/tasks", { status: STATUSES[kind], limit }), signal),
    topics: ["task.", "wait.created", "wait.resolved", "wait.timeout", "wait.failed", "wait.cancelled"],
    everyMs: 5000,
    isEmpty: (data) => !data.tasks.length,
    empty: () => (kind === "ended" ? "No task has ended yet." : noTasks()),
    show: (place, data) => {
      keyed(list, data.tasks, (one) => one.task.task_id, taskRow);
      for (const row of list.querySelectorAll("a.row")) mark(row, row.dataset.task === chosen);
      const rest = data.total - data.tasks.length;
      fill(
        place,
        list,
        rest > 0
          ? further(
              rest,
              () => {
                limit = Math.min(MOST, limit + PAGE);
                panel.refresh();
              },
              limit,
            )
          : null,
      );
    },
  });
  const choice = segments("Which tasks", KINDS, kind, (to) => {
    kind = to;
    limit = PAGE;
    panel.refresh();
  });
  fill(
    element,
    el(
      "div",
      { class: chosen ? "split open" : "split" },
      el("div.list", {}, panelHead("Tasks", choice), el("div.card", {}, body)),
      detail,
    ),
  );
  arrows(list);
  const stop = chosen
    ? mountTask(detail, page, chosen)
    : fill(detail, el("div.card", {}, nothing("Choose a task to see its plan, what was done, and what was said.")));
  const timer = setInterval(() => tick(element), 1000);
  return () => {
    clearInterval(timer);
    panel.stop();
    if (chosen) stop();
  };
}

function mark(row, here) {
  if (here) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}

function further(rest, more, limit) {
  return limit >= MOST
    ? el("p.muted", { class: "muted small nothing" }, `${rest} older ones: acud task list --all`)
    : moreButton(`Show more (${rest})`, more);
}

export function noTasks() {
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
