// Something done to several rows of a list at once: they are marked, what will happen is said, then it is done to each.

import { confirmed, doing, notice } from "./dialog.js";
import { el, fill } from "./dom.js";
import { sentence } from "./panel.js";
import { count } from "./words.js";

const AT_ONCE = 4;

/** The link to the form that makes one; null where this session's scope does not reach.
 * @param {Page} page @param {{ href: string; words: string; scope: string }} given
 */
export function makeLink(page, { href, words, scope }) {
  return page.may(scope) ? el("a.button", { class: "button primary", href }, words) : null;
}

/** `shape`: noun, in the plural; id(one); and `bulk`: {scope, acts}, each act {words, title, lines, verb, tone, good(one),
 * done, run(one)}. `tools` belongs into the head of the list, `bar` above it; `show(list, rows)` follows the list. Of a list
 * whose rows come page by page `total` is how many there are, and `every()` returns them all. */
export class Bulk {
  /** @param {Page} page @param {ListShape} shape */
  constructor(page, shape) {
    this.shape = shape;
    /** @type {Map<string, any>} */
    this.marked = new Map();
    this.isOn = false;
    /** @type {any[]} */
    this.rows = [];
    this.total = 0;
    /** @type {HTMLElement | null} */
    this.list = null;
    /** @type {(() => Promise<any[]>) | null} */
    this.every = null;
    const acts = shape.bulk && page.may(shape.bulk.scope) ? shape.bulk.acts : [];
    this.may = acts.length > 0;
    this.toggle = el("button", { type: "button", "aria-pressed": "false", hidden: true, onclick: () => this.turn(!this.isOn) }, "Select");
    this.tools = [this.toggle];
    this.all = el("button", { type: "button" });
    this.all.addEventListener("click", doing(this.all, () => this.markAll()));
    this.told = el("span.muted", { role: "status" });
    this.buttons = acts.map((act) => ({ act, button: this.button(act) }));
    this.bar = el("div.bulk", { hidden: true, role: "group", "aria-label": `With the marked ${shape.noun}` },
      this.all, this.told, el("div.tools", {}, this.buttons.map(({ button }) => button)));
  }

  /** @param {boolean} isOn */
  turn(isOn) {
    this.isOn = isOn;
    this.marked.clear();
    this.toggle.setAttribute("aria-pressed", String(isOn));
    this.bar.hidden = !isOn;
    this.paint();
  }

  /** Follow the rows that are shown now; the mark of one that is gone goes with it, where all rows are here.
   * @param {HTMLElement | null} list @param {any[]} rows
   * @param {{ total?: number; every?: (() => Promise<any[]>) | null }} [given]
   */
  show(list, rows, { total = rows.length, every = null } = {}) {
    this.list = list;
    this.rows = rows;
    this.total = total;
    this.every = every;
    const here = new Map(rows.map((one) => [this.shape.id(one), one]));
    if (!every) for (const id of this.marked.keys()) if (!here.has(id)) this.marked.delete(id);
    for (const [id, one] of here) if (this.marked.has(id)) this.marked.set(id, one);
    this.paint();
  }

  paint() {
    this.toggle.hidden = !this.may || (!this.rows.length && !this.isOn);
    this.list?.classList.toggle("selecting", this.isOn);
    const byId = new Map(this.rows.map((one) => [this.shape.id(one), one]));
    for (const row of this.list?.children ?? []) this.box(row, byId.get(row.querySelector("a.row")?.dataset.focus ?? ""));
    fill(this.all, this.isAll ? "None" : `All ${this.total} ${this.every ? "found" : "shown"}`);
    fill(this.told, `${this.marked.size} marked`);
    for (const { act, button } of this.buttons) button.disabled = !this.fit(act).length;
  }

  /** @param {Element} row @param {any} one */
  box(row, one) {
    const before = /** @type {HTMLInputElement | null} */ (row.querySelector(":scope > .mark"));
    if (!this.isOn || !one) return before?.remove();
    const id = this.shape.id(one);
    /** @type {HTMLInputElement} */
    const box = before ?? el("input.mark", { type: "checkbox", "data-focus": `mark-${id}`,
      "aria-label": row.querySelector(".title")?.textContent ?? "", onchange: () => this.mark(id, box.checked) });
    box.checked = this.marked.has(id);
    if (!before) row.prepend(box);
    return undefined;
  }

  /** @param {string} id @param {boolean} isMarked */
  mark(id, isMarked) {
    if (isMarked) this.marked.set(id, this.rows.find((one) => this.shape.id(one) === id));
    else this.marked.delete(id);
    this.paint();
  }

  get isAll() {
    return this.marked.size >= this.total && this.total > 0;
  }

  /** Mark none: other rows are about to be shown. */
  forget() {
    this.marked.clear();
  }

  async markAll() {
    /** @type {any[]} */
    const rows = this.isAll ? [] : this.every ? await this.every() : this.rows;
    this.marked = new Map(rows.map((one) => [this.shape.id(one), one]));
    this.paint();
  }

  /** @param {BulkAct} act */
  fit(act) {
    return [...this.marked.values()].filter(act.good);
  }

  /** @param {BulkAct} act */
  button(act) {
    const button = el("button", { type: "button", class: act.tone ?? null }, act.words);
    button.addEventListener("click", doing(button, () => this.run(act)));
    return button;
  }

  /** @param {BulkAct} act */
  async run(act) {
    const rows = this.fit(act);
    const many = count(rows.length, this.shape.noun.slice(0, -1));
    const left = this.marked.size - rows.length;
    const lines = [...act.lines, left ? `${left} of those marked can't be: they are left alone.` : ""].filter(Boolean);
    if (!(await confirmed(`${act.title} ${many}?`, lines, act.verb, { tone: act.tone ?? "primary" }))) return;
    const faults = await each(rows, act.run, (done) => fill(this.told, `${done} of ${rows.length}`));
    const first = faults.at(0);
    if (first) notice(`${rows.length - faults.length} of ${many} ${act.done}. ${sentence(first.error)}`, "bad");
    else notice(`${many} ${act.done}.`);
    this.turn(false);
    this.toggle.focus();
  }
}

// Do `run` with each of `rows`, some at once; returns the faults of those that failed.
/** @param {any[]} rows @param {(one: any) => unknown} run @param {(done: number) => void} told */
async function each(rows, run, told) {
  /** @type {ApiError[]} */
  const faults = [];
  const left = [...rows];
  let done = 0;
  const worker = async () => {
    for (let one = left.shift(); one; one = left.shift()) {
      try {
        await run(one);
      } catch (/** @type {any} */ fault) {
        if (fault.status === undefined) throw fault;
        faults.push(fault);
      }
      told(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return faults;
}
