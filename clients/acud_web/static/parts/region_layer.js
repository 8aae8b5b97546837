// A region of a picture: drawn with the pointer, moved with the arrows, or typed as numbers. Boxes are [x, y, w, h] in
// pixels of what the picture shows, whatever its size on the page.

import { el } from "./dom.js";

const LEAST_PX = 4;
const NAMES = ["Left", "Top", "Width", "Height"];
/** @type {Record<string, number[]>} */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class RegionLayer {
  /** `size()` gives [width, height] of what is shown; `changed(box)` is called after each change by a person.
   * @param {() => number[]} size @param {(box: Api.Rect | null) => void} changed
   */
  constructor(size, changed) {
    this.size = size;
    this.changed = changed;
    /** @type {Api.Rect | null} */
    this.box = null;
    /** Where a press began, and the box before it. @type {number[] | null} */
    this.from = null;
    /** @type {Api.Rect | null} */
    this.before = null;
    this.mark = el("div.region-mark", { hidden: true });
    this.node = el("div.region-layer", { tabindex: "0", role: "group", "aria-label":
      "Region of the picture: arrows move it by 8 pixels, with Shift they change its size, Delete removes it" }, this.mark);
    this.inputs = NAMES.map((name) => el("input", { type: "number", min: 0, step: 1, "aria-label": name, onchange: () => this.typed() }));
    this.fields = el("div.region-fields", { role: "group", "aria-label": "Region in pixels" },
      NAMES.map((name, at) => el("label.field", {}, name, this.inputs[at])));
    this.node.addEventListener("pointerdown", (event) => this.began(event));
    this.node.addEventListener("pointermove", (event) => this.moved(event));
    this.node.addEventListener("pointerup", (event) => this.ended(event));
    this.node.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** Show `box` (null: none).
   * @param {number[] | null} box
   */
  set(box) {
    this.box = box && this.within(box);
    this.mark.hidden = !this.box;
    const [width, height] = this.size();
    const shown = this.box ?? ["", "", "", ""];
    this.inputs.forEach((input, at) => { input.value = String(shown[at]); });
    if (!this.box) return;
    const [x, y, w, h] = this.box;
    const share = { left: x / width, top: y / height, width: w / width, height: h / height };
    for (const [name, value] of Object.entries(share)) this.mark.style.setProperty(name, `${100 * value}%`);
  }

  /** @param {number[]} given @returns {Api.Rect} */
  within([x, y, w, h]) {
    const [width, height] = this.size();
    const [left, top] = [clamp(x, 0, width - LEAST_PX), clamp(y, 0, height - LEAST_PX)];
    return [left, top, clamp(w, LEAST_PX, width - left), clamp(h, LEAST_PX, height - top)];
  }

  /** @param {number[] | null} box */
  put(box) {
    this.set(box);
    this.changed(this.box);
  }

  /** @param {PointerEvent} event */
  point(event) {
    const bounds = this.node.getBoundingClientRect();
    const [width, height] = this.size();
    return [clamp(((event.clientX - bounds.left) / bounds.width) * width, 0, width), clamp(((event.clientY - bounds.top) / bounds.height) * height, 0, height)];
  }

  /** @param {PointerEvent} event */
  began(event) {
    if (event.button) return;
    this.node.setPointerCapture(event.pointerId);
    this.from = this.point(event);
    this.before = this.box;
  }

  /** @param {PointerEvent} event */
  moved(event) {
    if (!this.from) return;
    const { from } = this;
    const to = this.point(event);
    const [x, y] = [0, 1].map((axis) => Math.min(from[axis], to[axis]));
    this.set([x, y, Math.abs(to[0] - this.from[0]), Math.abs(to[1] - this.from[1])]);
  }

  // A mere click draws nothing: what was drawn before stays.
  /** @param {PointerEvent} event */
  ended(event) {
    if (!this.from) return;
    const [x, y] = this.point(event);
    const isDrawn = Math.abs(x - this.from[0]) >= LEAST_PX && Math.abs(y - this.from[1]) >= LEAST_PX;
    this.from = null;
    if (isDrawn) this.changed(this.box);
    else this.set(this.before);
  }

  typed() {
    const [x, y, w, h] = this.inputs.map((input) => Number(input.value));
    if (w > 0 && h > 0) this.put([x, y, w, h]);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.key === "Delete" || event.key === "Backspace") return this.put(null);
    const by = MOVES[event.key];
    if (!by) return undefined;
    event.preventDefault();
    const [width, height] = this.size();
    const [x, y, w, h] = this.box ?? [width / 4, height / 4, width / 2, height / 2];
    const [dx, dy] = this.box ? by.map((one) => one * 8) : [0, 0];
    return this.put(event.shiftKey ? [x, y, w + dx, h + dy] : [Math.min(x + dx, width - w), Math.min(y + dy, height - h), w, h]);
  }
}

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
  return Math.round(Math.max(low, Math.min(high, value)));
}
