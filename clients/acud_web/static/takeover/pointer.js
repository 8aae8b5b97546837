// The pointer over a picture as actions on its display: places, buttons, wheel.

import { hold, modifiers, release } from "./keys.js";

const BUTTONS = ["left", "middle", "right"]; // MouseEvent.button
const NOTCH_PX = 100; // what Chromium and Firefox tell for one notch of a wheel
const NOTCH_LINES = 3;
const MOST_NOTCHES = 20;

/** Return the pixel of `canvas` under the place (clientX, clientY), the nearest one for a place outside; any scale.
 * @param {HTMLCanvasElement} canvas @param {number} clientX @param {number} clientY @returns {Api.Point}
 */
export function pixel(canvas, clientX, clientY) {
  const box = canvas.getBoundingClientRect();
  return [
    within((clientX - box.left) * canvas.width / box.width, canvas.width),
    within((clientY - box.top) * canvas.height / box.height, canvas.height),
  ];
}

/** @param {number} place @param {number} size */
function within(place, size) {
  // A hair is added: 37 * 1280 / 1280 of a box at a fraction of a pixel may come out as 36.99999.
  return Math.max(0, Math.min(size - 1, Math.floor(place + 1e-6)));
}

/** Whole notches out of a wheel's events; what is left over counts with the next. */
export class Wheel {
  constructor() {
    this.rest = { x: 0, y: 0 };
  }

  /** Return the scroll actions of `event` at the pixel `at`.
   * @param {WheelEvent} event @param {Api.Point} at
   */
  turned(event, at) {
    const unit = [NOTCH_PX, NOTCH_LINES, 1][event.deltaMode];
    return [...this.along("y", event.deltaY / unit, ["up", "down"], event, at),
      ...this.along("x", event.deltaX / unit, ["left", "right"], event, at)];
  }

  /** @param {"x" | "y"} axis @param {number} notches @param {Direction[]} given @param {WheelEvent} event
   * @param {Api.Point} at @returns {TakeoverAction[]}
   */
  along(axis, notches, [back, forth], event, at) {
    const turned = this.rest[axis] * notches < 0 ? notches : this.rest[axis] + notches;
    const whole = Math.trunc(turned);
    this.rest[axis] = turned - whole;
    if (!whole) return [];
    const amount = Math.min(MOST_NOTCHES, Math.abs(whole));
    const keys = modifiers(event).join("+");
    return [{ type: "scroll", direction: whole < 0 ? back : forth, amount, at, keys }];
  }
}

/** Turns the events of mouse and pen over `canvas` into actions for `push`; `keys` is the element that is to have the focus. */
export class PointerHands {
  /** @param {HTMLCanvasElement} canvas @param {HTMLElement} keys
   * @param {(...actions: TakeoverAction[]) => unknown} push
   */
  constructor(canvas, keys, push) {
    this.canvas = canvas;
    this.keys = keys;
    this.push = push;
    this.wheel = new Wheel();
    /** @type {Map<string, string[]>} */
    this.down = new Map(); // button -> the modifiers held for it
    this.ear = new AbortController();
    this.listen(canvas);
  }

  /** @param {HTMLElement} surface */
  listen(surface) {
    /** @param {string} type @param {(event: any) => unknown} answer */
    const hear = (type, answer) =>
      surface.addEventListener(type, answer, { signal: this.ear.signal, passive: false });
    /** @param {string} type @param {(event: any) => unknown} answer */
    const byMouse = (type, answer) => hear(type, (event) => event.pointerType !== "touch" && answer(event));
    byMouse("pointerdown", (event) => this.pressed(event));
    byMouse("pointermove", (event) => this.moved(event));
    byMouse("pointerup", (event) => this.released(event));
    hear("pointercancel", () => this.letGo());
    hear("wheel", (event) => this.turned(event));
    // A press elsewhere would take the focus away from the keys.
    for (const type of ["mousedown", "contextmenu", "auxclick", "dragstart"]) hear(type, (event) => event.preventDefault());
  }

  stop() {
    this.letGo();
    this.ear.abort();
  }

  /** @param {MouseEvent} event */
  at(event) {
    return pixel(this.canvas, event.clientX, event.clientY);
  }

  /** @param {PointerEvent} event */
  pressed(event) {
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    this.keys.focus({ preventScroll: true });
    this.buttons(event);
  }

  /** @param {PointerEvent} event */
  moved(event) {
    // A second button pressed while one is down comes as a move (Pointer Events, chorded buttons).
    if (event.button >= 0) this.buttons(event);
    else this.push({ type: "move", to: this.at(event) });
  }

  /** @param {PointerEvent} event */
  released(event) {
    event.preventDefault();
    this.buttons(event);
  }

  /** @param {PointerEvent} event */
  buttons(event) {
    this.push({ type: "move", to: this.at(event) });
    const name = BUTTONS[event.button];
    if (!name) return; // the display has three buttons
    if (event.type === "pointerup" || this.down.has(name)) this.up(name);
    else this.press(name, modifiers(event));
  }

  /** @param {string} name @param {string[]} keys */
  press(name, keys) {
    const free = keys.filter((key) => ![...this.down.values()].flat().includes(key));
    this.down.set(name, free);
    this.push(...hold([...free, `mouse:${name}`]));
  }

  /** @param {string} name */
  up(name) {
    const keys = this.down.get(name);
    if (!keys) return;
    this.down.delete(name);
    this.push(...release([`mouse:${name}`, ...keys.toReversed()]));
  }

  /** @param {WheelEvent} event */
  turned(event) {
    event.preventDefault();
    this.push(...this.wheel.turned(event, this.at(event)));
  }

  /** Release every button that is down. */
  letGo() {
    for (const name of [...this.down.keys()]) this.up(name);
  }

  /** Forget what is down: it was released in another way. */
  forget() {
    this.down.clear();
  }
}
