// A recording, frame by frame, with what happened meanwhile on the same time line.

import { query } from "../parts/api.js";
import { notice } from "../parts/dialog.js";
import { el, fill, settled } from "../parts/dom.js";
import { busy } from "../parts/keys.js";
import { Axis, neighbour, STILL_MS } from "./replay_axis.js";
import { ClickLayer, filtered, KINDS, MarkList, words } from "./replay_marks.js";
import { Preview } from "./replay_preview.js";
import { Track } from "./replay_track.js";
import { sheet } from "../parts/sheet.js";
import { clock, dial } from "../parts/words.js";

const LEAP = 10; // frames of Shift and an arrow
const SPEEDS = [0.5, 1, 2, 4, 8];
const LINK_MS = 400; // browsers refuse a page that changes its address all the time
const SCROLLS = new Set(["Home", "End", "PageUp", "PageDown"]); // of the page, while the focus is not in the recording

/** Show the recording in `element`, from `at_ms` (UTC; 0: its beginning), without marks of the kinds in `hidden`. Returns what ends it.
 * @param {HTMLElement} element @param {Gateway} api @param {string} recordingId @param {string[]} [hidden]
 */
export async function mountReplay(element, api, recordingId, at_ms = 0, hidden = []) {
  await sheet("screens.css");
  /** @type {`/api/recordings/${string}`} */
  const path = `/api/recordings/${encodeURIComponent(recordingId)}`;
  const { recording } = await api.get(path);
  const [axis, { marks, waits }] = await Promise.all([axisOf(api, path, recording), timelineOf(api, path)]);
  if (axis.isEmpty) {
    fill(element, el("div.nothing", {}, recording.reason ? `No picture yet: ${recording.reason}` : "No picture yet."));
    return () => {};
  }
  const replay = new Replay(path, recording, axis, marks, waits, hidden);
  fill(element, replay.node);
  replay.track.scaled(1);
  if (at_ms) replay.jump(at_ms);
  else replay.go(0);
  replay.focus();
  return () => replay.end();
}

/** @param {Gateway} api @param {`/api/recordings/${string}`} path @param {Api.RecordingInfo} recording */
async function axisOf(api, path, recording) {
  const rows = await Promise.all(recording.segments.map((segment) => rowsOf(api, `${path}/segments/${segment.number}/frames`)));
  return new Axis(recording.segments.map((segment, at) => ({ ...segment, rows: rows[at] })));
}

/** @param {Gateway} api @param {`/api/recordings/${string}/segments/${number}/frames`} path */
async function rowsOf(api, path) {
  /** @type {Api.FrameAt[]} */
  const rows = [];
  for (let more = true; more;) {
    const last = rows.at(-1);
    const from_ms = last ? last.at_ms + 0.001 : 0;
    const page = await api.get(`${path}?limit=20000&from_ms=${from_ms}`);
    rows.push(...page.frames);
    more = page.more && page.frames.length > 0;
  }
  return rows;
}

/** @param {Gateway} api @param {`/api/recordings/${string}`} path */
async function timelineOf(api, path) {
  /** @type {{ marks: Api.Mark[]; waits: Api.WaitSpan[] }} */
  const found = { marks: [], waits: [] };
  for (let more = true; more;) {
    const page = await api.get(`${path}/timeline?limit=5000&after_ms=${found.marks.at(-1)?.utc_ms ?? 0}`);
    found.marks.push(...page.marks);
    found.waits.push(...page.waits);
    more = page.more && page.marks.length > 0;
  }
  return found;
}

