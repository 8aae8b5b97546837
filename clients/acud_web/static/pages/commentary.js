// The commentary: what it said of the screens, and from what.

import { api } from "../parts/api.js";
import { el, fill, keyed } from "../parts/dom.js";
import { Panel } from "../parts/panel.js";
import { panelHead, when } from "../parts/widgets.js";
import { duration, money } from "../parts/words.js";

/** @param {HTMLElement} element @param {Page} given */
export function mount(element, { bus }) {
  const list = el("ul.feed", { "aria-label": "Commentary", "aria-live": "polite" });
  const body = el("div", {});
  const panel = new Panel(body, bus, {
    load: (signal) => api.get("/api/commentary?limit=50", signal),
    topics: ["analysis."],
    isEmpty: (data) => !data.results.length,
    empty: () => [
      el("p", {}, "The commentary has said nothing yet."),
      el(
        "p",
        {},
        "It speaks when something changes on a screen; [analysis] in acud.toml turns it on and names its model.",
      ),
    ],
    show: (place, data) =>
      fill(
        place,
        keyed(list, data.results, (one) => one.id, entry),
      ),
  });
  fill(element, panelHead("Commentary"), el("div.card", {}, body));
  return () => panel.stop();
}

/** @param {Api.AnalysisResult} result */
function entry(result) {
  const from = [
    result.context?.currentApp,
    result.model || "without a model",
    duration(result.latencyMs / 1000),
    result.cost_usd === null || result.cost_usd === undefined ? "" : money(result.cost_usd),
  ]
    .filter(Boolean)
    .join(" · ");
  return el(
    "li.entry.agent",
    {},
    el("span.who", {}, from),
    el("span.when", {}, when(result.ts / 1000)),
    el("p.what", {}, result.analysis),
  );
}
