// The command palette (Ctrl+K): panels, displays, tasks, waits and actions, found by a few letters of their names.

import { allowed } from "./api.js";
import { busyDisplays } from "./displays.js";
import { dialog } from "./dialog.js";
import { el, fill } from "./dom.js";
import { condition, stateWord } from "./words.js";

const MOST = 12;
const KINDS = ["Panel", "Action", "Display", "Task", "Wait"];

/** Return `run`s by their words: those that begin with what is looked for, then those that hold all of its words.
 * @param {Command[]} entries @param {string} text
 */
export function found(entries, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = entries
    .map((entry) => ({ entry, score: score(entry, words) }))
    .filter(({ score: one }) => one > 0)
    .sort((one, other) => other.score - one.score || KINDS.indexOf(one.entry.kind) - KINDS.indexOf(other.entry.kind) || one.entry.title.localeCompare(other.entry.title, undefined, { numeric: true }));
  return scored.map(({ entry }) => entry);
}

/** @param {Command} given @param {string[]} words */
function score({ title, more = "" }, words) {
  const name = title.toLowerCase();
  const all = `${name} ${more.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return 0;
  const starts = words.filter((word) => new RegExp(`(^|[^\\p{L}\\p{N}])${escaped(word)}`, "u").test(name)).length;
  return 1 + starts + (words.length && name.startsWith(words[0]) ? 2 : 0) + (words.length && words.join(" ") === name ? 4 : 0);
}

/** @param {string} word */
const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Open it. `commands`: panels and actions, as {kind, title, more, key, run}.
 * @param {Page} page @param {Command[]} commands
 */
export function openPalette(page, commands) {
  let entries = commands,
    /** @type {Command[]} */
    shown = [],
    at = 0;
  const list = el("ul.palette-list", { role: "listbox", id: "palette-list", "aria-label": "Found" });
  const input = el("input", { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list",
    "aria-autocomplete": "list", "aria-label": "Find panels, displays, tasks, waits and actions", autocomplete: "off",
    spellcheck: "false", placeholder: "Find panels, displays, tasks, waits, actions …" });
  const paint = () => {
    shown = found(entries, input.value).slice(0, MOST);
    at = Math.max(0, Math.min(at, shown.length - 1));
    fill(list, shown.length ? shown.map((entry, n) => option(entry, n === at, () => run(entry))) : el("li.nothing", { role: "option", "aria-disabled": "true" }, "Nothing by that name"));
    if (shown.length) input.setAttribute("aria-activedescendant", `palette-${at}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  /** @param {Command} entry @param {boolean} here @param {() => void} act */
  const option = (entry, here, act) => {
    const node = el("li", { role: "option", "aria-selected": String(here), onclick: act },
      el("span.palette-title", {}, entry.title), el("span.muted.small", {}, entry.more ?? ""),
      el("span.palette-kind", {}, entry.key ? el("kbd", {}, entry.key) : null, entry.kind));
    node.id = `palette-${shown.indexOf(entry)}`;
    return node;
  };
  /** @param {Command} [entry] */
  const run = (entry) => {
    box.close();
    entry?.run();
  };
  input.addEventListener("input", () => {
    at = 0;
    paint();
  });
  input.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && shown.length) at = (at + by + shown.length) % shown.length;
    else if (event.key === "Enter") run(shown[at]);
    else return;
    event.preventDefault();
    if (by) paint();
  });
  const box = dialog("Find", el("div.palette", {}, input, list), { kind: "palette-box" });
  input.focus();
  paint();
  things(page).then((more) => {
    entries = [...commands, ...more];
    paint();
  }).catch((fault) => {
    if (fault.status === undefined) throw fault;
  });
  return box;
}

/** @param {Page} given */
async function things({ api, go }) {
  const [displays, { tasks }, { waits }] = await Promise.all([
    allowed(busyDisplays(api), []),
    allowed(api.get("/api/tasks?limit=200"), { tasks: [] }),
    allowed(api.get("/api/waits?limit=1000"), { waits: [] }),
  ]);
  /** @param {string} kind @param {string} title @param {string} more @param {string} path */
  const entry = (kind, title, more, path) => ({ kind, title, more, run: () => go(path) });
  return [
    ...displays.map((one) => entry("Display", one.name, one.task?.name ?? "", `screens/${encodeURIComponent(one.name)}`)),
    ...tasks.map(({ task }) => entry("Task", task.name, [stateWord(task.status).word, task.display].filter(Boolean).join(" · "), `tasks/${task.task_id}`)),
    ...waits.map((wait) => entry("Wait", wait.spec.label || condition(wait.spec.until), `${stateWord(wait.state).word} · ${wait.display}`, `waits/${wait.wait_id}`)),
  ];
}
