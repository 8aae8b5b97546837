// A recording, frame by frame, with what happened meanwhile on the same time line.

import { el, fill } from "./dom.js";
import { busy } from "./keys.js";
import { Axis, neighbour } from "./replay_axis.js";
import { ClickLayer, MarkList, ticks } from "./replay_marks.js";
import { sheet } from "./sheet.js";
import { clock, dial } from "./words.js";

const LEAP = 10; // frames of Shift and an arrow
const SPEEDS = [0.5, 1, 2, 4, 8];
const SCROLLS = new Set(["Home", "End", "PageUp", "PageDown"]); // of the page, while the focus is not in the recording

/** Show the recording in `element`, from `at_ms` (UTC; 0: its beginning). Returns what ends it. */
export async function mountReplay(element, api, recordingId, at_ms = 0) {
  await sheet("screens.css");
  const path = `/api/recordings/${encodeURIComponent(recordingId)}`;
  const { recording } = await api.get(path);
  const [axis, marks] = await Promise.all([axisOf(api, path, recording), marksOf(api, path)]);
  if (axis.isEmpty) {
    fill(element, el("div.nothing", {}, recording.reason ? `No picture yet: ${recording.reason}` : "No picture yet."));
    return () => {};
  }
  const replay = new Replay(path, recording, axis, marks);
  fill(element, replay.node);
  replay.go(axis.indexAt(at_ms));
  return () => replay.end();
}

async function axisOf(api, path, recording) {
  const rows = await Promise.all(recording.segments.map((segment) => rowsOf(api, `${path}/segments/${segment.number}/frames`)));
  return new Axis(recording.segments.map((segment, at) => ({ ...segment, rows: rows[at] })));
}

async function rowsOf(api, path) {
  const rows = [];
  for (let more = true; more;) {
    const from_ms = rows.length ? rows.at(-1).at_ms + 0.001 : 0;
    const page = await api.get(`${path}?limit=20000&from_ms=${from_ms}`);
    rows.push(...page.frames);
    more = page.more && page.frames.length > 0;
  }
  return rows;
}

async function marksOf(api, path) {
  const marks = [];
  for (let more = true; more;) {
    const page = await api.get(`${path}/timeline?limit=5000&after_ms=${marks.at(-1)?.utc_ms ?? 0}`);
    marks.push(...page.marks);
    more = page.more && page.marks.length > 0;
  }
  return marks;
}

export class Replay {
  constructor(path, recording, axis, marks) {
    this.path = path;
    this.axis = axis;
    this.marks = marks;
    this.index = 0;
    this.segment = null;
    this.clicks = new ClickLayer();
    this.list = new MarkList(marks, (utc_ms) => this.jump(utc_ms));
    this.build(recording);
  }

  // ---- the page ----------------------------------------------------------------------------------------------------

  build(recording) {
    this.video = el("video.replay-video", { preload: "auto", playsinline: true, "aria-label": `Recording of ${recording.display}` });
    this.video.muted = true; // it has no sound; some browsers play nothing else by themselves
    this.trouble = el("p.replay-trouble", { role: "alert", hidden: true });
    this.where = el("output.replay-where", { "aria-live": "off" });
    this.line = this.buildLine();
    this.tools = this.buildTools();
    this.picture = el("div.replay-picture", {}, this.video, this.clicks.node);
    this.node = el("div.replay-page", {},
      el("div.replay-main", {}, this.picture, this.trouble, this.line, this.tools, help()), this.list.node);
    // Wherever the focus is: who has just opened a recording has it nowhere in it.
    this.onKey = (event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey);
    this.video.addEventListener("error", () => this.broken());
    this.video.addEventListener("ended", () => this.nextSegment());
    this.video.addEventListener("pause", () => this.tell());
    this.video.addEventListener("play", () => this.follow());
  }

  buildLine() {
    this.head = el("span.replay-head");
    const bars = this.axis.segments.map((segment) => this.bar("replay-bar", segment, `segment ${segment.number}`));
    const gaps = this.axis.gaps.map((gap) => this.bar("replay-gap", gap, `no picture: ${gap.reason || "no reason is known"}`));
    const line = el("div.replay-line", { role: "slider", tabindex: "0", "aria-label": "Time",
      "aria-valuemin": "1", "aria-valuemax": String(this.axis.frames.length) }, bars, gaps, ticks(this.marks, this.axis), this.head);
    const seek = (event) => this.go(this.axis.indexAt(this.timeUnder(event)));
    line.addEventListener("pointerdown", (event) => { line.setPointerCapture(event.pointerId); this.stop(); seek(event); });
    line.addEventListener("pointermove", (event) => { if (event.buttons & 1) seek(event); });
    return line;
  }

  bar(kind, stretch, title) {
    const node = el(`span.${kind}`, { title });
    node.style.left = `${100 * this.axis.share(stretch.begin)}%`;
    node.style.width = `${100 * (this.axis.share(stretch.end) - this.axis.share(stretch.begin))}%`;
    return node;
  }

  timeUnder(event) {
    const box = this.line.getBoundingClientRect();
    return this.axis.begin + ((event.clientX - box.left) / box.width) * (this.axis.end - this.axis.begin);
  }

