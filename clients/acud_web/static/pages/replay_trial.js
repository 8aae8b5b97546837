// A condition tried on a recording: what the judge would have said when, on the recording's time line and in a list.

import { api } from "../parts/api.js";
import { ConditionForm, offeredKinds } from "../parts/condition_form.js";
import { el, fill } from "../parts/dom.js";
import { sentence } from "../parts/panel.js";
import { ANSWER_TONES, badge, card } from "../parts/widgets.js";
import { RegionLayer } from "../parts/region_layer.js";
import { sheet } from "../parts/sheet.js";
import { clock, count, dial, money } from "../parts/words.js";

const MOST_ROWS = 500;

/** Show the form below the replay `player` of `recording`. Returns what ends it; undefined where nothing was recorded yet.
 * @param {HTMLElement} place @param {Page} page @param {Api.RecordingInfo} recording
 * @param {HTMLElement} player
 */
export async function mountTrial(place, page, recording, player) {
  if (!player.querySelector(".replay-line")) return undefined;
  const kinds = (await Promise.all([offeredKinds(), sheet("making.css")]))[0];
  const trial = new Trial(page, recording, player, kinds);
  fill(place, trial.node);
  return () => trial.stop();
}

class Trial {
  /** @param {Page} page @param {Api.RecordingInfo} recording @param {HTMLElement} player @param {Api.OfferedKind[]} kinds */
  constructor(page, recording, player, kinds) {
    this.recording = recording;
    this.segments = recording.segments.filter((segment) => segment.frames);
    this.player = player;
    this.begin_ms = this.segments[0].start_utc_ms;
    this.layer = new RegionLayer(() => this.size, () => { this.where.value = this.layer.box ? "region" : ""; this.aimed(); });
    this.conditions = new ConditionForm(kinds, { may: page.may, recorded: true, cut: () => this.cut() });
    const choice = [["", "the whole picture"], ["draw", "a region: draw it on the picture"], ["region", "the region"]];
    this.where = el("select", { name: "target", onchange: () => this.aimed() }, choice.map(([value, words]) => el("option", { value, hidden: value === "region" }, words)));
    this.judge = el("select", { name: "judge" }, [["auto", "as set"], ["ocr", "the text on the screen only"]].map(([value, words]) => el("option", { value }, words)));
    this.button = el("button.primary", { type: "submit" }, "Try it on the recording");
    this.said = el("div.tried", { role: "status", "aria-label": "Tried on the recording" });
    this.list = el("ol.trial-rows", { "aria-label": "What the judge would have said" });
    this.form = el("form.trial", { onsubmit: (event) => { event.preventDefault(); this.pressed(); } },
      el("div.fields", {}, el("label.field", {}, "Looks at", this.where), el("label.field", {}, "Sentences are judged by", this.judge), this.layer.fields),
      this.conditions.node, el("div.tools", {}, this.button), this.said, this.list);
    this.node = card("Try a condition", el("div.body", {}, this.form));
    /** @type {number[]} */
    this.rows = [];
    /** @type {AbortController | null} */
    this.aborter = null;
    this.aimed();
  }

  get video() {
    return /** @type {HTMLVideoElement} */ (this.player.querySelector("video"));
  }

  get size() {
    return [this.video.videoWidth || this.segments[0].width, this.video.videoHeight || this.segments[0].height];
  }

  /** The layer lies over the picture only while a region is meant: the picture has clicks of its own. */
  aimed() {
    this.layer.fields.hidden = !this.where.value;
    if (this.where.value) this.player.querySelector(".replay-picture")?.append(this.layer.node);
    else this.layer.node.remove();
    this.layer.set(this.where.value ? this.layer.box : null);
  }

  cut() {
    if (!this.layer.box) return "";
    const [x, y, width, height] = this.layer.box;
    const part = el("canvas", { width, height });
    part.getContext("2d")?.drawImage(this.video, x, y, width, height, 0, 0, width, height);
    return part.toDataURL("image/png").split(",")[1];
  }

  // ---- trying ---------------------------------------------------------------------------------------------------------

