// One display's picture with its pointer and how current it is; it holds a connection only while it can be seen.

import { el, svg } from "../parts/dom.js";
import { delay, freshness } from "./freshness.js";
import { LiveStream } from "./stream.js";

const TICK_MS = 200;
const seenBy = new WeakMap();

// One observer for all: a picture within a screen's reach counts as seen, so that scrolling shows no grey.
const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) seenBy.get(entry.target)?.seen(entry.isIntersecting);
  },
  { rootMargin: "120px" },
);

export class Screen {
  /** `fps` and `max_side_px` (0: exact pixels) are what is asked for. `changed(this)` follows the stream.
   * @param {Gateway} api @param {Display} display
   * @param {{ fps: number; max_side_px: number; changed?: (screen: Screen) => void }} given
   */
  constructor(api, display, { fps, max_side_px, changed = () => {} }) {
    this.display = display;
    this.canvas = el("canvas.screen-canvas", { role: "img", width: display.width || 4, height: display.height || 3,
      "aria-label": `Screen of ${display.name}` });
    this.pointer = svg("svg.screen-pointer", { viewBox: "0 0 12 18", "aria-hidden": "true" },
      svg("path", { d: "M1 1v14l3.4-3 2.3 5 2.2-1-2.3-4.9H11z" }));
    this.badge = el("span.screen-fresh");
    this.delay = el("span.screen-delay", { title: "from the change on the display to the picture here, median of 20" });
    this.picture = el("div.screen-picture", {}, this.canvas, this.pointer);
    this.changed = changed;
    this.stream = new LiveStream(api, display.name, this.canvas, () => this.tell());
    this.stream.want(fps, max_side_px);
    this.isSeen = false;
    this.onVisible = () => this.follow();
    document.addEventListener("visibilitychange", this.onVisible);
    seenBy.set(this.picture, this);
    observer.observe(this.picture);
    this.timer = setInterval(() => this.tell(), TICK_MS);
  }

  /** Let go of the connection for good. */
  end() {
    clearInterval(this.timer);
    observer.unobserve(this.picture);
    document.removeEventListener("visibilitychange", this.onVisible);
    this.stream.close();
  }

  /** @param {boolean} isSeen */
  seen(isSeen) {
    this.isSeen = isSeen;
    this.follow();
  }

  follow() {
    if (this.isSeen && !document.hidden) this.stream.open();
    else this.stream.close();
  }

  tell() {
    const { tone, words, isStale } = freshness(this.stream, Date.now());
    if (this.badge.textContent !== words) this.badge.textContent = words;
    this.badge.dataset.tone = tone;
    this.picture.dataset.state = this.stream.state;
    this.picture.classList.toggle("stale", isStale);
    this.delay.textContent = delay(this.stream);
    this.point();
    this.changed(this);
  }

  point() {
    const [x, y] = this.stream.cursor ?? [-1, -1];
    const shown = x >= 0 && y >= 0 && this.stream.frame > 0;
    this.pointer.toggleAttribute("hidden", !shown);
    if (!shown) return;
    this.pointer.style.left = `${(100 * x) / this.canvas.width}%`;
    this.pointer.style.top = `${(100 * y) / this.canvas.height}%`;
  }
}
