// A part of the page that shows something of the daemon and keeps it fresh: loading, empty, shown, refused, away.

import { isAway } from "./api.js";
import { el, fill, settled } from "./dom.js";

// load(signal) -> data; show(body, data) paints it; isEmpty(data) and empty() say what stands there instead. It loads
// again `soonMs` after events of `topics` or those that `hears(event)`, after a gap in them, every `everyMs` while the page is visible, and on
// `refresh()`.
export class Panel {
  /** @param {HTMLElement} body @param {Bus} bus @param {PanelShape} given */
  constructor(body, bus, { load, show, isEmpty = () => false, empty = () => "", topics = [], hears = null, everyMs = 0, soonMs = 400 }) {
    this.body = body;
    this.load = load;
    this.show = show;
    this.isEmpty = isEmpty;
    this.empty = empty;
    this.aborter = new AbortController();
    /** What was loaded last, null before the first. @type {any} */
    this.data = null;
    /** @type {any} */
    this.error = null;
    this.asking = false;
    this.again = false;
    this.soon = settled(() => this.refresh(), soonMs);
    this.offs = [...topics, "missed"].map((topic) => bus.on(topic, this.soon));
    if (hears) this.offs.push(bus.on("", (event) => hears(event) && this.soon()));
    this.offs.push(
      bus.on("link", (event) => {
        if (event.subject === "up" && this.error) this.soon();
      }),
    );
    if (everyMs)
      this.timer = setInterval(() => {
        if (!document.hidden && bus.state === "up") this.soon();
      }, everyMs);
    fill(body, loading());
    this.refresh();
  }

  stop() {
    this.aborter.abort();
    this.soon.cancel();
    clearInterval(this.timer);
    for (const off of this.offs) off();
  }

  // At most one question is under way; what is asked meanwhile is asked once after it.
  async refresh() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    try {
      this.took(await this.load(this.aborter.signal));
    } catch (/** @type {any} */ fault) {
      if (!this.aborter.signal.aborted) this.failed(fault);
    } finally {
      this.asking = false;
      if (this.again && !this.aborter.signal.aborted) {
        this.again = false;
        this.soon();
      }
    }
  }

  /** @param {any} data */
  took(data) {
    if (this.aborter.signal.aborted) return;
    this.data = data;
    this.error = null;
    this.body.removeAttribute("aria-busy");
    if (this.isEmpty(data)) fill(this.body, nothing(this.empty(data)));
    else this.show(this.body, data);
  }

  // What was shown stays while the daemon is away (the banner says so); anything else is said in its place.
  /** @param {any} fault */
  failed(fault) {
    this.error = fault;
    if (isAway(fault) && this.data !== null) return;
    this.body.removeAttribute("aria-busy");
    if (fault.status === undefined) {
      fill(
        this.body,
        trouble(fault, () => this.refresh()),
      );
      throw fault;
    }
    fill(
      this.body,
      trouble(fault, () => this.refresh()),
    );
  }
}

export function loading() {
  const rows = [72, 54, 63].map((width) => el("span.bone", { class: `bone w${width}` }));
  return el("div.skeleton", { role: "status" }, el("span.hidden", {}, "Loading"), ...rows);
}

// `words`: a sentence, or nodes that say what to do.
/** @param {Nested} words */
export function nothing(words) {
  return el("div.nothing", {}, ...(Array.isArray(words) ? words : [words]));
}

// What went wrong, in words, with the next step.
/** @param {any} fault @param {() => unknown} [again] */
export function trouble(fault, again) {
  const [title, words] = said(fault);
  const retry =
    again && fault.status !== 403 && fault.status !== 404 && fault.status !== 401
      ? el("button", { type: "button", onclick: again }, "Try again")
      : null;
  return el("div.trouble", { role: "status" }, el("strong", {}, title), el("p", {}, words), retry);
}

/** @param {any} fault */
function said(fault) {
  const hint = fault.hint ? ` ${fault.hint}` : "";
  if (fault.code === "daemon_busy") return ["The daemon is busy", "It has not answered yet. The page asks again by itself."];
  if (fault.code === "daemon_down") return ["The daemon does not answer", "The page connects again by itself. On the host: acud status"];
  switch (fault.status) {
    case 0:
      return ["The gateway does not answer", "The page connects again by itself. On the host: acud daemon start"];
    case 401:
      return ["Not logged in", "Make a new link on the host with: acud web login"];
    case 403:
      return [
        "No permission",
        `${sentence(fault.error)} This session may not see or do this; one with a wider scope may.`,
      ];
    case 404:
      return ["Not there", sentence(fault.error) + hint];
    case 429:
      return ["Too many requests", "Wait a moment, then try again."];
    default:
      return ["That did not work", sentence(fault.error ?? String(fault)) + hint];
  }
}

/** @param {string | null} [words] */
export function sentence(words) {
  const trimmed = String(words || "").trim();
  if (!trimmed) return "";
  const first = trimmed[0].toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
