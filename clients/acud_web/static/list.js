// A list with one of its rows beside it: which kind of rows, more of them on request, the chosen one marked.

import { Bulk, makeLink } from "./bulk.js";
import { el, fill, keyed } from "./dom.js";
import { arrows } from "./keys.js";
import { Panel, nothing } from "./panel.js";
import { moreButton, panelHead, segments, tick } from "./parts.js";

const PAGE = 50;

// `shape`: title; noun, in the plural; kinds and the chosen `kind`, which lasts from visit to visit; most rows;
// load(kind, limit, signal) -> {rows, total}; topics and everyMs of the panel; id(one); row(one), whose link carries the id
// as data-focus; empty(kind); beyond(rest), what stands below the most rows; mount(element, page, id) -> stop; hint;
// make, the link to the form for a new one; bulk, what can be done to several (bulk.js).
export function mountList(element, page, shape, chosen) {
  const list = el("ul.rows", { "aria-label": shape.title });
  const body = el("div.scroller", {});
  const detail = el("div.detail", {});
  const bulk = new Bulk(page, shape);
  let limit = PAGE;
  if (chosen && shape.kind === "live") shape.kind = "all";
  const panel = new Panel(body, page.bus, {
    load: (signal) => shape.load(shape.kind, limit, signal),
    topics: shape.topics,
    everyMs: shape.everyMs,
    isEmpty: (data) => !data.rows.length,
    empty: () => {
      bulk.show(list, []);
      return shape.empty(shape.kind);
    },
    show: (place, data) => {
      keyed(list, data.rows, shape.id, shape.row);
      for (const row of list.querySelectorAll("a.row")) mark(row, row.dataset.focus === chosen);
      bulk.show(list, data.rows);
      fill(place, list, further(data.total - data.rows.length));
    },
  });
  const choice = segments(`Which ${shape.noun}`, shape.kinds, shape.kind, (to) => {
    shape.kind = to;
    limit = PAGE;
    panel.refresh();
  });
  fill(
    element,
    el(
      "div",
      { class: chosen ? "split open" : "split" },
      el("div.list", {}, panelHead(shape.title, choice, bulk.tools, shape.make && makeLink(page, shape.make)), el("div.card", {}, bulk.bar, body)),
      detail,
    ),
  );
  arrows(list);
  const stop = chosen ? shape.mount(detail, page, chosen) : fill(detail, el("div.card", {}, nothing(shape.hint)));
  const timer = setInterval(() => tick(element), 1000);
  return () => {
    clearInterval(timer);
    panel.stop();
    if (chosen) stop();
  };

  function further(rest) {
    if (rest <= 0) return null;
    if (limit >= shape.most) return shape.beyond(rest);
    return moreButton(`Show more (${rest})`, () => {
      limit = Math.min(shape.most, limit + PAGE);
      panel.refresh();
    });
  }
}

function mark(row, here) {
  if (here) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}