  buildTools() {
    const button = (words, name, act) => el("button", { type: "button", "aria-label": name, title: name, onclick: act }, words);
    this.playButton = button("▶", "Play (Space)", () => this.toggle());
    this.speed = el("select", { "aria-label": "Speed", onchange: () => this.paced() },
      SPEEDS.map((speed) => el("option", { value: speed, selected: speed === 1 }, `${speed} ×`)));
    return el("div.replay-tools", {}, this.playButton,
      button("‹", "Previous frame (←)", () => this.step(-1)), button("›", "Next frame (→)", () => this.step(1)),
      button("⇤", "Previous mark ([)", () => this.mark(false)), button("⇥", "Next mark (])", () => this.mark(true)),
      this.speed, this.where);
  }

  // ---- going there -------------------------------------------------------------------------------------------------

  /** Show frame number `index` (0: the first). */
  go(index) {
    this.index = Math.max(0, Math.min(this.axis.frames.length - 1, index));
    this.seek();
    this.tell();
  }

  step(by) {
    this.stop();
    this.go(this.index + by);
  }

  mark(forward) {
    const to = neighbour(this.marks, this.newest ?? this.frame.utc_ms, forward);
    if (to) this.jump(to.utc_ms);
  }

  /** Show what was on the screen at a mark; several may lie on one frame. */
  jump(utc_ms) {
    this.stop();
    this.go(this.axis.indexAt(utc_ms));
    this.newest = utc_ms;
    this.tell();
  }

  get frame() {
    return this.axis.frames[this.index];
  }

  seek() {
    this.newest = null;
    const { segment, seek_s } = this.frame;
    if (this.segment !== segment) this.load(segment);
    this.video.currentTime = seek_s;
  }

  load(segment) {
    this.segment = segment;
    this.picture.style.aspectRatio = `${segment.width} / ${segment.height}`;
    this.video.src = `${this.path}/segments/${segment.number}/video`;
    this.paced();
  }

  // ---- playing -----------------------------------------------------------------------------------------------------

  toggle() {
    if (!this.video.paused) return this.stop();
    if (this.index === this.axis.frames.length - 1) this.go(0);
    this.isPlaying = true;
    this.video.play().catch((fault) => this.say(`it does not play: ${fault.message}`));
  }

  stop() {
    this.isPlaying = false;
    this.video.pause();
  }

  paced() {
    this.video.playbackRate = this.video.defaultPlaybackRate = Number(this.speed.value);
  }

  /** While it plays, the line follows what is shown. */
  follow() {
    this.tell();
    const next = () => {
      if (this.video.paused) return;
      this.index = this.axis.indexIn(this.segment, this.video.currentTime * 1000);
      this.tell();
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }

  nextSegment() {
    const next = this.axis.segments[this.axis.segments.indexOf(this.segment) + 1];
    if (!next || !this.isPlaying) return this.stop();
    this.go(this.axis.frames.findIndex((frame) => frame.segment === next));
    this.video.play().catch((fault) => this.say(`it does not play: ${fault.message}`));
  }

  broken() {
    const fault = this.video.error;
    this.say(`Segment ${this.segment.number} can't be shown${fault?.message ? `: ${fault.message}` : "."}`);
  }

  say(words) {
    fill(this.trouble, words);
    this.trouble.hidden = !words;
  }

  end() {
    document.removeEventListener("keydown", this.onKey);
    this.stop();
    this.video.removeAttribute("src");
    this.video.load();
  }

  // ---- telling -----------------------------------------------------------------------------------------------------

  tell() {
    const { utc_ms, frame, segment } = this.frame;
    const now = this.newest ?? utc_ms;
    const next = this.axis.frames[this.index + 1]?.utc_ms ?? this.axis.end;
    const words = `${clock(utc_ms / 1000)} · frame ${this.index + 1} of ${this.axis.frames.length} · ${dial((utc_ms - this.axis.begin) / 1000)}`;
    fill(this.where, words);
    this.where.title = `frame ${frame} of the display, segment ${segment.number}`;
    this.head.style.left = `${100 * this.axis.share(now)}%`;
    this.line.setAttribute("aria-valuenow", String(this.index + 1));
    this.line.setAttribute("aria-valuetext", words);
    fill(this.playButton, this.video.paused ? "▶" : "❚❚");
    this.playButton.setAttribute("aria-label", this.video.paused ? "Play (Space)" : "Pause (Space)");
    this.list.at(now);
    // A click falls between two frames: it is drawn on the last one that was shown before its effect.
    this.clicks.show(this.marks, utc_ms, segment.width, segment.height, Math.max(now, next - 1));
  }

  pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || busy(event.target)) return;
    const act = this.keys()[event.key];
    if (!act || (event.key === " " && event.target.matches("a, button, summary"))) return;
    if (SCROLLS.has(event.key) && !this.node.contains(event.target)) return;
    event.preventDefault();
    event.stopPropagation();
    act(event.shiftKey ? LEAP : 1);
  }

  keys() {
    return {
      ArrowLeft: (by) => this.step(-by), ArrowRight: (by) => this.step(by),
      ",": () => this.step(-1), ".": () => this.step(1),
      "[": () => this.mark(false), "]": () => this.mark(true), PageUp: () => this.mark(false), PageDown: () => this.mark(true),
      Home: () => this.step(-Infinity), End: () => this.step(Infinity), " ": () => this.toggle(),
    };
  }
}

function help() {
  const key = (name) => el("kbd", {}, name);
  return el("p.replay-help", {}, key("←"), " ", key("→"), " frame, with ", key("Shift"), ` ${LEAP} · `, key("["), " ", key("]"),
    " mark · ", key("Home"), " ", key("End"), " · ", key("Space"), " play");
}
