// A display in a person's hands: taken, kept while the page is open and seen, given back; pointer and keys sent to it.

import { action, hold, isModifier, leaves, modified, modifier, real, release } from "./keys.js";
import { PointerHands } from "./pointer.js";
import { ActionQueue } from "./queue.js";
import { TouchHands } from "./touch.js";

const FOR_S = 60; // a page that died keeps a display no longer
const RENEW_MS = 20_000;

/** A takeover of `display` whose picture is `canvas`; `surface` is the text area that gets the keys; the pointer's events are those of the canvas.
 *
 * `changed(this)` is called after each change of what it tells: `lease` ("": not taken by this page), `until_utc_s`,
 * `fault` (words of the newest refusal, "" for none).
 */
export class Takeover {
  /** @param {Gateway} api @param {string} display @param {HTMLCanvasElement} canvas
   * @param {HTMLTextAreaElement} surface @param {(takeover: Takeover) => void} changed
   */
  constructor(api, display, canvas, surface, changed) {
    this.api = api;
    /** @type {`/api/displays/${string}`} */
    this.path = `/api/displays/${encodeURIComponent(display)}`;
    this.canvas = canvas;
    this.surface = surface;
    this.changed = changed;
    this.lease = "";
    this.until_utc_s = 0;
    this.fault = "";
    this.note = () => ""; // what is to be told the agents when the page is closed
    this.giving = false; // whether it is on its way back
    this.holds = true; // whether keys are pressed and released as they are here, rather than what they write is typed
    /** @type {Map<string, string>} */
    this.down = new Map(); // KeyboardEvent.code -> what is held for it
    this.sticky = new Set(); // modifiers for the next key
    this.queue = new ActionQueue((actions) => this.send(actions), (fault, undone) => this.failed(fault, undone));
    /** @param {...TakeoverAction} actions */
    this.push = (...actions) => this.queue.push(...actions);
  }

  // ---- the lease ---------------------------------------------------------------------------------------------------

  /** Take the display as `who`. Rejects with the refusal, which is also in `fault`.
   * @param {string} who
   */
  async take(who) {
    this.who = who;
    await this.lend();
    this.listen();
    this.surface.focus({ preventScroll: true });
  }

  async lend() {
    const lease = this.lease || undefined;
    try {
      const got = await this.api.post(`${this.path}/take`, { who: this.who, for_s: FOR_S, lease });
      if ((this.lease || undefined) === lease && !this.giving) this.hold(got); // not given back meanwhile
    } catch (/** @type {any} */ fault) {
      this.tell(fault.error);
      if (lease && fault.status !== 0) this.ended(fault.error);
      throw fault;
    }
  }

