// How large a picture is shown: fitted into its frame, or at a number of screen pixels for each of its own.

import { el, fill } from "../parts/dom.js";

const STEPS = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4];

const LEAST_PX = 200;
const BELOW_PX = 16;

export class Zoom {
  /** Sizes `canvas` within `frame`. `scale` 0 is fit; 1 is one device pixel for each pixel, whatever the page's own zoom.
   * @param {HTMLCanvasElement} canvas @param {HTMLElement} frame
   */
  constructor(canvas, frame) {
    this.canvas = canvas;
    this.frame = frame;
    this.scale = 0;
    this.label = el("output.zoom-label", { "aria-live": "off" });
    this.watcher = new ResizeObserver(() => this.apply());
    this.watcher.observe(frame);
    this.onresize = () => this.apply();
    addEventListener("resize", this.onresize);
  }

  end() {
    this.watcher.disconnect();
    removeEventListener("resize", this.onresize);
  }

  /** The buttons. */
  get tools() {
    /** @param {string} words @param {string} name @param {() => void} act */
    const button = (words, name, act) => el("button.small", { type: "button", "aria-label": name, title: name, onclick: act }, words);
    return el("div.zoom-tools", { role: "group", "aria-label": "Size of the picture" },
      button("−", "Smaller", () => this.step(-1)), this.label, button("+", "Larger", () => this.step(1)),
      button("Fit", "Fit into the page", () => this.set(0)), button("1:1", "One pixel for each pixel", () => this.set(1)));
  }

  /** @param {number} scale */
  set(scale) {
    this.scale = scale;
    this.apply();
  }

  /** @param {number} by */
  step(by) {
    const now = this.shown();
    const next = by > 0 ? STEPS.find((step) => step > now + 0.01) : STEPS.findLast((step) => step < now - 0.01);
    if (next) this.set(next);
  }

  shown() {
    return this.scale || this.fitted();
  }

  fitted() {
    const across = this.frame.clientWidth / this.canvas.width;
    const down = (this.room() - 2) / this.canvas.height; // its border
    return Math.max(0.05, Math.min(4, Math.min(across, down) * devicePixelRatio));
  }

  /** What is left of the window below the frame's top: a page that scrolls under a drag would be a nuisance. */
  room() {
    const top = this.frame.getBoundingClientRect().top + scrollY;
    return Math.max(LEAST_PX, innerHeight - top - BELOW_PX);
  }

  apply() {
    this.frame.style.maxHeight = `${this.room()}px`;
    const scale = this.shown();
    const size = { w: (this.canvas.width * scale) / devicePixelRatio, h: (this.canvas.height * scale) / devicePixelRatio };
    this.canvas.style.width = `${size.w}px`;
    this.canvas.style.height = `${size.h}px`;
    // From 1:1 on each pixel is to be seen as it is; below, smoothing makes text legible.
    this.canvas.classList.toggle("pixelated", scale >= 1);
    const words = `${Math.round(scale * 100)} %`;
    if (this.label.textContent !== words) fill(this.label, words);
  }
}
