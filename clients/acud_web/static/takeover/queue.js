// What a person does to a display, sent in order, one request at a time: nothing overtakes, nothing is sent twice.

import { isModifier } from "./keys.js";

const MOST = 64; // actions of one request
const LONGEST_TEXT = 10_000;

/** Put `action` at the end of `waiting`; moves and text that follow each other directly become one, and so does a key that
 * goes up directly after it went down: held longer by a slow network, the display would repeat it. Pure but for `waiting`.
 * @param {TakeoverAction[]} waiting @param {TakeoverAction} action
 */
export function append(waiting, action) {
  const last = waiting.at(-1);
  if (last?.type === "move" && action.type === "move") waiting[waiting.length - 1] = action;
  else if (last?.type === "type" && action.type === "type" && last.text.length + action.text.length <= LONGEST_TEXT)
    waiting[waiting.length - 1] = { type: "type", text: last.text + action.text };
  else if (last?.type === "hold" && action.type === "release" && last.what === action.what && isKey(action.what))
    waiting[waiting.length - 1] = { type: "key", chord: action.what };
  else waiting.push(action);
}

/** @param {string} what */
function isKey(what) {
  return !what.startsWith("mouse:") && !isModifier(what);
}

export class ActionQueue {
  /** `send(actions)` returns a promise; a rejection is `{status, code, error, done?}`. `failed(fault, undone)` is told.
   * @param {(actions: TakeoverAction[]) => Promise<unknown>} send
   * @param {(fault: any, undone: number) => void} failed
   */
  constructor(send, failed) {
    this.send = send;
    this.failed = failed;
    /** @type {TakeoverAction[]} */
    this.waiting = [];
    /** @type {Promise<void> | null} */
    this.busy = null;
  }

  /** Do `actions` after all that was asked for before.
   * @param {...TakeoverAction} actions
   */
  push(...actions) {
    for (const action of actions) append(this.waiting, action);
    if (!this.busy) this.start();
  }

  start() {
    this.busy = this.drain().finally(() => {
      this.busy = null;
      if (this.waiting.length) this.start();
    });
  }

  /** Return once nothing is waiting or under way. */
  async idle() {
    while (this.busy) await this.busy;
  }

  /** Drop what is waiting. */
  clear() {
    this.waiting = [];
  }

  async drain() {
    while (this.waiting.length) {
      const batch = this.waiting.splice(0, MOST);
      try {
        await this.send(batch);
      } catch (/** @type {any} */ fault) {
        this.fail(batch, fault);
      }
    }
  }

  /** @param {TakeoverAction[]} batch @param {any} fault */
  fail(batch, fault) {
    const behind = batch.slice((fault.done ?? 0) + 1);
    // A key that the display doesn't know stops itself alone; anything else ends what was to follow it.
    const goesOn = fault.status === 422 && fault.done !== undefined;
    const undone = goesOn ? 0 : behind.length + this.waiting.length;
    this.waiting = goesOn ? [...behind, ...this.waiting] : [];
    this.failed(fault, undone);
  }
}
