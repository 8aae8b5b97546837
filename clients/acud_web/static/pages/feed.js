// What was said to a task, and the log of what happened: one line each, coloured where a person is needed.

import { api, query } from "../parts/api.js";
import { el, fill, settled } from "../parts/dom.js";
import { Filters, keepInUrl, searched } from "../parts/filters.js";
import { learn, taskName } from "../parts/names.js";
import { loading, nothing, trouble } from "../parts/panel.js";
import { panelHead, segments, when } from "../parts/widgets.js";
import { eventPlace, told } from "../parts/event_words.js";
import { count, forPeople } from "../parts/words.js";
import { VirtualList } from "../parts/virtual.js";

const PAGE = 1000;
const MOST = 50_000; // kept whole; of those before them what fits the search
const PAGES = 5; // read before a search shows what it has found so far
const SOON_MS = 400;
const ANNOUNCE_MS = 4000;

// ---- a task's messages --------------------------------------------------------------------------------------------------

/** @type {Record<string, string>} */
const WHO = { agent: "Agent", user: "User", system: "System" };

/** @param {Api.Message} message */
export function messageEntry(message) {
  return el(
    "li",
    { class: `entry ${kindOf(message)}` },
    el("span.who", {}, whoOf(message)),
    el("span.when", {}, when(message.created_at)),
    el("p.what", {}, forPeople(message.content)),
  );
}

/** @param {Api.Message} given */
function kindOf({ role, msg_type: type, content }) {
  if (type === "wait") return "wait";
  if (type === "stuck") return "error";
  if (role === "system" && /^(failed|error)/i.test(content)) return "error";
  if (role === "system" && type === "status" && /complet/i.test(content)) return "good";
  return role in WHO ? role : "system";
}

