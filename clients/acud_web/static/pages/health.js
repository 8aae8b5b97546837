// Health: what is not well and why, then every process, judge and display.

import { api } from "../parts/api.js";
import { el, fill } from "../parts/dom.js";
import { notifyCard } from "./notify.js";
import { Panel } from "../parts/panel.js";
import { badge, card, facts, panelHead, when } from "../parts/widgets.js";
import { count, duration, money } from "../parts/words.js";

/** @param {HTMLElement} element @param {Page} given */
export function mount(element, { bus, me }) {
  const body = el("div.grid", {});
  const panel = new Panel(body, bus, {
    load: (signal) => both(me, signal),
    topics: ["child.", "display.", "judge.", "daemon."],
    everyMs: 3000,
    show,
  });
  fill(element, panelHead("Health"), el("div.grid", {}, body, notifyCard()));
  return () => panel.stop();
}

// An access token that is limited to some tasks or displays may not ask for the findings; `degraded` says so.
/** @param {Me} me @param {AbortSignal} [signal] */
async function both(me, signal) {
  const status = await api.get("/api/health", signal);
  const limited = me.displays.length || me.tasks.length;
  return { status, findings: limited ? null : (await api.get("/api/doctor", signal)).findings };
}

const ORDER = { fault: 0, warning: 1, ok: 2 };

/** @param {HTMLElement} body @param {{ status: Api.StatusReply; findings: Api.Finding[] | null }} given */
function show(body, { status, findings }) {
  const worst = [...(findings ?? [])].sort((a, b) => ORDER[a.level] - ORDER[b.level]);
  const wells = body.querySelector(":scope > .wells") ?? el("div.grid.wells", {});
  fill(
    wells,
    verdict(status, findings),
    worst.length ? card("Findings", table("Findings", ["Part", "State", "What was found"], worst.map(finding))) : null,
    card(
      "Displays",
      status.displays.length
        ? table(
            "Displays",
            ["Name", "State", "Size", "Newest frame", "Frames a second", "How"],
            status.displays.map(display),
          )
        : el("p.nothing", {}, "No display is known. acud display create makes one."),
    ),
    card("Judges", table("Judges", ["Name", "State", "Where", "Version", "Reason"], status.judges.map(judge))),
    card(
      "Processes",
      table(
        "Processes",
        ["Name", "State", "PID", "Heartbeat", "Memory", "Restarts", "Reason"],
        status.children.map(child),
      ),
    ),
  );
  fill(body, wells);
}

// The worst of what is known: reasons of the daemon, then what the doctor found (null: this access token may not ask it).
/** @param {Api.StatusReply} status @param {Api.Finding[] | null} findings @returns {[level: string, reasons: HTMLElement]} */
function summary(status, findings) {
  /** @param {string} level */
  const many = (level) => (findings ?? []).filter((one) => one.level === level).length;
  if (status.degraded.length)
    return [
      findings && !many("fault") ? "warning" : "fault",
      el(
        "ul",
        {},
        status.degraded.map((reason) => el("li.breaks", {}, reason)),
      ),
    ];
  if (many("fault")) return ["fault", el("p", {}, `${count(many("fault"), "fault")} found: see below.`)];
  if (many("warning")) return ["warning", el("p", {}, `Usable, with ${count(many("warning"), "warning")}: see below.`)];
  return ["ok", el("p", {}, findings ? "Everything is well." : "No fault is known of what this session may see.")];
}

/** @param {Api.StatusReply} status @param {Api.Finding[] | null} findings */
function verdict(status, findings) {
  const [level, reasons] = summary(status, findings);
  return card(
    "Daemon",
    el(
      "div.body.grid",
      {},
      el("div.verdict", {}, badge(level, ""), reasons),
      facts([
        ["Version", `${status.version}, protocol ${status.protocol}`],
        ["Process", String(status.pid)],
        ["Up", el("span", {}, duration(status.uptime_s), ", since ", when(status.started_utc_s))],
        ["Memory", status.rss_mb ? `${Math.round(status.rss_mb)} MB` : ""],
        ["Waits", `${status.waits_live} watching, ${status.waits_ended} ended`],
        ["Due judgements", String(status.queued_jobs)],
        ["Judge calls", status.judge_calls ? `${status.judge_calls}, today ${money(status.cost_usd_today)}` : "none"],
      ]),
    ),
  );
}

/** @param {string} label @param {string[]} heads @param {Nested[]} rows */
function table(label, heads, rows) {
  return el(
    "div.scroll",
    { tabindex: "0", role: "region", "aria-label": `${label}, table` },
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      el("tbody", {}, rows),
    ),
  );
}

/** @param {Api.Finding} one */
function finding(one) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, one.part),
    el("td", {}, badge(one.level)),
    el("td.breaks", {}, one.text, one.fix ? el("div.muted", {}, one.fix) : null),
  );
}

/** @param {Api.DisplayInfo} one */
function display(one) {
  const old =
    one.frame_age_s === null || one.frame_age_s === undefined ? "no frame" : `${duration(one.frame_age_s)} old`;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("a", { href: `#/screens/${encodeURIComponent(one.name)}` }, one.name)),
    el("td", {}, badge(one.state), one.reason ? el("div.muted.breaks", {}, one.reason) : null),
    el("td.nowrap", {}, one.width ? `${one.width}×${one.height}` : "–"),
    el("td.nowrap", {}, old),
    el("td.number", {}, one.fps ? one.fps.toFixed(1) : "0"),
    el("td", {}, one.grab_path, one.grab_reason ? el("div.muted.breaks", {}, one.grab_reason) : null),
  );
}

/** @param {Api.JudgeHealth} one */
function judge(one) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, one.name),
    el("td", {}, badge(one.state)),
    el("td", {}, one.local ? "on this machine" : "over the network"),
    el("td", {}, one.version),
    el("td.breaks", {}, one.reason),
  );
}

/** @param {Api.ChildStatus} one */
function child(one) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, `${one.kind} ${one.name}`),
    el("td", {}, badge(one.state)),
    el("td.number", {}, String(one.pid || "–")),
    el("td.nowrap", {}, one.beat_age_s === null ? "–" : `${duration(one.beat_age_s)} ago`),
    el("td.nowrap", {}, one.rss_mb ? `${Math.round(one.rss_mb)} MB` : "–"),
    el("td.number", {}, String(one.restarts)),
    el("td.breaks", {}, one.reason),
  );
}
