// What happened meanwhile: ticks on the time line, a list beside the picture, clicks drawn on it.

import { el, fill, svg } from "./dom.js";
import { clock } from "./words.js";

const SIGNS = { verdict: "◆", action: "▲", message: "●", wait: "■", task: "★" };
const NEAR_MS = 700; // how long after an action its click is drawn

/** Return the tone of a mark: that of its answer, or of its kind. */
function tone(mark) {
  return mark.answer ? { yes: "good", no: "quiet", unknown: "warn" }[mark.answer] ?? "quiet" : mark.kind;
}

/** Return the ticks of `marks` for the line of `axis`. */
export function ticks(marks, axis) {
  return marks.map((mark) => {
    const tick = el("span.replay-tick", { "data-tone": tone(mark), title: `${clock(mark.utc_ms / 1000)} ${mark.title}` });
    tick.style.left = `${100 * axis.share(mark.utc_ms)}%`;
    return tick;
  });
}

/** The list of marks; a click on one goes there. */
export class MarkList {
  constructor(marks, go) {
    this.marks = marks;
    this.rows = marks.map((mark) => this.row(mark, go));
    this.node = el("ol.replay-marks", { "aria-label": "What happened, in order of time" }, this.rows);
    if (!marks.length) this.node = el("p.nothing", {}, "Nothing but the picture: no verdict, action or message in this time.");
  }

  row(mark, go) {
    return el("li", { "data-tone": tone(mark) }, el("button.replay-mark", { type: "button", onclick: () => go(mark.utc_ms) },
      el("span.replay-sign", { "aria-hidden": "true" }, SIGNS[mark.kind] ?? "·"),
      el("time", {}, clock(mark.utc_ms / 1000)), el("strong", {}, words(mark)), el("span.replay-text", {}, mark.text ?? "")));
  }

  /** Show which mark is the newest at `utc_ms`. */
  at(utc_ms) {
    const current = this.marks.findLastIndex((mark) => mark.utc_ms <= utc_ms + 0.5);
    if (current === this.current) return;
    this.rows[this.current]?.removeAttribute("aria-current");
    this.current = current;
    const row = this.rows[current];
    if (!row) return;
    row.setAttribute("aria-current", "true");
    this.node.scrollTop = row.offsetTop - this.node.offsetTop - this.node.clientHeight / 3;
  }
}

function words(mark) {
  return mark.answer ? `${mark.title} → ${mark.answer}` : mark.title;
}

/** Clicks of `marks` at `utc_ms` drawn over a picture of width x height; the points are display pixels. */
export class ClickLayer {
  constructor() {
    this.node = svg("svg.replay-clicks", { "aria-hidden": "true" });
  }

  show(marks, utc_ms, width, height, until_ms = utc_ms) {
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const near = marks.filter((mark) => mark.utc_ms <= until_ms && mark.utc_ms > utc_ms - NEAR_MS);
    const radius = Math.max(8, width / 90);
    fill(this.node, near.flatMap((mark) => (mark.points ?? []).flatMap(([x, y], at) => [
      svg("circle.halo", { cx: x + 0.5, cy: y + 0.5, r: radius }),
      svg("circle.dot", { cx: x + 0.5, cy: y + 0.5, r: radius / 5 }),
      mark.points.length > 1 ? svg("text", { x: x + radius * 1.2, y: y + radius / 2, "font-size": radius * 1.4 }, String(at + 1)) : null,
    ])));
  }
}
