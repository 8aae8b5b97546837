// Small pictures of displays: a question each second while one changes, fewer while it does not; only of those in sight.

import { api } from "../parts/api.js";
import { el, fill } from "../parts/dom.js";
import { facts, takenWords } from "./words.js";
import { badge } from "../parts/widgets.js";
import { clock, count } from "../parts/words.js";

const CHANGING_MS = 1000;
const STILL_MS = 5000;
const GAP_MS = 100; // between two questions, so that many pictures cost no more than ten a second
const AT_ONCE = 4;
const OLD_MS = 3 * STILL_MS;

// ---- whose turn it is -------------------------------------------------------------------------------------------------

const inSight = new Set();
const seenBy = new WeakMap();
let asking = 0,
  timer = 0,
  lastMs = 0;

const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) seenBy.get(entry.target)?.seen(entry.isIntersecting);
  },
  { rootMargin: "120px" },
);
document.addEventListener("visibilitychange", turn);

function turn() {
  clearTimeout(timer);
  if (document.hidden) return;
  while (asking < AT_ONCE) {
    const next = [...inSight].filter((one) => !one.isAsking).reduce(earlier, null);
    if (!next) return;
    const dueMs = next.askedMs ? Math.max(next.dueMs(), lastMs + GAP_MS) : 0;
    const leftMs = dueMs - performance.now();
    if (leftMs > 0) {
      timer = setTimeout(turn, leftMs);
      return;
    }
    lastMs = performance.now();
    asking += 1;
    next.ask().finally(() => {
      asking -= 1;
      turn();
    });
  }
}

/** @param {Thumbnail | null} best @param {Thumbnail} one */
function earlier(best, one) {
  return best && best.dueMs() <= one.dueMs() ? best : one;
}

// ---- one picture ------------------------------------------------------------------------------------------------------

/** States as of a live picture: `connecting`, `live` (it has just changed), `still`, `lost` (`reason` says why). */
class Thumbnail {
  /** @param {Display} display */
  constructor(display) {
    this.name = display.name;
    this.canvas = el("canvas.screen-canvas", { role: "img", width: 4, height: 3, "aria-label": `Screen of ${display.name}` });
    this.picture = el("div.screen-picture", { "data-state": "connecting" }, this.canvas);
    this.trouble = el("p.screen-trouble", { hidden: true });
    this.etag = "";
    this.askedMs = this.checkedMs = 0;
    this.isAsking = false;
    this.state = "connecting";
    this.aborter = new AbortController();
    seenBy.set(this.picture, this);
    observer.observe(this.picture);
  }

  end() {
    this.aborter.abort();
    observer.unobserve(this.picture);
    inSight.delete(this);
  }

  /** @param {boolean} isSeen */
  seen(isSeen) {
    if (isSeen) inSight.add(this);
    else inSight.delete(this);
    turn();
  }

  dueMs() {
    if (!this.askedMs) return 0;
    const stillMs = Math.min(STILL_MS, Math.max(CHANGING_MS, inSight.size * GAP_MS));
    return this.askedMs + (this.state === "live" ? CHANGING_MS : stillMs);
  }

  async ask() {
    this.isAsking = true;
    this.askedMs = performance.now();
    try {
      const found = await api.picture(`/api/live/${encodeURIComponent(this.name)}.jpeg`, this.etag, this.aborter.signal);
      if (found) await this.paint(found);
      this.checkedMs = Date.now();
      this.become(found ? "live" : "still", "");
    } catch (/** @type {any} */ fault) {
      if (this.aborter.signal.aborted) return;
      if (fault.status === undefined) throw fault;
      this.become("lost", fault.error);
    } finally {
      this.isAsking = false;
    }
  }

