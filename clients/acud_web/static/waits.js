// The waits, and one of them beside the list: its verdict, its evidence, and every verdict over the frames.

import { api, query } from "./api.js";
import { timeline } from "./charts.js";
import { actionButton, confirmed, notice } from "./dialog.js";
import { el, fill } from "./dom.js";
import { evidenceNode } from "./evidence.js";
import { mountList } from "./list.js";
import { Panel, nothing } from "./panel.js";
import { badge, card, facts, since, when } from "./parts.js";
import { clock, condition, count, duration, money } from "./words.js";

const MOST = 1000;
const ENDED_STATES = ["resolved", "timeout", "cancelled", "failed"];
export const ALL_STATES = ["watching", ...ENDED_STATES];
const KINDS = [
  ["live", "Watching"],
  ["ended", "Ended"],
  ["all", "All"],
];
const STATES = { live: ["watching"], ended: ENDED_STATES, all: ALL_STATES };

export function waitRow(wait) {
  const { verdict } = wait;
  const said = verdict.code === "not_judged" ? "not judged yet" : verdict.detail || verdict.code;
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
        el("span", {}, short(said)),
        wait.display ? el("span", {}, wait.display) : null,
        wait.ended_utc_s
          ? el("span", {}, "ended ", since(wait.ended_utc_s))
          : el("span", {}, "until ", when(wait.deadline_utc_s)),
      ),
    ),
  );
}

function short(words) {
  return words.length > 120 ? `${words.slice(0, 119)}…` : words;
}

const SHAPE = {
  title: "Waits",
  noun: "waits",
  kinds: KINDS,
  kind: "live",
  most: MOST,
  load: async (kind, limit, signal) => {
    const { waits, total } = await api.get(query("/api/waits", { state: STATES[kind], limit }), signal);
    return { rows: waits, total };
  },
  topics: ["wait."],
  id: (one) => one.wait_id,
  row: waitRow,
  empty: (kind) => (kind === "ended" ? "No wait has ended yet." : noWaits()),
  beyond: (rest) => el("p.muted", { class: "muted small nothing" }, `${rest} older ones: acud wait list`),
  mount: mountWait,
  hint: "Choose a wait to see its verdicts and its evidence.",
};

export function mountWaits(element, page, [chosen]) {
  return mountList(element, page, SHAPE, chosen);
}

// ---- one wait -----------------------------------------------------------------------------------------------------------

function mountWait(element, page, waitId) {
  const panel = new Panel(element, page.bus, {
    load: (signal) => api.get(`/api/waits/${encodeURIComponent(waitId)}?evaluations=${MOST}`, signal),
    topics: ["wait."],
    show: (body, data) => showWait(body, data, page),
  });
  const drop = page.bus.on("wait.", (event) => {
    if (event.subject === waitId) say(event);
  });
  return () => {
    drop();
    panel.stop();
  };
}

function say(event) {
  if (event.topic === "wait.resolved") notice("The wait has resolved.");
}

function showWait(body, { wait, evaluations }, page) {
  const seal = JSON.stringify([wait.state, wait.stages, wait.verdict, wait.judged, wait.frames_seen, wait.note, evaluations.length]);
  if (body.dataset.seal === seal && body.querySelector(".wait-detail")) return;
  body.dataset.seal = seal;
  const title = wait.spec.label || condition(wait.spec.until);
  const focus = body.contains(document.activeElement) ? document.activeElement.dataset.focus : "";
  fill(
    body,
    el(
      "div.grid",
      { class: "grid wait-detail" },
      el(
        "div.head",
        {},
        el("a.button.back", { href: "#/waits" }, "← Waits"),
        el("h1", {}, title),
        badge(wait.state),
        el("div.tools", {}, cancelButton(wait, page)),
      ),
      card("Last verdict", el("div.body", {}, verdictNode(wait), aboutWait(wait))),
      card("Evidence", el("div.body", {}, evidenceNode(wait))),
      card(
        "Verdicts over time",
        el(
          "div",
          {},
          evaluations.length
            ? el("div.body", {}, timeline(marksOf(wait, evaluations), wait))
            : nothing("Not judged yet."),
          evaluations.length < MOST
            ? null
            : el("p", { class: "muted small nothing" }, `The newest ${MOST} of ${wait.judged} verdicts.`),
          evaluationTable(evaluations),
        ),
      ),
    ),
  );
  if (focus) body.querySelector(`[data-focus="${focus}"]`)?.focus();
}

function verdictNode(wait) {
  const { verdict } = wait;
  const words =
    verdict.code === "not_judged"
      ? "It has not been judged yet: the first verdict comes with the first frame."
      : verdict.detail || verdict.code;
  const code = verdict.code && verdict.code !== "not_judged" ? el("code", {}, verdict.code) : null;
  return el(
    "div.verdict",
    {},
    badge(verdict.answer),
    el("p.pre", {}, words, code ? " " : null, code),
    wait.note ? [badge("warning"), el("p", {}, wait.note)] : null,
  );
}