  /** @param {Api.TakeReply} got */
  hold(got) {
    this.lease = got.lease;
    this.until_utc_s = got.until_utc_s;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.renew(), RENEW_MS);
    this.tell("");
  }

  async renew() {
    // A page that nobody sees lets its lease run out rather than keep agents waiting.
    if (document.hidden) return;
    await this.lend().catch(() => {
      if (this.lease) this.timer = setTimeout(() => this.renew(), RENEW_MS / 4);
    });
  }

  /** Give the display back once what was asked for has been done; `note` is for the agents. */
  async giveBack(note = "") {
    if (!this.lease || this.giving) return;
    this.giving = true;
    this.deafen();
    clearTimeout(this.timer);
    this.queue.push({ type: "release", what: "" });
    await this.queue.idle();
    const given = this.api.post(`${this.path}/release`, { lease: this.lease, note });
    const words = await given.then(() => "", (fault) => fault.error);
    this.giving = false;
    this.ended(words); // ours until the daemon has said that it is not
  }

  /** Do `actions` after all that was asked for before, and return the daemon's answer. Rejects with its refusal.
   * @param {...TakeoverAction} actions
   */
  async ask(...actions) {
    await this.queue.idle();
    return this.api.post(`${this.path}/actions`, { actions, lease: this.lease });
  }

  /** Press and release `chord`, with the modifiers that wait for a key.
   * @param {string} chord
   */
  press(chord) {
    this.pushKey({ type: "key", chord });
    this.surface.focus({ preventScroll: true });
  }

  /** @param {TakeoverAction} wanted */
  pushKey(wanted) {
    this.push(modified(wanted, [...this.sticky]));
    if (!this.sticky.size) return;
    this.sticky.clear();
    this.changed(this);
  }

  /** Have the next key pressed with the modifier `name`, or no longer.
   * @param {string} name
   */
  stick(name) {
    if (!this.sticky.delete(name)) this.sticky.add(name);
    this.surface.focus({ preventScroll: true });
    this.changed(this);
  }

  /** Hold keys down as long as they are down here, or type what they write.
   * @param {boolean} holds
   */
  setHolds(holds) {
    this.letGo();
    this.holds = holds;
    this.surface.focus({ preventScroll: true });
    this.changed(this);
  }

  /** It is no longer ours: given back, run out, or taken away.
   * @param {string} words
   */
  ended(words) {
    this.deafen();
    clearTimeout(this.timer);
    this.queue.clear();
    this.lease = "";
    this.until_utc_s = 0;
    this.tell(words);
  }

  /** @param {string} words */
  tell(words) {
    this.fault = words;
    this.changed(this);
  }

  // ---- what is sent ------------------------------------------------------------------------------------------------

  /** @param {TakeoverAction[]} actions */
  async send(actions) {
    await this.api.post(`${this.path}/actions`, { actions, lease: this.lease });
    if (this.fault) this.tell("");
  }

  /** @param {any} fault @param {number} undone */
  failed(fault, undone) {
    const more = undone ? ` (${undone} more ${undone === 1 ? "was" : "were"} not done)` : "";
    // What is held may be stuck now; asked for once, so that a display that refuses everything ends it.
    if (undone && this.lease && !this.mending) this.mend();
    this.tell(`${fault.error}${more}`);
  }

  mend() {
    this.mending = true;
    this.pointer?.forget();
    this.touch?.forget();
    this.down.clear();
    this.queue.push({ type: "release", what: "" });
    this.queue.idle().finally(() => (this.mending = false));
  }

  // ---- what is heard -----------------------------------------------------------------------------------------------

  listen() {
    const ear = new AbortController();
    this.ear = ear;
    this.pointer = new PointerHands(this.canvas, this.surface, this.push);
    this.touch = new TouchHands(this.canvas, this.surface, this.push);
    /** @param {EventTarget} target @param {string} type @param {(event: any) => unknown} answer */
    const hear = (target, type, answer) => target.addEventListener(type, answer, { signal: ear.signal });
    hear(this.surface, "keydown", (event) => this.pressed(event));
    hear(this.surface, "keyup", (event) => this.released(event));
    hear(this.surface, "compositionend", (event) => this.composed(event));
    hear(this.surface, "input", (event) => this.typed(event));
    hear(this.surface, "blur", () => this.letGo());
    hear(window, "blur", () => this.letGo());
    hear(document, "visibilitychange", () => this.seen());
    hear(window, "pagehide", () => this.leave());
  }

  deafen() {
    this.letGo();
    this.pointer?.stop();
    this.touch?.stop();
    this.ear?.abort();
    this.pointer = this.touch = this.ear = null;
    this.sticky.clear();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (leaves(event)) return this.stepOut(event);
    const key = this.holds && !this.sticky.size ? real(event) : null;
    if (key) {
      event.preventDefault();
      this.alone = "";
      if (key.hold) this.holdKey(event, key.hold);
      else if (key.action) this.freely(key.action, key.free);
      return;
    }
    this.alone = modifier(event);
    const wanted = action(event);
    if (!wanted && !this.alone) return; // an input method's, or a dead key: what it makes comes as text
    event.preventDefault();
    if (wanted) this.pushKey(wanted);
  }

  /** Press the key of `event`, called `what`, until it is released here; the display repeats it by itself.
   * @param {KeyboardEvent} event @param {string} what
   */
  holdKey(event, what) {
    if (event.repeat || this.down.has(event.code)) return;
    this.down.set(event.code, what);
    this.push({ type: "hold", what });
  }

  /** Do `wanted` while the modifiers that are held are up: of `free` "shift" Shift alone, of "all" every one.
   * @param {TakeoverAction} wanted @param {string} [free]
   */
  freely(wanted, free = "all") {
    const held = [...this.down.values()].filter((name) => isModifier(name) && (free === "all" || name.startsWith("Shift")));
    this.push(...release(held.toReversed()));
    this.pushKey(wanted);
    this.push(...hold(held));
  }

  /** @param {KeyboardEvent} event */
  released(event) {
    const what = this.down.get(event.code);
    if (what) {
      this.down.delete(event.code);
      this.push({ type: "release", what });
      event.preventDefault();
      return;
    }
    // A modifier pressed and released by itself means something of its own (a menu, a launcher).
    const name = modifier(event);
    if (name && name === this.alone) this.push({ type: "key", chord: name });
    this.alone = "";
    if (name) event.preventDefault();
  }

  /** @param {CompositionEvent} event */
  composed(event) {
    if (event.data) this.freely({ type: "type", text: event.data });
    this.surface.value = "";
  }

  /** @param {InputEvent} event */
  typed(event) {
    if (event.isComposing || event.inputType === "insertCompositionText") return;
    // A touch keyboard tells of no keys, only of text.
    if (event.data) this.freely({ type: "type", text: event.data });
    else if (event.inputType === "insertLineBreak") this.pushKey({ type: "key", chord: "Return" });
    this.surface.value = "";
  }

  /** @param {KeyboardEvent} event */
  stepOut(event) {
    event.preventDefault();
    this.letGo();
    this.surface.dispatchEvent(new CustomEvent("stepout", { bubbles: true }));
  }

  /** Nothing stays pressed on the display when what is released here would not be heard. */
  letGo() {
    this.alone = "";
    this.push(...release([...this.down.values()].reverse()));
    this.down.clear();
    this.pointer?.letGo();
    this.touch?.letGo();
  }

  seen() {
    if (document.hidden) this.letGo();
    else if (this.lease) this.renew();
  }

  leave() {
    // The page is going: only a request that outlives it can still be sent, so not through the queue.
    /** @param {string} path @param {object} body */
    const say = (path, body) => fetch(path, {
      method: "POST", keepalive: true, headers: { "Content-Type": "application/json", "X-Acud": "1" },
      body: JSON.stringify(body),
    }).catch(() => null); // nobody is left to be told; the lease runs out by itself
    const lease = this.lease;
    say(`${this.path}/actions`, { actions: [{ type: "release", what: "" }], lease });
    say(`${this.path}/release`, { lease, note: this.note() });
  }
}
