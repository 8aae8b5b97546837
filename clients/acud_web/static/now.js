// The overview: what is going on now, in numbers and in two lists.

import { query } from "./api.js";
import { el, fill, keyed } from "./dom.js";
import { feedEntry, latest } from "./feed.js";
import { Panel } from "./panel.js";
import { card, panelHead, tick, when } from "./parts.js";
import { noTasks, taskRow } from "./tasks.js";
import { noWaits, waitRow } from "./waits.js";
import { money } from "./words.js";

const TASKS = 8;
const WAITS = 8;
const EVENTS = 12;

export function mountNow(element, { api, bus }) {
  const tiles = el("div.tiles", {});
  const tasks = el("div.body.flush", {});
  const waits = el("div.body.flush", {});
  const feed = el("div.body.flush", {});
  const cards = el(
    "div.grid.halves",
    {},
    card("Tasks under way", tasks, el("a", { href: "#/tasks" }, "All tasks")),
    card("Newest waits", waits, el("a", { href: "#/waits" }, "All waits")),
  );
  fill(
    element,
    panelHead("Overview"),
    tiles,
    el("div.grid", {}, cards, card("Latest events", feed, el("a", { href: "#/feed" }, "The feed"))),
  );
  const panels = [
    new Panel(tiles, bus, {
      load: (signal) => api.get("/api/health", signal),
      show: showTiles,
      topics: ["task.", "wait.", "display.", "wake.", "child."],
      everyMs: 10000,
    }),
    new Panel(tasks, bus, {
      load: (signal) => api.get(query("/api/tasks", { status: ["active", "paused"], limit: TASKS }), signal),
      topics: ["task.", "wait."],
      everyMs: 5000,
      isEmpty: (data) => !data.tasks.length,
      empty: noTasks,
      show: (body, data) =>
        fill(
          body,
          list("Tasks under way", data.tasks, (one) => one.task.task_id, taskRow, body),
        ),
    }),
    new Panel(waits, bus, {
      load: (signal) => api.get(`/api/waits?limit=${WAITS}`, signal),
      topics: ["wait."],
      isEmpty: (data) => !data.waits.length,
      empty: noWaits,
      show: (body, data) =>
        fill(
          body,
          list("Waits", data.waits, (one) => one.wait_id, waitRow, body),
        ),
    }),
    new Panel(feed, bus, {
      load: async (signal) => (await latest(4 * EVENTS, signal)).events.slice(0, EVENTS),
      topics: ["task.", "wait.", "wake.", "display.", "child.", "recording."],
      isEmpty: (events) => !events.length,
      empty: () => "Nothing has happened yet.",
      show: (body, events) =>
        fill(
          body,
          list("Latest events", events, (one) => one.n, feedEntry, body, "feed"),
        ),
    }),
  ];
  const timer = setInterval(() => tick(element), 1000);
  return () => {
    clearInterval(timer);
    panels.forEach((panel) => panel.stop());
  };
}

function list(label, items, keyOf, make, body, kind = "rows") {
  const found = body.querySelector("ul") ?? el(`ul.${kind}`, { "aria-label": label });
  return keyed(found, items, keyOf, make);
}

function showTiles(body, status) {
  const up = status.displays.filter((one) => one.state === "up").length;
  const dead = status.displays.length - up;
  const lost = status.wakes.undelivered ?? 0;
  fill(
    body,
    tile("#/screens", up, dead ? `displays up, ${dead} not` : "displays up", dead > 0),
    tile("#/waits", status.waits_live, "waits watching"),
    tile("#/usage", status.cost_usd_today === null ? "–" : money(status.cost_usd_today), "spent today"),
    status.wake_routes.length
      ? tile("#/wakes", lost, "wakes not delivered", lost > 0)
      : tile("#/wakes", "–", "no wake route: agents fetch results"),
    tile(
      "#/health",
      status.degraded.length || "none",
      status.degraded.length ? "faults" : "known faults",
      status.degraded.length > 0,
    ),
    el("div.card.tile", {}, el("b", {}, `v${status.version}`), el("span", {}, "up since ", when(status.started_utc_s))),
  );
}

function tile(href, value, words, bad = false) {
  return el(
    "a.card.tile",
    { href, class: bad ? "card tile bad" : "card tile" },
    el("b", {}, String(value)),
    el("span", {}, words),
  );
}
