// A display in words.

import { clock } from "../parts/words.js";

/** Return size, state and task of `display` in words.
 * @param {Display} display
 */
export function facts(display) {
  const size = display.width ? `${display.width} × ${display.height}` : "size not known";
  const state = display.state === "up" ? "" : `${display.state}${display.reason ? `: ${display.reason}` : ""}`;
  return [size, display.task?.name, display.is_default && "default", state].filter(Boolean).join(" · ");
}

/** Return who has `display` now in words, "" for nobody.
 * @param {Display} display
 */
export function takenWords(display) {
  const isTaken = display.taken_by && display.taken_until_utc_s * 1000 > Date.now();
  return isTaken ? `${display.taken_by} has it until ${clock(display.taken_until_utc_s)}` : "";
}
