// Events of the daemon in words: {kind, who, words, href}.

import { taskDisplay, taskName, waitName, waitPlace } from "./names.js";
import { clock, stateWord } from "./words.js";

/** @type {Record<string, string[]>} */
const WAIT = {
  created: ["wait", "is armed"],
  updated: ["system", "was changed"],
  judged: ["wait", "was judged"],
  note: ["wait", "says"],
  stage: ["wait", "reached a stage"],
  resolved: ["good", "resolved"],
  timeout: ["error", "timed out"],
  cancelled: ["system", "was cancelled"],
  failed: ["error", "failed"],
};
/** @type {Record<string, string[]>} */
const TASK = {
  registered: ["agent", "began"],
  updated: ["agent", "went on"],
  ended: ["good", "ended"],
  deleted: ["system", "was deleted"],
  stuck: ["error", "is stuck: its agent was told"],
};
/** @type {Record<string, string[]>} */
const WAKE = {
  sent: ["system", "An agent was woken"],
  seen: ["good", "An agent fetched its result"],
  undelivered: ["error", "A wake reached nobody"],
};
/** @type {Record<string, string[]>} */
const DISPLAY = {
  up: ["good", "is up"],
  down: ["error", "is down"],
  ended: ["system", "ended"],
  geometry: ["system", "changed its size"],
  limited: ["system", "reached a limit"],
  taken: ["user", "was taken over"],
  released: ["user", "was given back"],
};

/** @type {Record<string, string[]>} */
const OTHERS = {
  "daemon.started": ["system", "Daemon", "The daemon has started"],
  "daemon.stopping": ["system", "Daemon", "The daemon stops"],
  "daemon.draining": ["system", "Daemon", "The daemon takes no new work"],
  "daemon.drained": ["system", "Daemon", "The daemon has no work under way any more"],
  "daemon.drain_cancelled": ["system", "Daemon", "The daemon takes new work again"],
  "daemon.reloaded": ["system", "Daemon", "The daemon has read its settings again"],
  "store.damaged": ["error", "Store", "The store is damaged"],
  "judge.changed": ["system", "Judge", "Judges have changed"],
  "web.revoked": ["system", "Access", "A session or a token was revoked"],
  "analysis.result": ["agent", "Commentary", "The commentary said something"],
  "agent.started": ["agent", "Agent", "A run of the agent began"],
  "agent.ended": ["agent", "Agent", "A run of the agent ended"],
  "fleet.joined": ["system", "Fleet", "A host joined"],
  "fleet.lost": ["error", "Fleet", "A host does not answer"],
  "fleet.back": ["system", "Fleet", "A host is back"],
  "fleet.left": ["system", "Fleet", "A host left"],
};

/** @type {Record<string, (verb: string, event: BusEvent, data: Record<string, any>) => EventWords>} */
const WORDS = { wait: ofWait, task: ofTask, wake: (verb, _event, data) => ofWake(verb, data), display: ofDisplay, child: ofChild, recording: ofRecording };

/** @param {BusEvent} event */
export function told(event) {
  const [noun, verb] = event.topic.split(".");
  const make = WORDS[noun];
  return make ? make(verb, event, event.data ?? {}) : ofOther(event);
}

/** @param {string} verb @param {BusEvent} event @param {Record<string, any>} data */
function ofWait(verb, event, data) {
  const [kind, does] = WAIT[verb] ?? ["system", verb];
  const words = `${called(waitName(event.subject) || data.label || data.condition, "A wait")} ${does}${said(data.detail ?? data.text ?? data.note ?? data.reason ?? answer(data))}`;
  return { kind, who: "Wait", words, href: `#/waits/${encodeURIComponent(event.subject)}` };
}

/** @param {Record<string, any>} data */
function answer(data) {
  const verdict = data.verdict ?? data.answer;
  return typeof verdict === "object" && verdict ? `${verdict.answer}: ${verdict.detail || verdict.code}` : verdict;
}