/** @param {Api.Message} given */
function whoOf({ role, msg_type: type }) {
  const kind = ["wait", "stuck", "plan", "status"].includes(type) ? type : "";
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

/** One line of the log.
 * @param {LogRow} event
 */
export function logLine(event) {
  const { kind, who, words, href } = told(event);
  const times = event.times > 1 ? el("span.muted", {}, ` × ${event.times}`) : null;
  return el(
    "li",
    { class: `line ${kind === "error" ? "needs" : ""}`.trim() },
    when(event.utc_s),
    el("span.who", {}, kind === "error" ? `! ${who}` : who),
    el("span.what", { title: words }, href ? el("a", { href }, words) : words, times),
  );
}

/** Return the newest of the newest `limit` events, newest first; the same again and again is one, with `times`.
 * @param {number} limit @param {AbortSignal} [signal]
 */
export async function latest(limit, signal) {
  const log = new EventLog();
  await log.older(limit, signal);
  await log.learnNames(signal);
  return log.rows();
}

// The events that are kept, newest first, read page by page from the newest on.
class EventLog {
  constructor() {
    /** @type {BusEvent[]} */
    this.events = [];
    this.read = 0;
    this.oldestS = Infinity;
    this.isThinned = false; // others than those kept may fit another search
    this.first = -1; // the number of the oldest that was asked for
    this.isWhole = false;
  }

  /** @param {number} limit @param {AbortSignal} [signal] */
  async older(limit, signal) {
    if (this.first < 0) this.first = (await api.get("/api/events?limit=1", signal)).newest + 1;
    const since = Math.max(0, this.first - 1 - limit);
    const found = await api.get(query("/api/events", { since, limit: Math.min(limit, PAGE) }), signal);
    const before = found.events.filter((one) => one.n < this.first).toReversed();
    this.events.push(...before);
    this.read += before.length;
    this.oldestS = before.at(-1)?.utc_s ?? this.oldestS;
    this.first = since + 1;
    this.isWhole = since === 0 || found.trimmed > since;
  }

  // Leave out of the oldest what does not fit: a search reads all that the daemon keeps, and the page need not hold it.
  /** @param {(event: BusEvent) => boolean} fits */
  thin(fits) {
    if (this.events.length <= MOST) return;
    const oldest = this.events.slice(MOST);
    const fitting = oldest.filter(fits);
    this.isThinned ||= fitting.length < oldest.length;
    this.events = [...this.events.slice(0, MOST), ...fitting];
  }

  /** @param {BusEvent} event */
  take(event) {
    // Until the first page is asked for, what comes is in it.
    if (this.first < 0 || event.n <= (this.events[0]?.n ?? this.first - 1)) return;
    this.events.unshift(event);
    this.read += 1;
  }

  /** @param {AbortSignal} [signal] */
  async learnNames(signal) {
    /** @param {string} noun */
    const subjects = (noun) => this.events.filter((one) => one.topic.startsWith(noun)).map((one) => one.subject);
    const places = this.events.map(eventPlace);
    await learn({ waits: [...subjects("wait."), ...places.map((one) => one.wait)], tasks: places.map((one) => one.task) }, signal);
  }

  /** @param {(event: BusEvent) => boolean} [fits] */
  rows(fits = () => true) {
    /** @type {LogRow[]} */
    const rows = [];
    for (const event of this.events) {
      if (!fits(event)) continue;
      const words = told(event).words;
      const before = rows.at(-1);
      if (before?.words === words) before.times += 1;
      else rows.push({ ...event, words, times: 1 });
    }
    return rows;
  }
}

const KINDS = [
  ["", "All"],
  ["needs", "Needs a person"],
  ["task.", "Tasks"],
  ["wait.", "Waits"],
  ["display.", "Displays"],
];

/** @param {HTMLElement} element @param {Page} given @param {string[]} _rest @param {URLSearchParams} values */
export async function mount(element, { bus }, _rest, values) {
  const aborter = new AbortController();
  const spoken = el("p.hidden", { "aria-live": "polite" });
  const body = el("div", {}, loading());
  let log = new EventLog();
  let kind = values.get("kind") ?? "";
  let shown = 0,
    fresh = 0,
    isReading = false;
  const filters = new Filters("events", ["display", "task", "within"], values, () => anew());
  const list = new VirtualList("Events", (one) => `${one.n} ${one.times} ${one.words}`, logLine, { end: () => more() });
  /** @param {BusEvent} event */
  const fits = (event) => {
    if (kind === "needs" ? told(event).kind !== "error" : !event.topic.startsWith(kind)) return false;
    if (!filters.any) return true;
    const place = eventPlace(event);
    const words = searched(told(event).who, told(event).words, taskName(place.task), place.display);
    return filters.fits({ ...place, words, utcS: event.utc_s });
  };
  const paint = () => {
    const rows = log.rows(fits);
    filters.offerFrom(log.events.map(eventPlace), (name, value) => (name === "task" ? taskName(value) : value));
    filters.say(rows.length, log.read, isDone() ? "" : ", older ones to come");
    list.show(rows, Math.max(0, rows.length - shown));
    shown = rows.length;
    if (rows.length) fill(body, list.node);
    else if (isDone() || !log.events.length)
      fill(body, nothing(log.events.length ? "None of these events fits the search and the filters." : EMPTY));
    if (isSearch() && !isDone() && log.read) more();
  };
  const isSearch = () => filters.any || kind;
  const isDone = () => log.isWhole || log.oldestS < Date.now() / 1000 - (Number(filters.values.within) || Infinity);
  const anew = () => {
    list.node.scrollTop = 0;
    shown = Infinity;
    if (log.isThinned) log = new EventLog();
    if (log.read) paint();
    else more();
  };
  // Older events come when the end of the list is in sight, and all of them for a search.
  /** @param {number} [limit] */
  const more = async (limit = PAGE) => {
    if (isReading || log.isWhole) return;
    isReading = true;
    const reading = log;
    try {
      for (let page = 0; page === 0 || (page < PAGES && isSearch() && !isDone()); page += 1) await log.older(limit, aborter.signal);
      await log.learnNames(aborter.signal);
      log.thin(fits);
      shown = Infinity; // what came is below
    } catch (/** @type {any} */ fault) {
      if (aborter.signal.aborted) return;
      if (!log.events.length) fill(body, trouble(fault, () => more()));
      if (fault.status === undefined) throw fault;
      return;
    } finally {
      isReading = false;
    }
    if (log === reading) paint();
    else more(); // another one was begun meanwhile
  };
  const news = settled(async () => {
    await log.learnNames(aborter.signal).catch(() => null); // then it is told without names
    if (!aborter.signal.aborted) paint();
  }, SOON_MS);
  const offs = [
    bus.on("", (event) => {
      if (!event.n) return;
      log.take(event);
      fresh += 1;
      news();
    }),
    bus.on("missed", () => {
      log = new EventLog();
      more();
    }),
  ];
  // A busy daemon would flood a screen reader: it hears how many came, at most every few seconds.
  const timer = setInterval(() => {
    if (fresh && log.events.length) fill(spoken, `${count(fresh, "new event")}: ${told(log.events[0]).words}`);
    fresh = 0;
  }, ANNOUNCE_MS);
  const choice = segments("Which events", KINDS, kind, (to) => {
    kind = to;
    keepInUrl({ kind: to });
    anew();
  });
  fill(element, panelHead("Feed", choice), filters.node, el("div.card", {}, body), spoken);
  await more(PAGE / 2);
  return () => {
    clearInterval(timer);
    aborter.abort();
    news.cancel();
    for (const off of offs) off();
    list.stop();
  };
}

const EMPTY = "Nothing has happened yet. What agents, waits and displays do is told here.";
