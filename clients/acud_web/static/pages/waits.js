// The waits, with one of them beside the list (wait.js).

import { api, query } from "../parts/api.js";
import { el, fill } from "../parts/dom.js";
import { mountList } from "../parts/list.js";
import { load } from "../parts/modules.js";
import { learn, nameWait, taskName } from "../parts/names.js";
import { trouble } from "../parts/panel.js";
import { badge, when } from "../parts/widgets.js";
import { condition, stateWord } from "../parts/words.js";
import { PARTS } from "../pages.js";

const ENDED_STATES = ["resolved", "timeout", "cancelled", "failed"];
export const ALL_STATES = ["watching", ...ENDED_STATES];
const KINDS = [
  ["live", "Watching"],
  ["ended", "Ended"],
  ["all", "All"],
];
/** @type {Record<string, string[]>} */
const STATES = { live: ["watching"], ended: ENDED_STATES, all: ALL_STATES };

/** @param {Api.WaitInfo} wait */
export function waitRow(wait) {
  const { verdict } = wait;
  const said = verdict.code === "not_judged" && !wait.ended_utc_s ? "not judged yet" : verdict.detail || verdict.code;
  return el(
    "li",
    {},
    el(
      "a.row",
      { href: `#/waits/${encodeURIComponent(wait.wait_id)}`, "data-focus": wait.wait_id },
      el("span.title", {}, wait.spec.label || condition(wait.spec.until)),
      badge(wait.state),
      el(
        "span.facts",
        {},
        badge(verdict.answer),
        el("span.said", {}, short(said)),
        wait.display ? el("span.kept", {}, wait.display) : null,
        taskName(wait.spec.task_id) ? el("span", {}, taskName(wait.spec.task_id)) : null,
        wait.ended_utc_s
          ? el("span.kept", {}, "ended ", when(wait.ended_utc_s))
          : el("span.kept", {}, "until ", when(wait.deadline_utc_s)),
      ),
    ),
  );
}

/** @param {string} words */
function short(words) {
  return words.length > 120 ? `${words.slice(0, 119)}…` : words;
}

/** @type {PagedShape} */
const SHAPE = {
  title: "Waits",
  noun: "waits",
  kinds: KINDS,
  kind: "live",
  page: async (kind, values, offset, limit, signal) => {
    const states = STATES[kind].filter((one) => !values.state || one === values.state);
    if (!states.length) return { rows: [], total: 0 };
    const since = values.within ? Date.now() / 1000 - Number(values.within) : "";
    const { text, display, task, judge } = values;
    const path = query("/api/waits", { state: states, text, display, task, judge, since, offset, limit });
    const { waits, total } = await api.get(path, signal);
    waits.forEach(nameWait);
    await learn({ tasks: waits.map((one) => one.spec.task_id) }, signal);
    return { rows: waits, total };
  },
  choices: async (kind, signal) => {
    const { facets } = await api.get(query("/api/waits", { state: STATES[kind], limit: 1, facets: true }), signal);
    if (!facets) return []; // they were asked for
    await learn({ tasks: facets.tasks }, signal);
    /** @param {string} name @param {string[]} found */
    const rows = (name, found) => found.map((value) => ({ [name]: value }));
    return [...rows("display", facets.displays), ...rows("task", facets.tasks.filter(taskName)), ...rows("judge", facets.judges),
      ...rows("state", STATES[kind])];
  },
  topics: ["wait."],
  filters: ["state", "display", "task", "judge", "within"],
  words: (name, value) => (name === "task" ? taskName(value) : name === "state" ? stateWord(value).word : value),
  id: (one) => one.wait_id,
  row: waitRow,
  empty: (kind) => (kind === "ended" ? "No wait has ended yet." : noWaits()),
  mount: mountWait,
  make: { href: "#/waits/new", words: "New wait", scope: "wait" },
  bulk: {
    scope: "wait",
    acts: [
      {
        words: "Cancel…",
        title: "Cancel",
        verb: "Cancel them",
        tone: "danger",
        done: "cancelled",
        lines: ["They stop watching and never resolve.", "Their agents are not woken; blocked calls return as cancelled."],
        good: (one) => one.state === "watching",
        run: (one) => api.post(`/api/waits/${encodeURIComponent(one.wait_id)}/cancel`),
      },
    ],
  },
};

/** @param {HTMLElement} element @param {Page} page @param {string[]} given @param {URLSearchParams} values */
export function mount(element, page, [chosen], values) {
  return mountList(element, page, SHAPE, chosen, values);
}

// The page of one wait is fetched when one is first opened: lists and the overview do not need it.
/** @param {HTMLElement} element @param {Page} page @param {string} waitId */
function mountWait(element, page, waitId) {
  /** @type {Stop | undefined} */
  let stop;
  let isOver = false;
  load(PARTS.wait).then(
    (one) => {
      if (!isOver) stop = one.mountWait(element, page, waitId);
    },
    (fault) => fill(element, trouble(fault)),
  );
  return () => {
    isOver = true;
    stop?.();
  };
}

function noWaits() {
  return [
    el("p", {}, "Nothing is being waited for."),
    el("p", {}, "By hand: ", el("code", {}, 'acud wait create "the build has finished"')),
  ];
}
