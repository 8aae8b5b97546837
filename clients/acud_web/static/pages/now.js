// The overview: what is going on now, in numbers, as pictures and in lists; before anything is, the first three steps.

import { query } from "../parts/api.js";
import { busyDisplays, isIdle, turnsSure } from "../parts/displays.js";
import { el, fill, keyed } from "../parts/dom.js";
import { latest, logLine } from "./feed.js";
import { TOPICS } from "../live/screens.js";
import { Panel } from "../parts/panel.js";
import { card, panelHead, when } from "../parts/widgets.js";
import { sheet } from "../parts/sheet.js";
import { taskRow } from "./tasks.js";
import { Cards } from "../live/thumbnails.js";
import { waitRow } from "./waits.js";
import { count, money } from "../parts/words.js";

const SCREENS = 12;
const TASKS = 8;
const WAITS = 8;
const EVENTS = 12;

/** @param {HTMLElement} element @param {Page} given */
export async function mount(element, { api, bus }) {
  await sheet("screens.css");
  const tiles = el("div.tiles", {});
  const [screens, tasks, waits, feed] = [1, 2, 3, 4].map(() => el("div.body.flush", {}));
  const cards = new Cards();
  const parts = {
    screens: card("Screens", screens, el("a", { href: "#/screens" }, "All screens")),
    tasks: card("Tasks under way", tasks, el("a", { href: "#/tasks" }, "All tasks")),
    waits: card("Newest waits", waits, el("a", { href: "#/waits?kind=all" }, "All waits")),
  };
  const begin = firstSteps();
  /** @type {Record<string, boolean | null>} */
  const has = { screens: null, tasks: null, waits: null };
  // What holds nothing takes no room; where nothing is there at all, the first steps stand in its place.
  /** @param {"screens" | "tasks" | "waits"} name @param {boolean} some */
  const arrange = (name, some) => {
    has[name] = some;
    for (const [one, node] of Object.entries(parts)) node.hidden = has[one] === false;
    begin.hidden = !Object.values(has).every((one) => one === false);
    return !some;
  };
  fill(
    element,
    panelHead("Overview"),
    tiles,
    el(
      "div.grid",
      {},
      begin,
      parts.screens,
      el("div.grid.halves", {}, parts.tasks, parts.waits),
      card("Latest events", feed, el("a", { href: "#/feed" }, "The feed")),
    ),
  );
  const panels = [
    new Panel(tiles, bus, {
      load: (signal) => api.get("/api/health", signal),
      show: showTiles,
      topics: ["task.", "wait.", "display.", "wake.", "child."],
      everyMs: 10000,
      soonMs: 1000,
    }),
    new Panel(screens, bus, {
      load: (signal) => busyDisplays(api, signal),
      topics: TOPICS,
      hears: turnsSure,
      everyMs: 10000,
      soonMs: 2000,
      isEmpty: (shown) => arrange("screens", shown.length > 0),
      show: (body, shown) => showScreens(body, cards, shown),
    }),
    new Panel(tasks, bus, {
      load: (signal) => api.get(query("/api/tasks", { status: ["active", "paused"], limit: TASKS }), signal),
      topics: ["task.", "wait."],
      everyMs: 5000,
      soonMs: 1000,
      isEmpty: (data) => arrange("tasks", data.tasks.length > 0),
      show: (body, data) =>
        fill(
          body,
          list("Tasks under way", data.tasks, (one) => one.task.task_id, taskRow, body),
        ),
    }),
    new Panel(waits, bus, {
      load: (signal) => api.get(`/api/waits?limit=${WAITS}`, signal),
      topics: ["wait."],
      soonMs: 1000,
      isEmpty: (data) => arrange("waits", data.waits.length > 0),
      show: (body, data) =>
        fill(
          body,
          list("Waits", data.waits, (one) => one.wait_id, waitRow, body),
        ),
    }),
    new Panel(feed, bus, {
      load: async (signal) => (await latest(4 * EVENTS, signal)).slice(0, EVENTS),
      topics: ["task.", "wait.", "wake.", "display.", "child.", "recording."],
      soonMs: 1000,
      isEmpty: (events) => !events.length,
      empty: () => "Nothing has happened yet.",
      show: (body, events) =>
        fill(
          body,
          list("Latest events", events, (one) => one.n, logLine, body, "log-rows"),
        ),
    }),
  ];
  return () => {
    for (const panel of panels) panel.stop();
    cards.keep([]);
  };
}

// Those where something is going on first.
/** @param {HTMLElement} body @param {Cards} cards @param {Display[]} displays */
function showScreens(body, cards, displays) {
  const busy = displays.toSorted((one, other) => Number(isIdle(one)) - Number(isIdle(other)) || one.number - other.number);
  const shown = busy.slice(0, SCREENS);
  cards.keep(shown);
  const grid = body.querySelector("ul") ?? el("ul.screen-grid", { "aria-label": "Screens" });
  const rest = displays.length - shown.length;
  fill(body, fill(grid, cards.of(shown)), rest ? el("a.more", { href: "#/screens" }, `${count(rest, "more screen")}`) : null);
}

function firstSteps() {
  const steps = [
    ["Connect an agent", "It learns the tools by itself. Once, on the host:", "acud mcp install"],
    ["Give it a screen", "A task of an agent brings its own. By hand:", "acud display create"],
    ["Wait for something", "Say what the screen should show; the agent is woken when it does. By hand:", 'acud wait create "the build has finished"'],
  ].map(([title, words, command]) => el("li", {}, el("h3", {}, title), el("p", {}, words), el("code", {}, command)));
  return el("section.card.first-steps", { "aria-label": "The first three steps", hidden: true },
    el("div.head", {}, el("h2", {}, "Three steps to begin")), el("ol", {}, steps),
    el("p.muted.small", {}, "What happens then is shown here as it happens."));
}

/** @param {string} label @param {any[]} items @param {(item: any) => any} keyOf
 * @param {(item: any) => Element} make @param {HTMLElement} body
 */
function list(label, items, keyOf, make, body, kind = "rows") {
  const found = body.querySelector("ul") ?? el(`ul.${kind}`, { "aria-label": label });
  return keyed(found, items, keyOf, make);
}

/** @param {HTMLElement} body @param {Api.StatusReply} status */
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

/** @param {string} href @param {string | number} value @param {string} words */
function tile(href, value, words, bad = false) {
  return el(
    "a.card.tile",
    { href, class: bad ? "card tile bad" : "card tile" },
    el("b", {}, String(value)),
    el("span", {}, words),
  );
}
