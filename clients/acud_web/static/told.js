// Events of the daemon in words: {kind, who, words, href}.

import { clock } from "./words.js";

const WAIT = {
  created: ["wait", "is armed"],
  updated: ["system", "was changed"],
  judged: ["wait", "was judged"],
  note: ["wait", "says"],
  resolved: ["good", "resolved"],
  timeout: ["error", "timed out"],
  cancelled: ["system", "was cancelled"],
  failed: ["error", "failed"],
};
const TASK = {
  registered: ["agent", "began"],
  updated: ["agent", "went on"],
  ended: ["good", "ended"],
  deleted: ["system", "was deleted"],
  stuck: ["error", "is stuck: its agent was told"],
};
const WAKE = {
  sent: ["system", "An agent was woken"],
  seen: ["good", "An agent fetched its result"],
  undelivered: ["error", "A wake reached nobody"],
};
const DISPLAY = {
  up: ["good", "is up"],
  down: ["error", "is down"],
  ended: ["system", "ended"],
  geometry: ["system", "changed its size"],
  taken: ["user", "was taken over"],
  released: ["user", "was given back"],
};

export function told(event) {
  const [noun, verb] = event.topic.split(".");
  const make = { wait: ofWait, task: ofTask, wake: ofWake, display: ofDisplay, child: ofChild, recording: ofRecording }[
    noun
  ];
  return make ? make(verb, event, event.data ?? {}) : { kind: "system", who: noun, words: plain(event), href: "" };
}

function ofWait(verb, event, data) {
  const [kind, does] = WAIT[verb] ?? ["system", verb];
  const name = event.name || event.subject;
  const words = `${quoted(name)} ${does}${said(data.detail ?? data.message ?? data.note ?? data.reason ?? answer(data))}`;
  return { kind, who: "Wait", words, href: `#/waits/${encodeURIComponent(event.subject)}` };
}

function answer(data) {
  const verdict = data.verdict ?? data.answer;
  return typeof verdict === "object" && verdict ? `${verdict.answer}: ${verdict.detail || verdict.code}` : verdict;
}

function ofTask(verb, event, data) {
  const [kind, does] = TASK[verb] ?? ["agent", verb];
  const failed = data.status === "failed";
  const does2 = verb === "updated" ? changed(data) : verb === "ended" ? (data.status ?? does) : does;
  return {
    kind: failed ? "error" : data.status === "cancelled" ? "system" : kind,
    who: "Task",
    words: `${quoted(data.name || event.subject)} ${does2}`,
    href: verb === "deleted" ? "" : `#/tasks/${encodeURIComponent(event.subject)}`,
  };
}

function changed(data) {
  if (data.status && data.ordinal !== undefined) return `step ${data.ordinal + 1} is ${data.status}`;
  if (data.status) return `is ${data.status}`;
  if (data.appended) return `has ${data.appended} more steps`;
  return "went on";
}

function ofWake(verb, event, data) {
  const [kind, words] = WAKE[verb] ?? ["system", verb];
  return {
    kind,
    who: "Wake",
    words: `${words}${said(data.reason || (data.sent_by && `by ${data.sent_by}`))}`,
    href: "#/wakes",
  };
}

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

function ofChild(verb, event, data) {
  const words = verb === "failed" ? "failed and is left alone" : "was started again";
  return {
    kind: verb === "failed" ? "error" : "system",
    who: "Process",
    words: `${event.subject} ${words}${said(data.reason)}`,
    href: "#/health",
  };
}

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

function plain(event) {
  return [event.topic.replace(".", " "), event.subject, event.data?.reason].filter(Boolean).join(" · ");
}

function quoted(name) {
  return `“${name}”`;
}

function said(words) {
  return words ? `: ${words}` : "";
}
