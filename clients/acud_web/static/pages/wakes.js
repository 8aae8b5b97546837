// Wakes: what was sent to agents, what reached nobody, and sending it again.

import { api, query } from "../parts/api.js";
import { actionButton, notice } from "../parts/dialog.js";
import { el, fill, keyed } from "../parts/dom.js";
import { learn, taskName, waitName } from "../parts/names.js";
import { Panel } from "../parts/panel.js";
import { badge, panelHead, segments, when } from "../parts/widgets.js";
import { NO_ROUTE } from "../parts/event_words.js";
import { count } from "../parts/words.js";

const KINDS = [
  ["unseen", "Not seen yet"],
  ["failed", "Failed"],
  ["all", "All"],
];
const UNSEEN = ["pending", "sent", "reminding", "undelivered"];
/** @type {Record<string, string[]>} */
const STATES = { unseen: UNSEEN, failed: ["undelivered"], all: [...UNSEEN, "seen"] };

/** @param {HTMLElement} element @param {Page} page */
export function mount(element, page) {
  const list = el("ul.rows", { "aria-label": "Wakes" });
  const failing = el("div", {});
  const body = el("div", {});
  let chosen = KINDS[0][0];
  const panel = new Panel(body, page.bus, {
    load: async (signal) => {
      const data = await api.get(query("/api/wakes", { state: STATES[chosen] }), signal);
      await learn({ tasks: data.wakes.map((one) => one.task_id), waits: data.wakes.map((one) => one.wait_id) }, signal);
      const named = data.wakes.map((one) => ({ ...one, isUnrouted: isUnrouted(one), name: waitName(one.wait_id) || taskName(one.task_id) }));
      return { ...data, wakes: chosen === "failed" ? named.filter((one) => !one.isUnrouted) : named };
    },
    topics: ["wake."],
    isEmpty: (data) => {
      routes(failing, data);
      return !data.wakes.length;
    },
    empty: () =>
      chosen === "failed"
        ? "No wake has failed."
        : "No wake is under way. When a wait ends, its agent is woken, and that is shown here.",
    show: (place, data) =>
      fill(
        place,
        keyed(
          list,
          data.wakes,
          (one) => one.wake_id,
          (one) => row(one, page, data.routes.length > 0),
        ),
      ),
  });
  fill(
    element,
    panelHead(
      "Wakes",
      segments("Which wakes", KINDS, chosen, (to) => {
        chosen = to;
        panel.refresh();
      }),
    ),
    failing,
    el("div.card", {}, body),
  );
  return () => panel.stop();
}

/** @param {HTMLElement} place @param {any} data */
function routes(place, data) {
  const bad = Object.entries(data.failing ?? {});
  fill(
    place,
    bad.length
      ? el(
          "div.card",
          {},
          el(
            "div.body",
            {},
            bad.map(([name, reason]) =>
              el("p", {}, badge("failed"), ` The newest delivery by ${name} failed: ${reason}`),
            ),
          ),
        )
      : null,
  );
}

// What an agent is woken for; the text that it gets is for programs.
/** @type {Record<string, string>} */
const FOR = {
  resolved: "has resolved",
  timeout: "timed out",
  failed: "failed",
  task_stuck: "is stuck: its agent is to take it up again",
  agent_done: "was done by its run",
  agent_escalated: "needs a person: its run can't go on",
};

/** @param {NamedWake} wake */
function link(wake) {
  if (wake.kind === "test") return "A test of the wake routes";
  const noun = wake.wait_id ? "A wait" : wake.task_id ? "A task" : "A run of the agent";
  const words = `${wake.name ? `“${wake.name}”` : noun} ${FOR[wake.kind] ?? "has news"}`;
  if (wake.wait_id) return el("a", { href: `#/waits/${encodeURIComponent(wake.wait_id)}` }, words);
  return wake.task_id ? el("a", { href: `#/tasks/${encodeURIComponent(wake.task_id)}` }, words) : words;
}

/** @param {Api.WakeInfo} given */
const isUnrouted = ({ state, reason }) => state === "undelivered" && NO_ROUTE.test(reason);

// Where no route was set up nothing has failed: its agent fetches the result.
/** @param {NamedWake} wake @param {Page} page @param {boolean} hasRoute */
function row(wake, page, hasRoute) {
  const again =
    wake.state === "undelivered" && page.may("act") && (hasRoute || !wake.isUnrouted)
      ? actionButton(
          "Send again",
          async () => {
            await api.post(`/api/wakes/${encodeURIComponent(wake.wake_id)}/retry`);
            notice("The wake is being sent again.");
          },
          { tone: "primary", focus: `retry-${wake.wake_id}` },
        )
      : null;
  const tries = wake.routes
    .filter((one) => one.tries || one.reason)
    .map((one) =>
      el("span", {}, `${one.name}: ${count(one.tries, "try", "tries")}${one.reason ? `, ${one.reason}` : ""}`),
    );
  return el(
    "li",
    {},
    el(
      "div.row",
      {},
      el("span.title", {}, link(wake)),
      el("span.tools", {}, badge(wake.isUnrouted ? "fetch" : wake.state), again),
      el(
        "span.facts",
        {},
        when(wake.created_utc_s),
        el("span", {}, count(wake.attempts, "attempt")),
        wake.sent_by ? el("span", {}, `taken by ${wake.sent_by}`) : null,
        wake.next_utc_s && wake.state !== "seen" ? el("span", {}, "next ", when(wake.next_utc_s)) : null,
        wake.isUnrouted ? el("span", {}, "no wake route was set up") : wake.reason ? el("span.bad-text", {}, wake.reason) : null,
        tries,
      ),
    ),
  );
}
