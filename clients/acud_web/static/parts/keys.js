// Shortcuts of the page: `?` lists them. None of them works while something is being typed or a dialog is open.

import { dialog } from "./dialog.js";
import { el } from "./dom.js";

/** @type {{ key: string; words: string; act: () => void }[]} */
const ROWS = [];

/** @param {string} key @param {string} words @param {() => void} act */
export function shortcut(key, words, act) {
  ROWS.push({ key, words, act });
}

export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || busy(event.target)) return;
    const row = ROWS.find((one) => one.key === event.key);
    if (!row) return;
    event.preventDefault();
    row.act();
  });
  shortcut("?", "This list", list);
}

// A takeover takes every key: the element that does so is marked.
/** @param {EventTarget | null} target */
export function busy(target) {
  return /** @type {Element | null} */ (target)?.closest?.("input, textarea, select, dialog, [contenteditable], [data-keys=all]");
}

export function list() {
  const rows = ROWS.map(({ key, words }) =>
    el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, words)),
  );
  const more = [
    ["Ctrl+K", "Find panels, displays, tasks, waits and actions"],
    ["↑ ↓", "Next and previous row of a list"],
    ["Enter", "Open the row"],
    ["Esc", "Close a dialog"],
    ["← →", "Previous and next picture; in a recording previous and next frame, with Shift 10"],
    ["[ ]", "In a recording: previous and next mark"],
    ["Space", "In a recording: play and pause"],
  ].map(([key, words]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, words)));
  dialog("Keyboard shortcuts", el("table.shortcuts", {}, el("tbody", {}, rows, more)), { kind: "small" });
}

// ↑ and ↓ move between the links of `list` that open a row.
/** @param {HTMLElement} list */
export function arrows(list, selector = "a.row") {
  list.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const from = /** @type {HTMLElement} */ (event.target);
    if (!by || !from.matches(selector)) return;
    const rows = [...list.querySelectorAll(selector)];
    const to = rows[rows.indexOf(from) + by];
    if (to) {
      event.preventDefault();
      to.focus();
    }
  });
}
