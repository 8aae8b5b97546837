// Shortcuts of the page: `?` lists them. None of them works while something is being typed or a dialog is open.

import { dialog } from "./dialog.js";
import { el } from "./dom.js";

const ROWS = [];

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
export function busy(target) {
  return target.closest?.("input, textarea, select, dialog, [contenteditable], [data-keys=all]");
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
export function arrows(list, selector = "a.row") {
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !event.target.matches(selector)) return;
    const rows = [...list.querySelectorAll(selector)];
    const to = rows[rows.indexOf(event.target) + by];
    if (to) {
      event.preventDefault();
      to.focus();
    }
  });
}