  stop() {
    this.aborter?.abort();
    this.clear();
    this.layer.node.remove();
  }

  clear() {
    for (const tick of this.player.querySelectorAll(".trial-tick")) tick.remove();
    fill(this.list);
    this.rows = [];
  }

  async pressed() {
    if (this.aborter) return this.aborter.abort();
    const until = this.conditions.until();
    if (!until) return undefined;
    const target = this.layer.box ? `region:${this.layer.box.join(",")}` : "screen";
    this.clear();
    const aborter = new AbortController();
    this.aborter = aborter;
    fill(this.button, "Stop");
    fill(this.said, el("p.muted", {}, "Replaying…"));
    try {
      const path = `/api/recordings/${encodeURIComponent(this.recording.recording_id)}/replay`;
      await api.stream(path, { until, target, judges: [this.judge.value] }, (line) => this.heard(line), aborter.signal);
    } catch (/** @type {any} */ fault) {
      if (aborter.signal.aborted) fill(this.said, el("p.muted", {}, "Stopped."));
      else if (fault.status === undefined) throw fault;
      else this.failed(fault.error, fault.hint);
    } finally {
      this.aborter = null;
      fill(this.button, "Try it on the recording");
    }
    return undefined;
  }

  /** @param {any} line */
  heard(line) {
    if (line.type === "row") this.row(line);
    if (line.type === "run") fill(this.said, ending(line, this.begin_ms));
    if (line.type === "fault") this.failed(line.message, line.hint);
  }

  /** @param {string} message @param {string} hint */
  failed(message, hint) {
    this.said.append(el("p.bad-text", {}, sentence(message), hint ? ` ${sentence(hint)}` : ""));
  }

  /** One verdict: a mark on the time line, and a row that goes there.
   * @param {{ utc_ms: number; verdict: Api.Verdict }} given
   */
  row({ utc_ms, verdict }) {
    const words = `${clock(utc_ms / 1000)} · ${verdict.answer}: ${verdict.detail}`;
    const tick = el("span.trial-tick", { "data-tone": ANSWER_TONES[verdict.answer], title: words });
    tick.style.left = `${100 * this.share(utc_ms)}%`;
    this.player.querySelector(".replay-line")?.append(tick);
    this.rows.push(utc_ms);
    fill(this.said, el("p.muted", {}, `Replaying… ${count(this.rows.length, "verdict")}`));
    if (this.rows.length > MOST_ROWS) return;
    const go = () => this.player.querySelector(".replay-page")?.dispatchEvent(new CustomEvent("moment", { detail: utc_ms }));
    this.list.append(el("li", {}, el("button.plain", { type: "button", onclick: go },
      el("time", {}, dial((utc_ms - this.begin_ms) / 1000)), badge(verdict.answer), el("span.breaks", {}, verdict.detail))));
  }

  /** @param {number} utc_ms */
  share(utc_ms) {
    const last = this.segments[this.segments.length - 1];
    const end_ms = last.start_utc_ms + last.seconds * 1000;
    return Math.max(0, Math.min(1, (utc_ms - this.begin_ms) / Math.max(1, end_ms - this.begin_ms)));
  }
}

/** @type {Record<string, string>} */
const ENDS = { watching: "It would not have resolved by the end.", timeout: "It would have timed out.", failed: "It would have failed." };

/** @param {any} run @param {number} begin_ms */
function ending(run, begin_ms) {
  const words = run.state === "resolved" ? `It would have resolved at ${dial((run.utc_ms - begin_ms) / 1000)} (${clock(run.utc_ms / 1000)}).` : ENDS[run.state];
  const cost = run.judge_calls ? ` for ${money(run.cost_usd)}` : "";
  return el("div.verdict", {}, badge(run.state === "resolved" ? "yes" : run.verdict.answer),
    el("div", {}, el("p", {}, el("strong", {}, words), " ", sentence(run.verdict.detail)),
      el("p", { class: "muted small" }, `${run.touching} of ${count(run.frames, "frame")} touched what it looks at; ${count(run.judged, "verdict")}, ${count(run.judge_calls, "judge call")}${cost}. ${sentence(run.note ?? "")}`)));
}
