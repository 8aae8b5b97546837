// A list that can be searched, with one of its rows beside it: which kind of rows, filters, the chosen one marked.

import { Bulk, makeLink } from "./bulk.js";
import { el, fill, keyed } from "./dom.js";
import { Filters, keepInUrl, noneFits, urlQuery } from "./filters.js";
import { arrows } from "./keys.js";
import { ListRows, PagedRows } from "./paged_rows.js";
import { Panel } from "./panel.js";
import { panelHead, segments } from "./widgets.js";

// `shape`: title; noun, in the plural; kinds and the `kind` that is chosen without another in the address; filters, by
// name; topics and everyMs of the panel; id(one); words(name, value), how a filter's value reads; row(one), whose link
// carries the id as data-focus; empty(kind); mount(element, page, id, values) -> stop; make, the link to the form for a new
// one; bulk, what can be done to several (bulk.js).
// Its rows come all at once: most; load(kind, limit, signal) -> {rows, total}; facets(one), what filters look at;
// beyond(rest), what stands below the most rows. Or page by page, found by the daemon (paged_rows.js): page(kind, values,
// offset, limit, signal) -> {rows, total}; choices(kind, signal) -> facets that filters offer.
/** @param {HTMLElement} element @param {Page} page @param {ListShape} shape @param {string | undefined} chosen
 * @param {URLSearchParams} values
 */
export function mountList(element, page, shape, chosen, values) {
  const body = el("div", { class: shape.page ? "paged" : "scroller" });
  const detail = el("div.detail", {});
  const bulk = new Bulk(page, shape);
  let kind = values.get("kind") || (chosen || values.get("state") ? "all" : shape.kind);
  const filters = new Filters(shape.noun, shape.filters, values, () => rows.filtered());
  /** @type {Omit<ListView<ListShape>, "shape">} */
  const list = { bulk, filters, mark: (row) => mark(row, row.dataset.focus === chosen, urlQuery()), kind: () => kind };
  const rows = shape.page ? new PagedRows({ ...list, shape }) : new WholeRows({ ...list, shape });
  const panel = new Panel(body, page.bus, {
    load: (signal) => rows.load(signal),
    topics: shape.topics,
    everyMs: shape.everyMs,
    soonMs: 1000,
    isEmpty: (data) => !data.total && !(shape.page && filters.any),
    empty: () => {
      filters.say(0, 0);
      bulk.show(null, []);
      return shape.empty(kind);
    },
    show: (place, data) => rows.show(place, data),
  });
  rows.panel = panel;
  const choice = segments(`Which ${shape.noun}`, shape.kinds, kind, (to) => {
    kind = to;
    keepInUrl({ kind: to === shape.kind ? "" : to });
    rows.turned();
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
  detail.hidden = !chosen;
  const stop = chosen ? shape.mount(detail, page, chosen, values) : () => {};
  return () => {
    panel.stop();
    rows.stop();
    stop();
  };
}

// All rows at once; the page itself finds those that fit.
/** @extends {ListRows<WholeShape>} */
class WholeRows extends ListRows {
  /** @param {ListView<WholeShape>} list */
  constructor(list) {
    super(list);
    this.list = el("ul.rows", { "aria-label": this.shape.title });
    arrows(this.list);
  }

  stop() {}

  /** @param {AbortSignal} [signal] */
  load(signal) {
    return this.shape.load(this.kind(), this.shape.most, signal);
  }

  turned() {
    this.panel?.refresh();
  }

  filtered() {
    if (this.panel?.data) this.panel.took(this.panel.data);
  }

  /** @param {HTMLElement} place @param {{ rows: any[]; total: number }} data */
  show(place, data) {
    const { shape, filters, list } = this;
    const facets = data.rows.map((one) => shape.facets(one));
    filters.offerFrom(facets, shape.words);
    const shown = data.rows.filter((_, at) => filters.fits(facets[at]));
    filters.say(shown.length, data.rows.length);
    keyed(list, shown, shape.id, shape.row);
    list.dataset.listed = String(shown.length);
    for (const row of list.querySelectorAll("a.row")) this.mark(row);
    this.bulk.show(list, shown);
    const rest = data.total - data.rows.length;
    fill(place, shown.length ? list : noneFits(shape.noun), rest > 0 ? shape.beyond(rest) : null);
  }
}

// A row opens with the search and the filters as they are.
/** @param {Element} row @param {boolean} here @param {string} query */
function mark(row, here, query) {
  const href = (row.getAttribute("href") ?? "").split("?")[0] + query;
  if (row.getAttribute("href") !== href) row.setAttribute("href", href);
  if (here) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}
