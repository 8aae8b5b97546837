// A list of rows of one height, of which only those in sight are in the page.

import { el } from "./dom.js";
import { arrows } from "./keys.js";

const ROW_PX = 28;
const BEYOND = 16; // rows made above and below what is in sight, so that scrolling and ↑ ↓ find them

export class VirtualList {
  /** `make(item)` returns an `li`; `key(item)` names it. `end()` is called when the list's end comes into sight. */
  constructor(label, key, make, end = () => {}) {
    Object.assign(this, { key, make, end });
    this.items = [];
    this.made = new Map();
    this.list = el("ul", { "aria-label": label });
    this.node = el("div.log", { tabindex: "0", role: "region", "aria-label": label }, this.list);
    this.node.addEventListener("scroll", () => this.soon(), { passive: true });
    this.sizes = new ResizeObserver(() => this.paint());
    this.sizes.observe(this.node);
    arrows(this.list, "a");
  }

  stop() {
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** Show `items`. Whoever has scrolled down keeps what they look at, `added` rows came above it. */
  show(items, added = 0) {
    this.items = items;
    this.node.dataset.listed = items.length;
    this.list.style.height = `${items.length * ROW_PX}px`;
    if (added && this.node.scrollTop > 0) this.node.scrollTop += added * ROW_PX;
    this.paint();
  }

  soon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const { scrollTop, clientHeight } = this.node;
    const first = Math.max(0, Math.floor(scrollTop / ROW_PX) - BEYOND);
    const last = Math.min(this.items.length, Math.ceil((scrollTop + clientHeight) / ROW_PX) + BEYOND);
    const wanted = new Map();
    for (let at = first; at < last; at += 1) {
      const key = this.key(this.items[at]);
      const row = this.made.get(key) ?? this.make(this.items[at]);
      row.style.top = `${at * ROW_PX}px`;
      row.setAttribute("aria-posinset", at + 1);
      row.setAttribute("aria-setsize", this.items.length);
      wanted.set(key, row);
    }
    for (const [key, row] of this.made) if (wanted.get(key) !== row) row.remove();
    let before = null;
    for (const row of wanted.values()) {
      if (!row.isConnected) before ? before.after(row) : this.list.prepend(row);
      before = row;
    }
    this.made = wanted;
    if (last === this.items.length && clientHeight) this.end();
  }
}
