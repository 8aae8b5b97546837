// Fingers on a picture as actions on its display: tap, long press, drag with one finger, scroll with two.

import { pixel } from "./pointer.js";

const LONG_MS = 500;
const STILL_PX = 10; // a finger is never quite still
const NOTCH_PX = 40;

/** Turns touches of `canvas` into actions for `push`; `keys` is the element that is to have the focus. */
export class TouchHands {
  /** @param {HTMLCanvasElement} canvas @param {HTMLElement} keys
   * @param {(...actions: TakeoverAction[]) => unknown} push
   */
  constructor(canvas, keys, push) {
    this.canvas = canvas;
    this.keys = keys;
    this.push = push;
    /** @type {Map<number, Api.Point>} */
    this.fingers = new Map(); // pointer id -> [clientX, clientY]
    this.state = ""; // "" none, "tap" until it is more, "drag", "scroll", "done" until every finger is up
    /** Where the first finger came down, where they were last, and what is left of a notch. @type {Api.Point} */
    this.began = [0, 0];
    /** @type {Api.Point} */
    this.last = [0, 0];
    /** @type {Api.Point} */
    this.rest = [0, 0];
    this.ear = new AbortController();
    /** @param {string} type @param {(event: any) => unknown} answer */
    const hear = (type, answer) => canvas.addEventListener(type,
      (/** @type {any} */ event) => event.pointerType === "touch" && answer(event), { signal: this.ear.signal, passive: false });
    hear("pointerdown", (event) => this.touched(event));
    hear("pointermove", (event) => this.moved(event));
    hear("pointerup", (event) => this.lifted(event));
    hear("pointercancel", () => this.letGo());
  }

  stop() {
    this.letGo();
    this.ear.abort();
  }

  /** @returns {Api.Point} */
  get middle() {
    const places = [...this.fingers.values()];
    const mean = (/** @type {0 | 1} */ axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length;
    return [mean(0), mean(1)];
  }

  /** @param {PointerEvent} event */
  touched(event) {
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.fingers.size === 1) this.first(event);
    else if (this.fingers.size === 2 && this.state === "tap") this.second();
  }

  /** @param {PointerEvent} event */
  first(event) {
    this.state = "tap";
    this.began = [event.clientX, event.clientY];
    this.timer = setTimeout(() => this.long(), LONG_MS);
  }

  second() {
    clearTimeout(this.timer);
    this.state = "scroll";
    this.last = this.middle;
    this.rest = [0, 0];
  }

  long() {
    this.state = "done";
    this.click("right");
    navigator.vibrate?.(20);
  }

  /** @param {Api.Button} button */
  click(button) {
    this.keys.focus({ preventScroll: true });
    this.push({ type: "click", at: pixel(this.canvas, ...this.began), button });
  }

  /** @param {PointerEvent} event */
  moved(event) {
    if (!this.fingers.has(event.pointerId)) return;
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.state === "scroll") this.scroll();
    if (this.state === "tap" && Math.hypot(event.clientX - this.began[0], event.clientY - this.began[1]) > STILL_PX) this.drag();
    if (this.state === "drag") this.push({ type: "move", to: pixel(this.canvas, event.clientX, event.clientY) });
  }

  drag() {
    clearTimeout(this.timer);
    this.state = "drag";
    this.push({ type: "move", to: pixel(this.canvas, ...this.began) }, { type: "hold", what: "mouse:left" });
  }

  /** The content follows the fingers. */
  scroll() {
    const now = this.middle;
    /** @type {[0 | 1, Direction, Direction][]} */
    const ways = [[0, "left", "right"], [1, "up", "down"]];
    for (const [axis, back, forth] of ways) {
      this.rest[axis] += (this.last[axis] - now[axis]) / NOTCH_PX;
      const whole = Math.trunc(this.rest[axis]);
      this.rest[axis] -= whole;
      const at = pixel(this.canvas, ...now);
      if (whole) this.push({ type: "scroll", direction: whole < 0 ? back : forth, amount: Math.min(20, Math.abs(whole)), at });
    }
    this.last = now;
  }

  /** @param {PointerEvent} event */
  lifted(event) {
    event.preventDefault();
    if (!this.fingers.delete(event.pointerId)) return;
    if (this.state === "tap") this.click("left");
    this.ended(this.fingers.size ? "done" : "");
  }

  /** @param {string} state */
  ended(state) {
    clearTimeout(this.timer);
    if (this.state === "drag") this.push({ type: "release", what: "mouse:left" });
    this.state = state;
  }

  /** Release what a finger holds; those that are down mean nothing until all are up. */
  letGo() {
    this.fingers.clear();
    this.ended("");
  }

  /** Forget what is held: it was released in another way. */
  forget() {
    if (this.state === "drag") this.state = "done";
  }
}
