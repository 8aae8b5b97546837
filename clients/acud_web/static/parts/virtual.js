// A list of rows of one height, of which only those in sight are in the page.

import { el } from "./dom.js";
import { arrows } from "./keys.js";

const ROW_PX = 28; // where the style sheet has no --row for the list
const BEYOND = 16; // rows made above and below what is in sight, so that scrolling and ↑ ↓ find them

export class VirtualList {
  /** `make(item)` returns an `li`; `key(item)` names it. `end()` is called when the list's end comes into sight; `sight(first,
   * last)` after each painting, with the rows that are made. A hole in the items is an empty row.
   * @param {string} label @param {(item: any) => string} key @param {(item: any) => HTMLElement} make
   * @param {{ end?: () => unknown; sight?: (first: number, last: number) => unknown; look?: string; links?: string }} [given]
   */
  constructor(label, key, make, { end = () => {}, sight = () => {}, look = "log", links = "a" } = {}) {
    this.key = key;
    this.make = make;
    this.end = end;
    this.sight = sight;
    /** @type {any[]} */
    this.items = [];
    /** @type {Map<string, MadeRow>} */
    this.made = new Map();
    this.frame = 0;
    this.list = el("ul", { "aria-label": label, class: look === "log" ? null : "rows" });
    this.node = el("div", { class: `virtual ${look}`, tabindex: "0", role: "region", "aria-label": label }, this.list);
    this.node.addEventListener("scroll", () => this.soon(), { passive: true });
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.node);
    this.rowPx = ROW_PX;
    arrows(this.list, links);
  }

  stop() {
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** Show `items`. Whoever has scrolled down keeps what they look at, `added` rows came above it.
   * @param {any[]} items @param {number} [added]
   */
  show(items, added = 0) {
    this.items = items;
    this.node.dataset.listed = String(items.length);
    this.list.style.height = `${items.length * this.rowPx}px`;
    if (added && this.node.scrollTop > 0) this.node.scrollTop += added * this.rowPx;
    this.paint();
  }

  soon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  // Rows have another height where they have less width: the first one in sight stays that.
  resized() {
    const rowPx = Number.parseFloat(getComputedStyle(this.node).getPropertyValue("--row")) || ROW_PX;
    const top = this.node.scrollTop / this.rowPx;
    const isOther = rowPx !== this.rowPx;
    this.rowPx = rowPx;
    this.show(this.items);
    if (isOther) this.node.scrollTop = top * rowPx;
  }

  paint() {
    const { scrollTop, clientHeight } = this.node;
    const first = Math.max(0, Math.floor(scrollTop / this.rowPx) - BEYOND);
    const last = Math.min(this.items.length, Math.ceil((scrollTop + clientHeight) / this.rowPx) + BEYOND);
    const { activeElement } = document;
    const focus = activeElement && this.list.contains(activeElement) ? activeElement.closest("[data-focus]")?.dataset.focus : "";
    const wanted = new Map();
    for (let at = first; at < last; at += 1) {
      const item = this.items[at];
      const key = item === undefined ? `hole ${at}` : this.key(item);
      const made = this.row(key, item);
      this.place(made, at);
      wanted.set(key, made);
    }
    for (const [key, { row }] of this.made) if (wanted.get(key)?.row !== row) row.remove();
    let before = null;
    for (const { row } of wanted.values()) {
      if (!row.isConnected) before ? before.after(row) : this.list.prepend(row);
      before = row;
    }
    this.made = wanted;
    if (focus && !this.list.contains(document.activeElement))
      this.list.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    this.sight(first, last);
    if (last === this.items.length && clientHeight) this.end();
  }

  // Nothing is touched of a row that stays where it is.
  /** @param {MadeRow} made @param {number} at */
  place(made, at) {
    const top = at * this.rowPx;
    if (made.top !== top) made.row.style.top = `${top}px`;
    if (made.at !== at) made.row.setAttribute("aria-posinset", String(at + 1));
    if (made.of !== this.items.length) made.row.setAttribute("aria-setsize", String(this.items.length));
    Object.assign(made, { top, at, of: this.items.length });
  }

  // The row of an item that says the same as before is the same row.
  /** @param {string} key @param {any} item @returns {MadeRow} */
  row(key, item) {
    const before = this.made.get(key);
    if (before && (before.item === item || JSON.stringify(before.item) === JSON.stringify(item))) return Object.assign(before, { item });
    return { row: item === undefined ? el("li.hole", {}) : this.make(item), item };
  }
}
