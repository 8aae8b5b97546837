// Rows of a list that come page by page as they come into sight, found by the daemon among all that are kept.

import { fill } from "./dom.js";
import { noneFits } from "./filters.js";
import { VirtualList } from "./virtual.js";

const PAGE = 100;
const MOST = 1000; // that the daemon gives at once
const CHOICES_MS = 30_000; // what filters offer is asked for at most so often

/** The rows of a list, of whichever kind. @template Shape */
export class ListRows {
  /** @param {ListView<Shape>} list */
  constructor(list) {
    this.shape = list.shape;
    this.bulk = list.bulk;
    this.filters = list.filters;
    this.mark = list.mark;
    this.kind = list.kind;
    /** The panel that these rows are in, once it is there. @type {Panel | undefined} */
    this.panel = undefined;
  }
}

/** @extends {ListRows<PagedShape>} */
export class PagedRows extends ListRows {
  /** @param {ListView<PagedShape>} list */
  constructor(list) {
    super(list);
    /** @type {any[]} */
    this.rows = [];
    /** @type {Set<number>} */
    this.asked = new Set(); // the pages that are here, or on their way
    this.turn = 0;
    this.choicesAt = 0;
    this.aborter = new AbortController();
    this.sight = [0, 1];
    /** @param {any} one */
    const made = (one) => {
      const row = this.shape.row(one);
      const link = row.querySelector("a.row");
      if (link) this.mark(link);
      return row;
    };
    this.virtual = new VirtualList(this.shape.title, this.shape.id, made, {
      look: "scroller", links: "a.row", sight: (first, last) => this.seen(first, last),
    });
  }

  stop() {
    this.aborter.abort();
    this.virtual.stop();
  }

  turned() {
    this.choicesAt = 0;
    this.filtered();
  }

  filtered() {
    this.turn += 1; // an answer that is on its way is not the one any more
    this.bulk.forget();
    this.sight = [0, 1];
    this.virtual.node.scrollTop = 0;
    this.panel?.refresh();
  }

  // What is in sight anew: whatever has changed may have moved the others too.
  /** @param {AbortSignal} [signal] */
  async load(signal) {
    for (;;) {
      const turn = ++this.turn;
      if (Date.now() - this.choicesAt > CHOICES_MS) {
        this.choicesAt = Date.now();
        this.filters.offerFrom(await this.shape.choices(this.kind(), signal), this.shape.words);
      }
      const numbers = pages(this.sight);
      const found = await Promise.all(numbers.map((number) => this.pageAt(number, signal)));
      if (turn === this.turn) return { numbers, found, total: found[found.length - 1].total };
    }
  }

  /** @param {number} number @param {AbortSignal} [signal] */
  pageAt(number, signal) {
    return this.shape.page(this.kind(), this.filters.values, number * PAGE, PAGE, signal);
  }

  // All that the search and the filters find, also those that never were in sight.
  async every() {
    /** @type {any[]} */
    const found = [];
    for (let total = Infinity; found.length < total; ) {
      const { rows, total: now } = await this.shape.page(this.kind(), this.filters.values, found.length, MOST, this.aborter.signal);
      found.push(...rows);
      total = rows.length ? now : found.length;
    }
    return found;
  }

  /** @param {HTMLElement} place @param {{ numbers: number[]; found: { rows: any[] }[]; total: number }} given */
  show(place, { numbers, found, total }) {
    this.asked = new Set(numbers);
    this.rows = new Array(total);
    for (const [at, number] of numbers.entries()) this.put(number, found[at].rows);
    this.filters.say(total);
    fill(place, total ? this.virtual.node : noneFits(this.shape.noun));
    this.paint();
  }

  /** @param {number} number @param {any[]} rows */
  put(number, rows) {
    rows.forEach((one, at) => {
      if (number * PAGE + at < this.rows.length) this.rows[number * PAGE + at] = one;
    });
  }

  paint() {
    this.virtual.show(this.rows);
    for (const row of this.virtual.list.querySelectorAll("a.row")) this.mark(row); // with the filters as they are now
    this.bulk.show(this.virtual.list, this.rows.filter(Boolean), { total: this.rows.length, every: () => this.every() });
  }

  /** @param {number} first @param {number} last */
  async seen(first, last) {
    this.sight = [first, Math.max(first + 1, last)];
    if (this.bulk.isOn) this.bulk.paint();
    const { turn } = this;
    const missing = this.rows.length ? pages(this.sight).filter((number) => !this.asked.has(number)) : [];
    for (const number of missing) this.asked.add(number);
    for (const number of missing) {
      try {
        const { rows } = await this.pageAt(number, this.aborter.signal);
        if (turn !== this.turn) return; // the rows were asked for anew meanwhile
        this.put(number, rows);
      } catch (/** @type {any} */ fault) {
        if (this.aborter.signal.aborted) return;
        this.asked.delete(number);
        if (fault.status === undefined) throw fault;
        return; // the page says that it is not connected; it is asked for again when it is in sight
      }
      this.paint();
    }
  }
}

/** @param {number[]} given */
function pages([first, last]) {
  const from = Math.floor(first / PAGE);
  return Array.from({ length: Math.floor(Math.max(first, last - 1) / PAGE) - from + 1 }, (_, at) => from + at);
}
