// The picture of the moment under the pointer, above the time line.

import { el, fill } from "../parts/dom.js";
import { clock } from "../parts/words.js";

export class Preview {
  /** `urlOf(segment)`: its video. Nothing is loaded before the pointer comes.
   * @param {Axis} axis @param {(segment: Api.Segment) => string} urlOf
   */
  constructor(axis, urlOf) {
    this.axis = axis;
    this.urlOf = urlOf;
    this.video = el("video", { preload: "auto", playsinline: true });
    this.video.muted = true;
    /** The frame that is wanted, the one that was sought last, and whose video it is. @type {Axis["frames"][number] | null} */
    this.wanted = null;
    /** @type {Axis["frames"][number] | null} */
    this.at = null;
    /** @type {Api.Segment | null} */
    this.segment = null;
    this.words = el("span");
    this.node = el("div.replay-preview", { "aria-hidden": "true", hidden: true }, this.video, this.words);
    this.video.addEventListener("seeked", () => this.seek());
    this.video.addEventListener("loadedmetadata", () => this.seek());
  }

  /** Show the frame at `utc_ms` with its middle `x` px from the left; null hides it. `words`: what happened near.
   * @param {number | null} utc_ms @param {number} x @param {string} words
   */
  show(utc_ms, x, words) {
    this.node.hidden = utc_ms === null;
    if (utc_ms === null) return;
    this.wanted = this.axis.frames[this.axis.indexAt(utc_ms)];
    fill(this.words, `${clock(utc_ms / 1000)}${words ? ` · ${words}` : ""}`);
    const half = this.node.offsetWidth / 2;
    this.node.style.left = `${Math.max(half, Math.min((this.node.parentElement?.clientWidth ?? 0) - half, x))}px`;
    this.seek();
  }

  // One seek at a time: what the pointer wants by the end of it comes next.
  seek() {
    const { wanted, video } = this;
    if (!wanted) return;
    if (this.segment !== wanted.segment) {
      this.segment = wanted.segment;
      this.at = null;
      video.style.aspectRatio = `${wanted.segment.width} / ${wanted.segment.height}`;
      video.src = this.urlOf(wanted.segment);
    }
    if (video.readyState < HTMLMediaElement.HAVE_METADATA || video.seeking || this.at === wanted) return;
    this.at = wanted;
    video.currentTime = wanted.seek_s;
  }

  end() {
    this.wanted = null;
    this.video.removeAttribute("src");
    this.video.load();
  }
}
