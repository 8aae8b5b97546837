// The daemon's events, from one stream for the whole page; it connects again by itself.

import { isAway } from "./api.js";

const FIRST_MS = 500;
const LONGEST_MS = 8000;

// on(prefix, heard): events whose topic begins with `prefix`; an `event` has n, topic, utc_s, subject, data.
// Besides the daemon's topics: `link` {state: "connecting" | "up" | "down" | "over", error} when the link changes, and
// `missed` when events may have been lost: whoever shows something asks for it anew.
export class Bus {
  /** @param {Gateway} api @param {string} [path] */
  constructor(api, path = "/api/events/stream") {
    this.api = api;
    this.path = path;
    /** @type {LinkState["state"]} */
    this.state = "connecting";
    /** @type {any} */
    this.error = null;
    this.newest = 0;
    this.waits = FIRST_MS;
    /** @type {Set<{ prefix: string; heard: (event: BusEvent) => unknown }>} */
    this.heard = new Set();
    this.stopped = false;
    this.before = false;
    /** @type {EventSource | null} */
    this.source = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** @param {string} prefix @param {(event: BusEvent) => unknown} heard */
  on(prefix, heard) {
    const row = { prefix, heard };
    this.heard.add(row);
    return () => this.heard.delete(row);
  }

  /** @param {BusEvent} event */
  tell(event) {
    for (const { prefix, heard } of [...this.heard]) if (event.topic.startsWith(prefix)) heard(event);
  }

  start() {
    this.stopped = false;
    this.connect();
    addEventListener("online", () => this.again());
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", (shown) => {
      if (shown.persisted) this.again();
    });
  }

  // Connect at once instead of when the pause is over.
  again() {
    if (this.stopped || this.source) return;
    clearTimeout(this.timer);
    this.connect();
  }

  // No more: the session is over.
  /** @param {any} error */
  stop(error) {
    this.stopped = true;
    clearTimeout(this.timer);
    this.close();
    this.move("over", error);
  }

  close() {
    this.source?.close();
    this.source = null;
  }

  connect() {
    if (this.state !== "down") this.move("connecting");
    const since = this.newest ? `?since=${this.newest}` : "";
    const source = new EventSource(this.path + since);
    this.source = source;
    source.addEventListener("open", () => this.opened());
    source.addEventListener("message", (message) => this.took(message));
    source.addEventListener("trimmed", () => this.missed());
    source.addEventListener("down", (message) =>
      this.move("down", { status: 503, ...JSON.parse(message.data) }),
    );
    source.addEventListener("up", () => {
      this.move("up");
      this.missed();
    });
    source.addEventListener("bye", () => this.broke());
    source.addEventListener("error", () => this.broke());
  }

  opened() {
    const again = this.state !== "up" && this.before;
    this.waits = FIRST_MS;
    this.before = true;
    this.move("up");
    if (again) this.missed();
  }

  /** @param {MessageEvent} message */
  took(message) {
    const event = JSON.parse(message.data);
    if (event.n) this.newest = event.n;
    this.tell(event);
  }

  missed() {
    this.tell({ n: 0, topic: "missed", subject: "", utc_s: Date.now() / 1000, data: {} });
  }

  // A stream does not say why it broke; a plain question does.
  async broke() {
    if (!this.source) return;
    this.close();
    /** @type {any} */
    let error = null;
    try {
      await this.api.get("/api/health");
    } catch (/** @type {any} */ fault) {
      error = fault;
    }
    if (this.stopped || this.source) return;
    if (error?.status === 401) return this.stop(error);
    if (error && error.status !== 403) this.move("down", error);
    this.timer = setTimeout(() => this.connect(), this.waits);
    this.waits = Math.min(LONGEST_MS, this.waits * 2);
  }

  // A question of the page failed with `error` on its way to the daemon: the link is not live until one is answered.
  /** @param {any} error */
  async doubt(error) {
    if (this.state !== "up") return;
    this.move("down", error);
    const state = () => this.state;
    for (const { source } = this; source === this.source && state() === "down"; ) {
      await new Promise((done) => setTimeout(done, FIRST_MS));
      const found = await this.api.get("/api/health").then(() => null, (fault) => fault);
      if (source !== this.source || state() !== "down") return; // the stream knows better
      if (isAway(found)) this.move("down", found);
      else {
        this.move("up");
        this.missed();
      }
    }
  }

  /** @param {LinkState["state"]} state @param {any} [error] */
  move(state, error = null) {
    if (state === this.state && error?.code === this.error?.code) return;
    this.state = state;
    this.error = error;
    this.tell({ n: 0, topic: "link", subject: state, utc_s: Date.now() / 1000, data: { state, error } });
  }
}
