// What was said and what happened, each kind in its own colour and named in words: agent, user, wait, system, error.

import { api, query } from "./api.js";
import { el, fill, keyed } from "./dom.js";
import { Panel } from "./panel.js";
import { moreButton, panelHead, segments, when } from "./parts.js";
import { told } from "./told.js";
import { condition, count } from "./words.js";

const PAGE = 100;
const MOST = 1000;
const ANNOUNCE_MS = 4000;

// ---- a task's messages --------------------------------------------------------------------------------------------------

const WHO = { agent: "Agent", user: "User", system: "System" };

export function messageEntry(message) {
  return el(
    "li",
    { class: `entry ${kindOf(message)}` },
    el("span.who", {}, whoOf(message)),
    el("span.when", {}, when(message.created_at)),
    el("p.what", {}, message.content),
  );
}

function kindOf({ role, msg_type: type, content }) {
  if (type === "wait") return "wait";
  if (type === "stuck") return "error";
  if (role === "system" && /^(failed|error)/i.test(content)) return "error";
  if (role === "system" && type === "status" && /complet/i.test(content)) return "good";
  return role in WHO ? role : "system";
}

function whoOf({ role, msg_type: type }) {
  const kind = { wait: "wait", stuck: "stuck", plan: "plan", status: "status" }[type];
  return kind ? `${WHO[role] ?? role} · ${kind}` : (WHO[role] ?? role);
}

export function legend() {
  const rows = [
    ["accent", "agent"],
    ["white", "user"],
    ["warn", "wait"],
    ["quiet", "system"],
    ["good", "done"],
    ["bad", "error"],
  ];
  return el(
    "p.legend",
    {},
    rows.map(([tone, words]) => el("span", {}, el("i", { class: `swatch ${tone}`, "aria-hidden": "true" }), words)),
  );
}

// ---- events ---------------------------------------------------------------------------------------------------------------

export function feedEntry(event) {
  const { kind, who, words, href } = told(event);
  return el(
    "li",
    { class: `entry ${kind}` },
    el("span.who", {}, who),
    el("span.when", {}, when(event.utc_s)),
    el(
      "p.what",
      {},
      href ? el("a", { href }, words) : words,
      event.times > 1 ? el("span.muted", {}, ` × ${event.times}`) : null,
    ),
  );
}

const KINDS = [
  ["", "All"],
  ["task.", "Tasks"],
  ["wait.", "Waits"],
  ["faults", "Faults"],
];

export function mountFeed(element, { bus }) {
  const list = el("ul.feed", { "aria-label": "Events" });
  const spoken = el("p.hidden", { "aria-live": "polite" });
  const body = el("div", {});
  let limit = PAGE,
    chosen = "",
    fresh = 0,
    newest = 0;
  const panel = new Panel(body, bus, {
    load: (signal) => latest(limit, signal),
    topics: ["task.", "wait.", "wake.", "display.", "child.", "judge.", "recording.", "daemon.", "web."],
    isEmpty: (data) => !data.events.length,
    empty: () => "Nothing has happened yet. What agents, waits and displays do is told here.",
    show: (place, data) => {
      fresh += newest ? data.events.filter((one) => one.n > newest).length : 0;
      newest = data.newest;
      const shown = data.events.filter((one) => fits(one, chosen));
      keyed(list, shown, (one) => one.n, feedEntry);
      const more = !data.trimmed && data.first > 0 && limit < MOST;
      const end = data.trimmed ? el("p.muted.small.nothing", {}, "Older events are not kept any more.") : null;
      fill(
        place,
        shown.length ? list : el("p.nothing", {}, "None of this kind among the newest."),
        more
          ? moreButton("Show older", () => {
              limit = Math.min(MOST, limit * 3);
              panel.refresh();
            })
          : end,
      );
    },
  });
  // A busy daemon would flood a screen reader: it hears how many came, at most every few seconds.
  const timer = setInterval(() => {
    if (fresh) fill(spoken, `${count(fresh, "new event")}: ${told(panel.data.events[0]).words}`);
    fresh = 0;
  }, ANNOUNCE_MS);
  fill(
    element,
    panelHead(
      "Feed",
      segments("Which events", KINDS, chosen, (to) => {
        chosen = to;
        if (panel.data) panel.took(panel.data);
      }),
    ),
    el("div.card", {}, body),
    spoken,
  );
  return () => {
    clearInterval(timer);
    panel.stop();
  };
}

function fits(event, chosen) {
  return chosen === "faults" ? told(event).kind === "error" : event.topic.startsWith(chosen);
}

// The newest of the newest `limit` events, newest first; the same again and again is one, with `times`. What they are
// about is named by `name`.
export async function latest(limit, signal) {
  const head = await api.get("/api/events?limit=1", signal);
  const first = Math.max(0, head.newest - limit);
  const found = await api.get(`/api/events?since=${first}&limit=${limit}`, signal);
  const names = await named(found.events, signal);
  const events = [];
  for (const event of found.events.toReversed()) {
    const one = { ...event, name: names.get(event.subject) ?? "", times: 1 };
    const before = events.at(-1);
    if (before && told(before).words === told(one).words) before.times += 1;
    else events.push(one);
  }
  return { events, newest: found.newest, first, trimmed: found.trimmed };
}

const NAMES = new Map();

// Waits are told by their ids alone; their names are asked for once.
async function named(events, signal) {
  const unknown = events.filter((event) => event.topic.startsWith("wait.") && !NAMES.has(event.subject));
  if (unknown.length) {
    const { waits } = await api.get(query("/api/waits", { limit: 200 }), signal);
    for (const wait of waits) NAMES.set(wait.wait_id, wait.spec.label || condition(wait.spec.until));
    for (const event of unknown) if (!NAMES.has(event.subject)) NAMES.set(event.subject, "");
  }
  return NAMES;
}