/** @param {string} verb @param {BusEvent} event @param {Record<string, any>} data */
function ofTask(verb, event, data) {
  const [kind, does] = TASK[verb] ?? ["agent", verb];
  const failed = data.status === "failed";
  const does2 = verb === "updated" ? changed(data) : verb === "ended" && data.status ? `is ${stateWord(data.status).word}` : does;
  return {
    kind: failed ? "error" : data.status === "cancelled" ? "system" : kind,
    who: "Task",
    words: `${called(data.name || taskName(event.subject), "A task")} ${does2}`,
    href: verb === "deleted" ? "" : `#/tasks/${encodeURIComponent(event.subject)}`,
  };
}

/** @param {Record<string, any>} data */
function changed(data) {
  if (data.status && data.item !== undefined) return `step ${data.item} is ${stateWord(data.status).word}`;
  if (data.status) return `is ${stateWord(data.status).word}`;
  if (data.appended) return `has ${data.appended} more steps`;
  return "went on";
}

// Where no route is set up agents fetch their results: that needs nobody.
export const NO_ROUTE = /^no route is set up/;

/** @param {string} verb @param {Record<string, any>} data */
function ofWake(verb, data) {
  const [kind, words] = WAKE[verb] ?? ["system", verb];
  const isUsual = NO_ROUTE.test(data.reason ?? "");
  if (isUsual) return { kind: "system", who: "Wake", words: `Nobody was woken${about(data)}: no wake route is set up`, href: "#/wakes" };
  return {
    kind,
    who: "Wake",
    words: `${words}${about(data)}${said(data.reason || (data.sent_by && `by ${data.sent_by}`))}`,
    href: "#/wakes",
  };
}

/** @param {string} verb @param {BusEvent} event @param {Record<string, any>} data */
function ofDisplay(verb, event, data) {
  const [kind, does] = DISPLAY[verb] ?? ["system", verb];
  const until = data.until_utc_s ? ` until ${clock(data.until_utc_s)}` : "";
  return {
    kind,
    who: "Display",
    words: `${event.subject} ${does}${data.who ? ` (${data.who})` : ""}${until}${said(data.note || data.reason)}`,
    href: `#/screens/${encodeURIComponent(event.subject)}`,
  };
}

/** @param {string} verb @param {BusEvent} event @param {Record<string, any>} data */
function ofChild(verb, event, data) {
  const words = verb === "failed" ? "failed and is left alone" : "was started again";
  return {
    kind: verb === "failed" ? "error" : "system",
    who: "Process",
    words: `${event.subject} ${words}${said(data.reason)}`,
    href: "#/health",
  };
}

/** @param {string} verb @param {BusEvent} event @param {Record<string, any>} data */
function ofRecording(verb, event, data) {
  const words =
    { started: "A recording began", ended: "A recording ended", deleted: "A recording was deleted" }[verb] ?? verb;
  return {
    kind: data.state === "failed" ? "error" : "system",
    who: "Recording",
    words: `${words}${data.display ? ` on ${data.display}` : ""}${said(data.reason)}`,
    href: verb === "deleted" ? "" : `#/recordings/${encodeURIComponent(event.subject)}`,
  };
}

/** @param {BusEvent} event */
function ofOther(event) {
  const [kind, who, words] = OTHERS[event.topic] ?? ["system", "Event", event.topic.replaceAll(/[._]/g, " ")];
  const data = event.data ?? {};
  return { kind, who, words: `${words}${event.topic.startsWith("fleet.") ? `: ${event.subject}` : ""}${said(data.reason)}`, href: "" };
}

/** @param {Record<string, any>} data */
function about(data) {
  const name = waitName(data.wait_id) || taskName(data.task_id);
  return name ? ` about ${called(name)}` : "";
}

/** @param {string} name @param {string} [otherwise] */
function called(name, otherwise) {
  return name ? `“${name}”` : otherwise;
}

/** Return which display, task and wait an event is about: ids, and empty texts.
 * @param {BusEvent} event
 */
export function eventPlace(event) {
  const data = event.data ?? {};
  const noun = event.topic.split(".")[0];
  const wait = noun === "wait" ? event.subject : (data.wait_id ?? "");
  const task = noun === "task" ? event.subject : (data.task_id ?? (waitPlace(wait).task || ""));
  const display = noun === "display" ? event.subject : (data.display ?? (waitPlace(wait).display || taskDisplay(task)));
  return { wait, task, display: display || "" };
}

/** @param {string} words */
function said(words) {
  return words ? `: ${words}` : "";
}
