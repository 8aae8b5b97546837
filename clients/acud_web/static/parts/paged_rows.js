// Rows of a list that come page by page as they come into sight, found by the daemon among all that are kept.

import { fill } from "./dom.js";
import { noneFits } from "./filters.js";
import { VirtualList } from "./virtual.js";

const PAGE = 100;
const MOST = 1000; // that the daemon gives at once
const CHOICES_MS = 30_000; // what filters offer is asked for at most so often

export class PagedRows {
  constructor(list) {
    Object.assign(this, list);
    this.rows = [];
    this.asked = new Set(); // the pages that are here, or on their way
    this.turn = 0;
    this.choicesAt = 0;
    this.aborter = new AbortController();
    this.sight = [0, 1];
    const made = (one) => {
      const row = this.shape.row(one);
      this.mark(row.querySelector("a.row"));
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
    this.panel.refresh();
  }

  // What is in sight anew: whatever has changed may have moved the others too.
  async load(signal) {
    for (;;) {
      const turn = ++this.turn;
      if (Date.now() - this.choicesAt > CHOICES_MS) {
        this.choicesAt = Date.now();
        this.filters.offerFrom(await this.shape.choices(this.kind(), signal), this.shape.words);
      }
      const numbers = pages(this.sight);
      const found = await Promise.all(numbers.map((number) => this.pageAt(number, signal)));
      if (turn === this.turn) return { numbers, found, total: found.at(-1).total };
    }
  }

  pageAt(number, signal) {
    return this.shape.page(this.kind(), this.filters.values, number * PAGE, PAGE, signal);
  }

  // All that the search and the filters find, also those that never were in sight.
  async every() {
    const found = [];
    for (let total = Infinity; found.length < total; ) {
      const { rows, total: now } = await this.shape.page(this.kind(), this.filters.values, found.length, MOST, this.aborter.signal);
      found.push(...rows);
      total = rows.length ? now : found.length;
    }
    return found;
  }

  show(place, { numbers, found, total }) {
    this.asked = new Set(numbers);
    this.rows = new Array(total);
    for (const [at, number] of numbers.entries()) this.put(number, found[at].rows);
    this.filters.say(total);
    fill(place, total ? this.virtual.node : noneFits(this.shape.noun));
    this.paint();
  }

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
      } catch (fault) {
        if (this.aborter.signal.aborted) return;
        this.asked.delete(number);
        if (fault.status === undefined) throw fault;
        return; // the page says that it is not connected; it is asked for again when it is in sight
      }
      this.paint();
    }
  }
}

function pages([first, last]) {
  const from = Math.floor(first / PAGE);
  return Array.from({ length: Math.floor(Math.max(first, last - 1) / PAGE) - from + 1 }, (_, at) => from + at);
}
