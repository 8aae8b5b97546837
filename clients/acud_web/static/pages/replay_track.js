// The time line of a recording: a ruler, its segments and stillness, marks, and a lane for each wait. It zooms; the rows
// lie in one strip that scrolls sideways, so that places are shares of its width at any zoom.

import { el, fill } from "../parts/dom.js";
import { ticks, verdictRuns } from "./replay_marks.js";
import { clock, count, stateWord } from "../parts/words.js";

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const LABEL_PX = 90; // the least from one time of the ruler to the next
const MOST_LABELS = 400;
const ZOOM_STEP = 2;
const LEAST_SHOWN_MS = 2000; // the closest zoom shows so much
const MOST_ZOOM = 2000;

export class Track {
  /** `seek(utc_ms)` is called when the pointer is pressed or drawn over the strip; `hover(utc_ms, x)` while it is over it, with null when it left.
   * @param {Axis} axis @param {Api.WaitSpan[]} waits
   * @param {{ seek: (utc_ms: number) => void; hover: (utc_ms: number | null, x: number) => void }} given
   */
  constructor(axis, waits, { seek, hover }) {
    this.axis = axis;
    this.waits = waits;
    this.scale = 1;
    this.hover = hover;
    /** @param {string} kind @param {any} stretch @param {string} title */
    const part = (kind, stretch, title) => this.part(kind, stretch.begin, stretch.end, title);
    this.head = el("span.replay-head");
    this.ruler = el("div.replay-ruler", { "aria-hidden": "true" });
    this.ticks = el("span.replay-ticks");
    this.line = el("div.replay-line", { role: "slider", tabindex: "0", "aria-label": "Time", "aria-valuemin": "1",
      "aria-valuemax": String(axis.frames.length) },
      axis.segments.map((segment) => part("replay-bar", segment, `segment ${segment.number}`)),
      axis.stills.map((still) => part("replay-still", still, "nothing changed")),
      axis.gaps.map((gap) => part("replay-gap", gap, `no picture: ${gap.reason || "no reason is known"}`)), this.ticks);
    this.lanes = el("ol.replay-lanes", { "aria-label": "Waits that ran meanwhile" });
    this.lanes.hidden = !this.waits.length;
    this.strip = el("div.replay-strip", {}, el("div.replay-top", {}, this.ruler, this.line), this.lanes, this.head);
    this.node = el("div.replay-scroll", {}, this.strip);
    this.listen(seek);
    this.watcher = new ResizeObserver(() => this.rule());
    this.watcher.observe(this.node);
  }

  /** @param {string} kind @param {number} from_ms @param {number} until_ms @param {string} title */
  part(kind, from_ms, until_ms, title) {
    const node = el(`span.${kind}`, { title });
    node.style.left = `${100 * this.axis.share(from_ms)}%`;
    node.style.width = `${100 * (this.axis.share(until_ms) - this.axis.share(from_ms))}%`;
    return node;
  }

  end() {
    this.watcher.disconnect();
  }

  // ---- what it shows -----------------------------------------------------------------------------------------------

  /** Show `marks` on the line; a lane has all verdicts of its wait, `all`.
   * @param {Api.Mark[]} marks @param {Api.Mark[]} all
   */
  show(marks, all) {
    fill(this.ticks, ticks(marks, this.axis));
    fill(this.lanes, this.waits.map((wait) => this.lane(wait, all)));
  }

  /** @param {Api.WaitSpan} wait @param {Api.Mark[]} marks */
  lane(wait, marks) {
    const runs = verdictRuns(marks, wait.wait_id);
    const judged = runs.reduce((sum, run) => sum + run.count, 0);
    const { tone, sign, word } = stateWord(wait.state);
    const until_ms = wait.until_ms || this.axis.end;
    const ends = wait.until_ms && wait.until_ms <= this.axis.end;
    const end = el("span.replay-lane-end", { "data-tone": tone, title: `${clock(until_ms / 1000)} ${word}` }, sign);
    end.style.left = `${100 * this.axis.share(until_ms)}%`;
    const begun = wait.from_ms < this.axis.begin ? "armed before" : `armed ${clock(wait.from_ms / 1000)}`;
    return el("li.replay-lane", {},
      el("span.replay-lane-name", {}, el("a", { href: `#/waits/${encodeURIComponent(wait.wait_id)}` }, wait.condition),
        el("span", {}, [begun, judged && count(judged, "verdict"), ends || !wait.until_ms ? word : `${word} later`].filter(Boolean).join(" · "))),
      el("span.replay-lane-line", { "aria-hidden": "true" }, this.part("replay-span", wait.from_ms, until_ms, begun),
        runs.map((run) => this.run(run)), ends ? end : null));
  }

  /** @param {VerdictRun} run */
  run(run) {
    const node = this.part("replay-run", run.from_ms, run.until_ms, `${clock(run.from_ms / 1000)} ${run.answer}, ${count(run.count, "verdict")}`);
    node.dataset.answer = run.answer;
    return node;
  }