export class Replay {
  /** @param {string} path @param {Api.RecordingInfo} recording @param {Axis} axis @param {Api.Mark[]} marks
   * @param {Api.WaitSpan[]} waits @param {string[]} hidden
   */
  constructor(path, recording, axis, marks, waits, hidden) {
    this.path = path;
    this.hash = `#/recordings/${encodeURIComponent(recording.recording_id)}`;
    this.axis = axis;
    this.all = this.marks = marks;
    this.kinds = new Set(KINDS.map(([kind]) => kind).filter((kind) => !hidden.includes(kind)));
    this.index = 0;
    /** @type {AxisSegment} */
    this.segment = axis.segments[0];
    this.isLoaded = false;
    /** The time of a mark that was gone to, null at a frame. @type {number | null} */
    this.newest = null;
    this.isPlaying = false;
    this.link = settled(() => this.linked(), LINK_MS);
    this.clicks = new ClickLayer();
    this.list = new MarkList(marks, (utc_ms) => this.jump(utc_ms));
    this.preview = new Preview(axis, (segment) => this.urlOf(segment));
    this.track = new Track(axis, waits, {
      seek: (utc_ms) => { this.stop(); this.go(this.axis.indexAt(utc_ms)); },
      hover: (utc_ms, x) => this.preview.show(utc_ms, x, utc_ms === null ? "" : this.near(utc_ms)),
    });
    this.line = this.track.line;
    this.video = el("video.replay-video", { preload: "auto", playsinline: true, "aria-label": `Recording of ${recording.display}` });
    this.video.muted = true; // it has no sound; some browsers play nothing else by themselves
    this.trouble = el("p.replay-trouble", { role: "alert", hidden: true });
    this.where = el("output.replay-where", { "aria-live": "off" });
    this.search = el("input", { type: "search", placeholder: "Find in what happened", "aria-label": "Find in what happened",
      oninput: () => this.filter() });
    this.speed = el("select", { "aria-label": "Speed", onchange: () => this.paced() },
      SPEEDS.map((speed) => el("option", { value: speed, selected: speed === 1 }, `${speed} ×`)));
    this.skip = el("input", { type: "checkbox" });
    this.playButton = el("button", { type: "button", "aria-label": "Play (Space)", title: "Play (Space)", onclick: () => this.toggle() }, "▶");
    this.tools = this.buildTools();
    this.picture = el("div.replay-picture", {}, this.video, this.clicks.node);
    this.node = el("div.replay-page", {},
      el("div.replay-main", {}, this.picture, this.trouble, this.tools, el("div.replay-time", {}, this.track.node, this.preview.node), help()),
      el("div.replay-side", {}, this.buildFilter(), this.list.none, this.list.node));
    // Wherever the focus is: who has just opened a recording has it nowhere in it.
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey);
    this.node.addEventListener("moment", (event) => this.jump(/** @type {CustomEvent<number>} */ (event).detail)); // from a condition that is tried on it
    this.video.addEventListener("error", () => this.broken());
    this.video.addEventListener("ended", () => this.nextSegment());
    this.video.addEventListener("pause", () => this.tell());
    this.video.addEventListener("play", () => this.follow());
    this.filter();
  }

  // ---- the page ----------------------------------------------------------------------------------------------------

  buildFilter() {
    const there = KINDS.filter(([kind]) => this.all.some((mark) => mark.kind === kind));
    /** @param {string[]} given */
    const chip = ([kind, name]) => el("button.chip", { type: "button", "aria-pressed": String(this.kinds.has(kind)),
      onclick: (event) => this.toggleKind(kind, /** @type {HTMLElement} */ (event.currentTarget)) }, name);
    const node = el("div.replay-filter", { role: "group", "aria-label": "Which marks are shown" }, there.map(chip), this.search);
    node.hidden = !this.all.length;
    return node;
  }

  /** @param {string} kind @param {HTMLElement} chip */
  toggleKind(kind, chip) {
    if (!this.kinds.delete(kind)) this.kinds.add(kind);
    chip.setAttribute("aria-pressed", String(this.kinds.has(kind)));
    this.filter();
    this.link();
  }

  /** Show what the filter leaves, in the list, on the line, and to the keys from mark to mark. */
  filter() {
    this.marks = filtered(this.all, this.kinds, this.search.value);
    this.list.show(this.marks);
    this.track.show(this.marks, this.all);
  }

  /** Return what happened last at `utc_ms`, within a few pixels of it.
   * @param {number} utc_ms
   */
  near(utc_ms) {
    const reach_ms = (6 * (this.axis.end - this.axis.begin)) / Math.max(1, this.track.strip.clientWidth);
    const mark = this.marks.findLast((one) => Math.abs(one.utc_ms - utc_ms) <= reach_ms);
    return mark ? words(mark) : "";
  }

  buildTools() {
    /** @param {string} words @param {string} name @param {() => void} act */
    const button = (words, name, act) => el("button", { type: "button", "aria-label": name, title: name, onclick: act }, words);
    return el("div.replay-tools", {}, this.playButton,
      button("‹", "Previous frame (←)", () => this.step(-1)), button("›", "Next frame (→)", () => this.step(1)),
      button("⇤", "Previous mark ([)", () => this.mark(false)), button("⇥", "Next mark (])", () => this.mark(true)),
      this.speed, el("label.replay-skip", {}, this.skip, "Skip stillness"), this.track.tools(() => this.newest ?? this.frame.utc_ms),
      button("Link", "Copy a link to this moment", () => this.share()),
      button("MP4", "Download what the time line shows as an MP4", () => this.download()), this.where);
  }

  // The whole recording, or the part of it that the time line is zoomed in on.
  download() {
    const [from_ms, until_ms] = this.track.scale > 1 ? this.track.sight : ["", ""];
    el("a", { href: query(`${this.path}/download`, { from_ms, until_ms }), download: "" }).click();
  }

  // ---- going there -------------------------------------------------------------------------------------------------

  /** Show frame number `index` (0: the first).
   * @param {number} index
   */
  go(index) {
    this.index = Math.max(0, Math.min(this.axis.frames.length - 1, index));
    this.seek();
    this.tell();
    this.link();
  }

  /** Take the keys that elsewhere scroll the page, unless somebody is at something else already. */
  focus() {
    if (document.activeElement === document.body || document.activeElement?.id === "main") this.line.focus({ preventScroll: true });
  }

  /** @param {number} by */
  step(by) {
    this.stop();
    this.go(this.index + by);
  }

  /** @param {boolean} forward */
  mark(forward) {
    const to = neighbour(this.marks, this.newest ?? this.frame.utc_ms, forward);
    if (to) this.jump(to.utc_ms);
  }

  /** Show what was on the screen at a mark; several may lie on one frame.
   * @param {number} utc_ms
   */
  jump(utc_ms) {
    this.stop();
    this.go(this.axis.indexAt(utc_ms));
    this.newest = utc_ms;
    this.tell();
  }

  // ---- the moment in the address -----------------------------------------------------------------------------------

  get address() {
    const hidden = KINDS.map(([kind]) => kind).filter((kind) => !this.kinds.has(kind));
    return `${this.hash}?at=${Math.round(this.newest ?? this.frame.utc_ms)}${hidden.length ? `&hide=${hidden.join(",")}` : ""}`;
  }

  linked() {
    if (location.hash.split("?")[0] === this.hash) history.replaceState(history.state, "", this.address);
  }

  async share() {
    const url = new URL(this.address, location.href).href;
    history.replaceState(history.state, "", this.address);
    try {
      await navigator.clipboard.writeText(url);
      notice("The link to this moment is on your clipboard.");
    } catch { // no right to it, or a page without TLS
      notice("The browser does not let this page use the clipboard: the link is in the address bar.", "bad");
    }
  }

  get frame() {
    return this.axis.frames[this.index];
  }

  seek() {
    this.newest = null;
    const { segment, seek_s } = this.frame;
    if (!this.isLoaded || this.segment !== segment) this.load(segment);
    this.video.currentTime = seek_s;
  }

  /** @param {AxisSegment} segment */
  load(segment) {
    this.segment = segment;
    this.isLoaded = true;
    this.picture.style.aspectRatio = `${segment.width} / ${segment.height}`;
    this.video.src = this.urlOf(segment);
    this.paced();
  }

  /** @param {Api.Segment} segment */
  urlOf(segment) {
    return `${this.path}/segments/${segment.number}/video`;
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
      if (this.skip.checked && !this.video.seeking) this.skipStill();
      this.index = this.axis.indexIn(this.segment, this.video.currentTime * 1000);
      this.tell();
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }

  /** Of a frame that shows long only the beginning is played. */
  skipStill() {
    const played_ms = this.video.currentTime * 1000 - this.frame.at_ms;
    if (this.axis.shown_ms(this.index) <= STILL_MS || played_ms < STILL_MS * this.video.playbackRate || this.video.ended) return;
    const next = this.axis.frames[this.index + 1];
    if (next?.segment === this.segment) this.go(this.index + 1);
    else this.nextSegment();
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

  /** @param {string} words */
  say(words) {
    fill(this.trouble, words);
    this.trouble.hidden = !words;
  }

  end() {
    document.removeEventListener("keydown", this.onKey);
    this.link.cancel();
    this.preview.end();
    this.track.end();
    this.stop();
    this.video.removeAttribute("src");
    this.video.load();
  }

  // ---- telling -----------------------------------------------------------------------------------------------------

  tell() {
    const { utc_ms, frame, segment } = this.frame;
    const now = this.newest ?? utc_ms;
    const next = this.axis.frames[this.index + 1]?.utc_ms ?? this.axis.end;
    const said = `${clock(utc_ms / 1000)} · frame ${this.index + 1} of ${this.axis.frames.length} · ${dial((utc_ms - this.axis.begin) / 1000)}`;
    fill(this.where, said);
    this.where.title = `frame ${frame} of the display, segment ${segment.number}`;
    this.track.point(now);
    this.line.setAttribute("aria-valuenow", String(this.index + 1));
    this.line.setAttribute("aria-valuetext", said);
    fill(this.playButton, this.video.paused ? "▶" : "❚❚");
    this.playButton.setAttribute("aria-label", this.video.paused ? "Play (Space)" : "Pause (Space)");
    this.list.at(now);
    // A click falls between two frames: it is drawn on the last one that was shown before its effect.
    this.clicks.show(this.all, utc_ms, segment.width, segment.height, Math.max(now, next - 1));
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || busy(event.target)) return;
    const act = this.keys()[event.key];
    const target = /** @type {Element} */ (event.target);
    if (!act || (event.key === " " && target.matches("a, button, summary"))) return;
    if (SCROLLS.has(event.key) && !this.node.contains(target)) return;
    event.preventDefault();
    event.stopPropagation();
    act(event.shiftKey ? LEAP : 1);
  }

  /** @returns {Record<string, (by: number) => void>} */
  keys() {
    return {
      ArrowLeft: (by) => this.step(-by), ArrowRight: (by) => this.step(by),
      ",": () => this.step(-1), ".": () => this.step(1),
      "[": () => this.mark(false), "]": () => this.mark(true), PageUp: () => this.mark(false), PageDown: () => this.mark(true),
      Home: () => this.step(-Infinity), End: () => this.step(Infinity), " ": () => this.toggle(),
      "+": () => this.track.zoom(1, this.newest ?? this.frame.utc_ms), "-": () => this.track.zoom(-1, this.newest ?? this.frame.utc_ms),
      0: () => this.track.whole(),
    };
  }
}

function help() {
  /** @param {string} name */
  const key = (name) => el("kbd", {}, name);
  return el("p.replay-help", {}, key("←"), " ", key("→"), " frame, with ", key("Shift"), ` ${LEAP} · `, key("["), " ", key("]"),
    " mark · ", key("Home"), " ", key("End"), " · ", key("Space"), " play · ", key("+"), " ", key("−"), " ", key("0"), " zoom");
}
