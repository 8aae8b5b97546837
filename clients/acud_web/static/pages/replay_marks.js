// What happened meanwhile: ticks on the time line, a list beside the picture, clicks drawn on it.

import { el, fill, svg } from "../parts/dom.js";
import { clock, forPeople, stateWord } from "../parts/words.js";

/** What marks can be of, in the words of a filter. */
export const KINDS = [["verdict", "Verdicts"], ["wait", "Waits"], ["action", "Actions"], ["message", "Messages"], ["task", "Tasks"]];
/** @type {Record<string, string>} */
const SIGNS = { verdict: "◆", action: "▲", message: "●", wait: "■", task: "★" };
const NEAR_MS = 700; // how long after an action its click is drawn

/** Return the tone of a mark: that of its answer, or of its kind.
 * @param {Api.Mark} mark
 */
function tone(mark) {
  return mark.answer ? { yes: "good", no: "quiet", unknown: "warn" }[mark.answer] ?? "quiet" : mark.kind;
}

/** Return the ticks of `marks` for the line of `axis`.
 * @param {Api.Mark[]} marks @param {Axis} axis
 */
export function ticks(marks, axis) {
  return marks.map((mark) => {
    const tick = el("span.replay-tick", { "data-tone": tone(mark), title: `${clock(mark.utc_ms / 1000)} ${words(mark)}` });
    tick.style.left = `${100 * axis.share(mark.utc_ms)}%`;
    return tick;
  });
}

/** The list of marks; a click on one goes there. */
export class MarkList {
  /** @param {Api.Mark[]} marks @param {(index: number) => void} go */
  constructor(marks, go) {
    this.marks = marks;
    this.rows = marks.map((mark) => this.row(mark, go));
    this.node = el("ol.replay-marks", { "aria-label": "What happened, in order of time" }, this.rows);
    this.none = el("p.nothing", {}, marks.length ? "Nothing of these kinds." : "Nothing but the picture: no verdict, action or message in this time.");
    this.none.hidden = marks.length > 0;
    this.current = -1;
  }

  /** List those of `shown` alone.
   * @param {Api.Mark[]} shown
   */
  show(shown) {
    const wanted = new Set(shown);
    for (const [at, mark] of this.marks.entries()) this.rows[at].hidden = !wanted.has(mark);
    this.none.hidden = shown.length > 0;
    this.node.hidden = !shown.length;
  }

  /** @param {Api.Mark} mark @param {(index: number) => void} go */
  row(mark, go) {
    return el("li", { "data-tone": tone(mark) }, el("button.replay-mark", { type: "button", onclick: () => go(mark.utc_ms) },
      el("span.replay-sign", { "aria-hidden": "true" }, SIGNS[mark.kind] ?? "·"),
      el("time", {}, clock(mark.utc_ms / 1000)), el("strong", {}, words(mark)), el("span.replay-text", {}, forPeople(mark.text))));
  }

  /** Show which mark is the newest at `utc_ms`.
   * @param {number} utc_ms
   */
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

/** @type {Record<string, string>} */
const DID = { cli: "Command", gui: "Action", wait: "Wait", vision: "Look", reasoning: "Thought", other: "Action" };
/** @type {Record<string, string>} */
const WHO = { agent: "Agent", user: "Person", system: "acud" };

/** Return what a mark is of, as a person says it.
 * @param {Api.Mark} mark
 */
export function words(mark) {
  const [what, how] = mark.title.split(", ");
  if (mark.answer && mark.kind === "verdict") return `${mark.title} → ${mark.answer}`;
  if (mark.kind === "wait") return mark.title === "watching" ? "Wait armed" : `Wait ${stateWord(mark.title).word}`;
  if (mark.kind === "message") return WHO[what] ?? what;
  if (mark.kind === "action") return how === "completed" ? DID[what] ?? what : `${DID[what] ?? what}, ${stateWord(how).word}`;
  return mark.kind === "task" ? `Task ${stateWord(mark.title).word}` : mark.title;
}

/** Return those of `marks` that are of one of `kinds` and hold `text`, whatever its case.
 * @param {Api.Mark[]} marks @param {Set<string>} kinds @param {string} text
 */
export function filtered(marks, kinds, text) {
  const wanted = text.trim().toLowerCase();
  return marks.filter((mark) => kinds.has(mark.kind) && `${words(mark)} ${mark.text ?? ""}`.toLowerCase().includes(wanted));
}

/** Return the verdicts of a wait, those of the same answer that follow each other as one: {answer, from_ms, until_ms, count}.
 * @param {Api.Mark[]} marks @param {string} waitId @returns {VerdictRun[]}
 */
export function verdictRuns(marks, waitId) {
  /** @type {VerdictRun[]} */
  const runs = [];
  for (const mark of marks) {
    if (mark.id !== waitId || !mark.answer) continue;
    const last = runs.at(-1);
    if (last) last.until_ms = mark.utc_ms; // an answer holds until the next one
    // What no judge was asked for (a change, a window) is told with the end alone; what was judged is told twice then.
    if (last?.answer === mark.answer) last.count += mark.kind === "verdict" ? 1 : 0;
    else runs.push({ answer: mark.answer, from_ms: mark.utc_ms, until_ms: mark.utc_ms, count: 1 });
  }
  return runs;
}

/** Clicks of `marks` at `utc_ms` drawn over a picture of width x height; the points are display pixels. */
export class ClickLayer {
  constructor() {
    this.node = svg("svg.replay-clicks", { "aria-hidden": "true" });
  }

  /** @param {Api.Mark[]} marks @param {number} utc_ms @param {number} width @param {number} height
   * @param {number} [until_ms]
   */
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