function aboutWait(wait) {
  const { spec } = wait;
  const target = spec.target;
  const where = [
    wait.display,
    target.window && `window “${target.window}”`,
    target.region && `region ${target.region.join(", ")}`,
    target.pty && `terminal ${target.pty}`,
    target.monitor && `monitor ${target.monitor}`,
  ]
    .filter(Boolean)
    .join(", ");
  const took = wait.changed_to_resolved_ms;
  return el(
    "div",
    {},
    facts([
      ["Condition", condition(spec.until)],
      ["Stages", stagesNode(wait)],
      ["Looks at", where],
      ["Judge", `${spec.judge}, when ${spec.policy.cadence === "event" ? "something changed" : spec.policy.cadence}`],
      ["Armed", when(wait.created_utc_s)],
      [wait.ended_utc_s ? "Ended" : "Gives up", when(wait.ended_utc_s || wait.deadline_utc_s)],
      [
        "Task",
        spec.task_id
          ? el("a", { href: `#/tasks/${encodeURIComponent(spec.task_id)}` }, el("code", {}, spec.task_id))
          : "",
      ],
      [
        "Counted",
        `${count(wait.frames_seen, "frame")} seen, ${count(wait.judged, "verdict")}, ${count(wait.judge_calls, "judge call")}`,
      ],
      ["Spent", wait.cost_usd === null && !wait.judge_calls ? "nothing" : money(wait.cost_usd, wait.spent.unpriced)],
      ["Change to verdict", took === null || took === undefined ? "" : duration(took / 1000)],
      ["Told", wait.message],
      ["Id", el("code", {}, wait.wait_id)],
    ]),
  );
}

// The stages of a sequence: when each was reached, with its picture, and the one that is watched.
function stagesNode(wait) {
  const { until } = wait.spec;
  if (until.type !== "then") return "";
  const reached = wait.stages ?? [];
  return el(
    "ol",
    {},
    until.parts.map((part, at) => {
      const stage = reached[at];
      const words = stage ? [" · held at ", when(stage.utc_s)] : at === reached.length ? ` · ${wait.state}` : "";
      const picture = stage?.evidence.name
        ? el("a", { href: `/api/waits/${encodeURIComponent(wait.wait_id)}/evidence?stage=${at + 1}` }, "picture")
        : null;
      return el("li", {}, condition(part), words, picture ? " · " : null, picture);
    }),
  );
}

function cancelButton(wait, page) {
  if (wait.state !== "watching" || !page.may("wait")) return null;
  return actionButton(
    "Cancel…",
    async () => {
      const lines = [
        "It stops watching and never resolves.",
        "Its agent is not woken; a blocked call of its agent returns as cancelled.",
      ];
      if (await confirmed("Cancel this wait?", lines, "Cancel the wait"))
        await api.post(`/api/waits/${encodeURIComponent(wait.wait_id)}/cancel`);
    },
    { tone: "danger", focus: "cancel-wait" },
  );
}

const TONES = { yes: "good", no: "quiet", unknown: "warn" };

function marksOf(wait, evaluations) {
  return evaluations.map((one) => ({
    utcS: one.utc_s,
    tone: TONES[one.verdict.answer],
    title: `${clock(one.utc_s)} · frame ${one.frame} · ${one.verdict.answer}: ${one.verdict.detail || one.verdict.code}`,
  }));
}

function evaluationTable(evaluations) {
  if (!evaluations.length) return null;
  const rows = evaluations
    .toReversed()
    .map((one) =>
      el(
        "tr",
        {},
        el("td.nowrap", {}, when(one.utc_s)),
        el("td", {}, badge(one.verdict.answer)),
        el("td.breaks.why", {}, one.verdict.detail || one.verdict.code),
        el("td.number", {}, String(one.frame)),
        el("td.nowrap", {}, [one.judge, one.source].filter(Boolean).join(" · ")),
        el("td.number", {}, duration(one.latency_ms / 1000)),
        el("td.number", {}, one.cost_usd === null ? "–" : money(one.cost_usd)),
      ),
    );
  const heads = ["Time", "Verdict", "Why", "Frame", "Judge", "Took", "Cost"].map((name) =>
    el("th", { scope: "col", class: ["Frame", "Took", "Cost"].includes(name) ? "number" : null }, name),
  );
  return el(
    "div.scroll",
    { tabindex: "0", role: "region", "aria-label": "Verdicts as a table" },
    el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)),
  );
}

export function noWaits() {
  return [
    el("p", {}, "Nothing is being waited for."),
    el("p", {}, "By hand: ", el("code", {}, 'acud wait create "the build has finished"')),
  ];
}