  /** Draw the line of the moment at `utc_ms`, and keep it in sight.
   * @param {number} utc_ms
   */
  point(utc_ms) {
    const share = this.axis.share(utc_ms);
    this.head.style.left = `${100 * share}%`;
    if (this.scale === 1) return;
    const x = share * this.strip.clientWidth - this.node.scrollLeft;
    if (x < 0 || x > this.node.clientWidth) this.centre(share, this.node.clientWidth / 2);
  }

  // ---- zoom --------------------------------------------------------------------------------------------------------

  /** The buttons. `now()` is the moment that stays where it is.
   * @param {() => number} now
   */
  tools(now) {
    /** @param {string} words @param {string} name @param {() => void} act */
    const button = (words, name, act) => el("button.small", { type: "button", "aria-label": name, title: name, onclick: act }, words);
    return el("div.zoom-tools", { role: "group", "aria-label": "Zoom of the time line" },
      button("−", "Less of a zoom (−)", () => this.zoom(-1, now())), button("+", "Zoom in on this moment (+)", () => this.zoom(1, now())),
      button("All", "The whole recording (0)", () => this.whole()));
  }

  /** @param {number} by @param {number} utc_ms */
  zoom(by, utc_ms) {
    const share = this.axis.share(utc_ms);
    const x = share * this.strip.clientWidth - this.node.scrollLeft;
    this.scaled(this.scale * ZOOM_STEP ** by);
    this.centre(share, Math.max(0, Math.min(this.node.clientWidth, x)));
  }

  whole() {
    this.scaled(1);
  }

  /** Return the time that is in sight: [from, until] in UTC ms. */
  get sight() {
    const { begin, end } = this.axis;
    /** @param {number} x */
    const at = (x) => Math.round(begin + ((end - begin) * x) / Math.max(1, this.strip.clientWidth));
    return [at(this.node.scrollLeft), at(this.node.scrollLeft + this.node.clientWidth)];
  }

  /** @param {number} scale */
  scaled(scale) {
    const most = Math.max(1, Math.min(MOST_ZOOM, (this.axis.end - this.axis.begin) / LEAST_SHOWN_MS));
    this.scale = Math.max(1, Math.min(most, scale));
    this.strip.style.width = `${100 * this.scale}%`;
    this.rule();
  }

  /** Scroll so that the share of the strip is `x` px from the left.
   * @param {number} share @param {number} x
   */
  centre(share, x) {
    this.node.scrollLeft = share * this.strip.clientWidth - x;
  }

  rule() {
    const { begin, end } = this.axis;
    const wide = this.strip.clientWidth;
    const least_s = (LABEL_PX * (end - begin)) / 1000 / Math.max(1, wide);
    const fitting = STEPS_S.find((step) => step >= least_s && (end - begin) / 1000 / step <= MOST_LABELS);
    const step_ms = 1000 * (fitting ?? STEPS_S[STEPS_S.length - 1]);
    const labels = [];
    const away_ms = new Date(begin).getTimezoneOffset() * 60_000; // whole hours of the clock on the wall
    for (let at = Math.ceil((begin - away_ms) / step_ms) * step_ms + away_ms; at < end; at += step_ms) {
      const label = el("span", {}, clock(at / 1000, at));
      label.style.left = `${100 * this.axis.share(at)}%`;
      if (this.axis.share(at) * wide < wide - LABEL_PX / 2) labels.push(label);
    }
    fill(this.ruler, labels);
  }

  // ---- the pointer -------------------------------------------------------------------------------------------------

  /** @param {(utc_ms: number) => void} seek */
  listen(seek) {
    const { strip } = this;
    strip.addEventListener("pointerdown", (event) => {
      if (event.button || /** @type {Element} */ (event.target).closest("a")) return;
      strip.setPointerCapture(event.pointerId);
      this.line.focus({ preventScroll: true });
      event.preventDefault();
      seek(this.timeUnder(event));
    });
    strip.addEventListener("pointermove", (event) => {
      if (event.buttons & 1 && strip.hasPointerCapture(event.pointerId)) seek(this.timeUnder(event));
      const box = this.node.getBoundingClientRect();
      if (event.pointerType !== "touch") this.hover(this.timeUnder(event), event.clientX - box.left);
    });
    strip.addEventListener("pointerleave", () => this.hover(null, 0));
    this.node.addEventListener("wheel", (event) => this.turned(event), { passive: false });
  }

  /** @param {WheelEvent} event */
  turned(event) {
    if (!event.ctrlKey || !event.deltaY) return; // a pinch of a touchpad comes so too
    event.preventDefault();
    this.zoom(-Math.sign(event.deltaY) / 2, this.timeUnder(event));
  }

  /** @param {MouseEvent} event */
  timeUnder(event) {
    const box = this.strip.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    return this.axis.begin + share * (this.axis.end - this.axis.begin);
  }
}
