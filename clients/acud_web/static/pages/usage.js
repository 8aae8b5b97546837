// What judging cost, by day and judge, as a chart and as a table.

import { api } from "../parts/api.js";
import { bars } from "../parts/charts.js";
import { el, fill } from "../parts/dom.js";
import { learn, taskName } from "../parts/names.js";
import { Panel } from "../parts/panel.js";
import { card, panelHead, segments } from "../parts/widgets.js";
import { count, money } from "../parts/words.js";

const SPANS = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
];
const MEASURES = [
  ["cost", "Cost"],
  ["evaluations", "Evaluations"],
];

/** @param {HTMLElement} element @param {Page} given */
export function mount(element, { bus }) {
  const body = el("div.grid", {});
  let days = "7",
    measure = "";
  const panel = new Panel(body, bus, {
    load: async (signal) => {
      const data = await api.get(`/api/usage?days=${days}`, signal);
      await learn({ tasks: data.rows.map((row) => row.task_id) }, signal);
      return data;
    },
    topics: ["wait.resolved", "wait.timeout", "wait.failed"],
    everyMs: 30000,
    isEmpty: (data) => !data.rows.length,
    empty: () => `Nothing was judged in the last ${days} days.`,
    show: (place, data) => {
      if (!measure) choose(data.cost_usd ? "cost" : "evaluations");
      show(place, data, Number(days), measure);
    },
  });
  const again = () => {
    if (panel.data?.rows.length) panel.took(panel.data);
  };
  const measures = segments("Measure", MEASURES, measure, (to) => {
    measure = to;
    again();
  });
  /** @param {string} to */
  const choose = (to) => {
    measure = to;
    measures.children[to === "cost" ? 0 : 1].setAttribute("aria-pressed", "true");
  };
  let width = body.clientWidth;
  const sized = new ResizeObserver(() => {
    if (body.clientWidth === width) return;
    width = body.clientWidth; // the chart's letters keep their size, and so it is drawn anew
    again();
  });
  sized.observe(body);
  fill(
    element,
    panelHead(
      "Usage",
      measures,
      segments("Span", SPANS, days, (to) => {
        days = to;
        panel.refresh();
      }),
    ),
    body,
  );
  return () => {
    sized.disconnect();
    panel.stop();
  };
}

/** @param {HTMLElement} place @param {Api.UsageReply} data @param {number} days @param {string} measure */
function show(place, data, days, measure) {
  const judges = [...new Set(data.rows.map((row) => row.judge))].sort();
  const labels = lastDays(days);
  /** @param {Api.UsageRow} row */
  const value = (row) => (measure === "cost" ? (row.cost_usd ?? 0) : row.evaluations);
  const series = judges.map((judge) => ({
    name: judge,
    values: labels.map((day) =>
      sum(
        data.rows.filter((row) => row.day === day && row.judge === judge),
        value,
      ),
    ),
  }));
  const form =
    measure === "cost"
      ? (/** @type {number} */ amount) => `$${Number(amount.toPrecision(3))}`
      : (/** @type {number} */ amount) => Number(amount.toPrecision(3)).toLocaleString();
  const total = el(
    "p",
    {},
    el("strong", {}, money(data.cost_usd, data.unpriced)),
    ` for ${count(data.evaluations, "evaluation")} in ${count(days, "day")}.`,
    data.kept_days < days ? ` Single evaluations are kept for ${data.kept_days} days.` : "",
  );
  fill(
    place,
    card(
      measure === "cost" ? "Cost by day" : "Evaluations by day",
      el("div.body", {}, total, bars(labels, series, form, place.clientWidth - 24)),
    ),
    card(
      "As a table",
      el("div.scroll", { tabindex: "0", role: "region", "aria-label": "Usage as a table" }, table(data.rows)),
    ),
  );
}

/** @param {Api.UsageRow[]} rows @param {(row: Api.UsageRow) => number} value */
function sum(rows, value) {
  return rows.reduce((total, row) => total + value(row), 0);
}

// The days are those of UTC, as the daemon counts them.
/** @param {number} days @param {number} [now] */
function lastDays(days, now = Date.now()) {
  return Array.from({ length: days }, (_, at) => new Date(now - (days - 1 - at) * 86400000).toISOString().slice(0, 10));
}

/** @param {Api.UsageRow[]} rows */
function table(rows) {
  const heads = [
    ["Day (UTC)"],
    ["Judge"],
    ["Task"],
    ["Evaluations", "number"],
    ["Tokens in", "number"],
    ["Tokens out", "number"],
    ["Cost", "number"],
  ];
  /** @param {number | null} number */
  const known = (number) => (number === null ? "–" : number.toLocaleString());
  const lines = rows.map((row) =>
    el(
      "tr",
      {},
      el("td.nowrap", {}, row.day),
      el("td", {}, row.judge),
      el("td", {}, row.task_id ? el("a", { href: `#/tasks/${encodeURIComponent(row.task_id)}` }, taskName(row.task_id) || "a task") : "–"),
      el("td.number", {}, row.evaluations.toLocaleString()),
      el("td.number", {}, known(row.tokens_in)),
      el("td.number", {}, known(row.tokens_out)),
      el("td.number", {}, money(row.cost_usd, row.unpriced)),
    ),
  );
  return el(
    "table",
    {},
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        heads.map(([name, kind]) => el("th", { scope: "col", class: kind }, name)),
      ),
    ),
    el("tbody", {}, lines),
  );
}
