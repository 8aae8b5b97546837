// A list that can be searched, with one of its rows beside it: which kind of rows, filters, the chosen one marked.

import { Bulk, makeLink } from "./bulk.js";
import { el, fill, keyed } from "./dom.js";
import { Filters, keepInUrl, urlQuery } from "./filters.js";
import { arrows } from "./keys.js";
import { Panel } from "./panel.js";
import { panelHead, segments } from "./parts.js";

// `shape`: title; noun, in the plural; kinds and the `kind` that is chosen without another in the address; filters, by
// name; most rows; load(kind, limit, signal) -> {rows, total}; topics and everyMs of the panel; id(one); facets(one), what
// filters look at; words(name, value), how a filter's value reads; row(one), whose link carries the id as data-focus;
// empty(kind); beyond(rest), what stands below the most rows; mount(element, page, id, values) -> stop;
// make, the link to the form for a new one; bulk, what can be done to several (bulk.js).
export function mountList(element, page, shape, chosen, values) {
  const list = el("ul.rows", { "aria-label": shape.title });
  const body = el("div.scroller", {});
  const detail = el("div.detail", {});
  const bulk = new Bulk(page, shape);
  let kind = values.get("kind") || (chosen || values.get("state") ? "all" : shape.kind);
  const filters = new Filters(shape.noun, shape.filters, values, () => {
    if (panel.data) panel.took(panel.data);
  });
  const panel = new Panel(body, page.bus, {
    load: (signal) => shape.load(kind, shape.most, signal),
    topics: shape.topics,
    everyMs: shape.everyMs,
    soonMs: 1000,
    isEmpty: (data) => !data.rows.length,
    empty: () => {
      filters.say(0, 0);
      bulk.show(list, []);
      return shape.empty(kind);
    },
    show: (place, data) => {
      const facets = new Map(data.rows.map((one) => [one, shape.facets(one)]));
      filters.offerFrom([...facets.values()], shape.words);
      const shown = data.rows.filter((one) => filters.fits(facets.get(one)));
      filters.say(shown.length, data.rows.length);
      keyed(list, shown, shape.id, shape.row);
      list.dataset.listed = shown.length;
      const query = urlQuery();
      for (const row of list.querySelectorAll("a.row")) mark(row, row.dataset.focus === chosen, query);
      bulk.show(list, shown);
      const rest = data.total - data.rows.length;
      fill(place, shown.length ? list : none(shape.noun), rest > 0 ? shape.beyond(rest) : null);
    },
  });
  const choice = segments(`Which ${shape.noun}`, shape.kinds, kind, (to) => {
    kind = to;
    keepInUrl({ kind: to === shape.kind ? "" : to });
    panel.refresh();
  });
  fill(
    element,
    el(
      "div",
      { class: chosen ? "split open" : "split" },
      el("div.list-head", {}, panelHead(shape.title, choice, bulk.tools, shape.make && makeLink(page, shape.make)), filters.node),
      el("div.list", {}, el("div.card", {}, bulk.bar, body)),
      detail,
    ),
  );
  arrows(list);
  detail.hidden = !chosen;
  const stop = chosen ? shape.mount(detail, page, chosen, values) : () => {};
  return () => {
    panel.stop();
    stop();
  };
}

function none(noun) {
  return el("p.nothing", {}, `None of these ${noun} fits the search and the filters.`);
}

// A row opens with the search and the filters as they are.
function mark(row, here, query) {
  const href = row.getAttribute("href").split("?")[0] + query;
  if (row.getAttribute("href") !== href) row.setAttribute("href", href);
  if (here) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}