  /** @param {{ blob: Blob; etag: string | null }} given */
  async paint({ blob, etag }) {
    const bitmap = await createImageBitmap(blob);
    if (this.canvas.width !== bitmap.width) this.canvas.width = bitmap.width;
    if (this.canvas.height !== bitmap.height) this.canvas.height = bitmap.height;
    this.canvas.getContext("2d", { alpha: false })?.drawImage(bitmap, 0, 0);
    bitmap.close();
    this.etag = etag ?? "";
  }

  // A picture that is not known to be current is grey, and says since when.
  /** @param {string} state @param {string} reason */
  become(state, reason) {
    this.state = state;
    const isStale = state === "lost" || Date.now() - this.checkedMs > OLD_MS;
    if (this.picture.dataset.state !== state) this.picture.dataset.state = state;
    this.picture.classList.toggle("stale", isStale);
    const since = this.checkedMs ? ` since ${clock(this.checkedMs / 1000)}` : "";
    const words = state === "lost" ? `no picture${since}: ${reason.replace(`no picture of ${this.name}: `, "")}` : "";
    if (this.trouble.textContent !== words) fill(this.trouble, words);
    this.trouble.hidden = !words;
  }
}

// ---- its card ---------------------------------------------------------------------------------------------------------

/** A display in a grid: its picture, its task's name, and how its waits do. */
class DisplayCard {
  /** @param {Display} display */
  constructor(display) {
    this.screen = new Thumbnail(display);
    this.link = el("a.screen-link", {
      href: `#/screens/${encodeURIComponent(display.name)}?number=${display.number}`,
      "data-focus": `screen-${display.number}`,
    });
    this.facts = el("p.screen-facts");
    this.waits = el("p.screen-waits");
    this.seal = "";
    this.taken = el("p.screen-taken");
    this.node = el("li.screen-card", {}, this.screen.picture,
      el("div.screen-words", {}, el("h3", {}, this.link), this.facts, this.taken, this.screen.trouble, this.waits));
    this.update(display);
  }

  /** @param {Display} display */
  update(display) {
    const seal = JSON.stringify([display.task?.name, display.task?.status, facts(display), display.watching, display.unsure, display.behind, takenWords(display)]);
    if (this.seal === seal) return;
    this.seal = seal;
    const { task } = display;
    fill(this.link, task?.name ?? display.name);
    this.link.title = task?.name ?? display.name;
    fill(this.facts, task ? [display.name, " · ", facts({ ...display, task: null })] : facts(display));
    fill(this.waits, task && task.status !== "active" ? badge(task.status) : null, waitBadges(display));
    const words = takenWords(display);
    fill(this.taken, words);
    this.taken.hidden = !words;
  }

  end() {
    this.screen.end();
  }
}

/** @param {Display} given */
function waitBadges({ name, watching, unsure, behind }) {
  if (!watching) return null;
  const href = `#/waits?display=${encodeURIComponent(name)}`;
  return [
    el("a.screen-of", { href, "aria-label": `${count(watching, "wait")} watching ${name}` }, badge("watching", String(watching))),
    unsure ? el("a.screen-of", { href, "aria-label": `${unsure} of them unsure` }, badge("unknown", String(unsure))) : null,
    behind ? el("a.screen-of", { href, "aria-label": `${behind} of them behind: they wait for their judge` }, badge("behind", String(behind))) : null,
  ];
}

/** Cards by display, kept from one list to the next. */
export class Cards {
  constructor() {
    this.kept = new Map();
  }

  /** Return the cards' nodes of `displays`, in order; cards of others stay until `keep`.
   * @param {Display[]} displays
   */
  of(displays) {
    return displays.map((display) => {
      const card = this.kept.get(display.number);
      if (card) card.update(display);
      else this.kept.set(display.number, new DisplayCard(display));
      return this.kept.get(display.number).node;
    });
  }

  /** End the cards of all displays but these.
   * @param {Display[]} displays
   */
  keep(displays) {
    const numbers = new Set(displays.map((display) => display.number));
    for (const [number, card] of [...this.kept])
      if (!numbers.has(number)) {
        card.end();
        this.kept.delete(number);
      }
  }
}
