// A wait changed, or armed once more as it was or with changes.

import { api } from "../parts/api.js";
import { dialog, doing, notice } from "../parts/dialog.js";
import { el } from "../parts/dom.js";
import { leavesOf } from "./wait_words.js";
import { condition } from "../parts/words.js";

// What can be edited of each kind of condition: its field, what that is called, and whether it is a number.
/** @type {Record<string, [field: string, words: string, isNumber?: boolean]>} */
const FIELDS = {
  criteria: ["criteria", "Sentence"],
  text: ["text", "Text"],
  number: ["value", "Number", true],
  window: ["title", "Title of the window"],
  widget: ["name", "Name of the control"],
  stable: ["stable_s", "Still for (seconds)", true],
  file: ["path", "File"],
  notification: ["text", "Notification"],
};
/** @type {Record<string, number>} */
const UNITS = { s: 1, m: 60, min: 60, h: 3600, d: 86400 };

// The seconds of "90", "90s", "5m" or "2h"; NaN for anything else.
/** @param {string} words */
export function seconds(words) {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(s|min|m|h|d)?\s*$/.exec(words);
  return found ? Number(found[1]) * UNITS[found[2] ?? "s"] : NaN;
}

/** @param {number} s */
export function brief(s) {
  const unit = ["d", "h", "m"].find((one) => s >= UNITS[one] && s % UNITS[one] === 0);
  return unit ? `${s / UNITS[unit]}${unit}` : `${s}s`;
}

// The condition to count from now on: baselines and starts of an earlier wait would hold at once.
/** @param {AnyCondition} until */
function fromNow(until) {
  const fresh = structuredClone(until);
  for (const leaf of leavesOf(fresh)) {
    if (leaf.type === "change") leaf.baseline = "";
    if (leaf.type === "file" || leaf.type === "notification") leaf.since_utc_s = 0;
  }
  return fresh;
}

// The request that makes a wait like this one.
/** @param {Api.WaitInfo} given */
export function anew({ spec, display }) {
  const { window, region, pty, monitor, ignore } = spec.target;
  const target =
    (window && `window:${window}`) ||
    (region && `region:${region.join(",")}`) ||
    (pty && `pty:${pty}`) ||
    (monitor && `monitor:${monitor}`) ||
    "screen";
  const { timeout_s, policy, judge, task_id, label, wake, budget } = spec;
  return { until: fromNow(spec.until), target, display, ignore, timeout_s, policy, judge, task_id, label, wake, budget };
}

/** @param {Api.WaitCreateFields} request @param {Page} page */
export async function armAgain(request, page) {
  const { wait, notes } = await api.post("/api/waits", request);
  notice(notes.length ? `Armed. ${notes.join("; ")}.` : "Armed: it watches now.");
  page.go(`waits/${encodeURIComponent(wait.wait_id)}`);
}

// Ask for another condition and timeout. A live wait is changed; with a `page` a new one is armed.
/** @param {Api.WaitInfo} wait @param {Page | null} [page] */
export async function edit(wait, page = null) {
  const until = fromNow(wait.spec.until);
  const before = JSON.stringify(until);
  const inputs = leavesOf(until).map((leaf) => conditionField(leaf));
  const timeout = el("input", {
    name: "timeout",
    value: page ? brief(wait.spec.timeout_s) : "",
    placeholder: page ? "" : "as it is",
    "aria-describedby": "timeout-hint",
    autocomplete: "off",
  });
  const sameTask = el("input", { type: "checkbox", checked: true });
  const verb = page ? "Arm it" : "Change it";
  const send = el("button.primary", { type: "submit" }, verb);
  const form = el(
    "form.fields",
    {},
    inputs,
    el("label.stacked", {}, "Gives up after", timeout),
    el(
      "p.muted.small",
      { id: "timeout-hint" },
      page ? "Such as 90s, 5m or 2h." : "Such as 90s, 5m or 2h, counted from now. Empty: the time does not change.",
    ),
    page && wait.spec.task_id ? el("label.field", {}, sameTask, "For its task, as before") : null,
    el("footer", {}, el("button", { type: "button", onclick: () => asked.close() }, "Leave it"), send),
  );
  const work = doing(send, async () => {
    const given = timeout.value.trim() ? seconds(timeout.value) : null;
    timeout.setCustomValidity(Number.isNaN(given) || given === 0 ? "A time, such as 90s, 5m or 2h" : "");
    if (!form.reportValidity()) return;
    if (page) {
      const request = { ...anew(wait), until };
      if (given !== null) request.timeout_s = given;
      if (!sameTask.checked) request.task_id = "";
      await armAgain(request, page);
    } else await change(wait, JSON.stringify(until) === before ? null : until, given);
    asked.close();
  });
  timeout.addEventListener("input", () => timeout.setCustomValidity(""));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    work();
  });
  const asked = dialog(page ? "Edit and arm again" : "Edit this wait", form, { kind: "small" });
  await asked.closed;
}

/** @param {Api.WaitInfo} wait @param {AnyCondition | null} until @param {number | null} timeout_s */
async function change(wait, until, timeout_s) {
  const body = Object.fromEntries(Object.entries({ until, timeout_s }).filter(([, value]) => value !== null));
  if (!Object.keys(body).length) return;
  const { notes } = await api.post(`/api/waits/${encodeURIComponent(wait.wait_id)}/update`, body);
  notice(notes.length ? `Changed. ${notes.join("; ")}.` : "Changed.");
}

/** @param {AnyCondition} leaf */
function conditionField(leaf) {
  const values = /** @type {Record<string, any>} */ (leaf);
  if (!(leaf.type in FIELDS)) return el("p.muted", {}, `Stays as it is: ${condition(leaf)}.`);
  const [field, words, isNumber] = FIELDS[leaf.type];
  const long = leaf.type === "criteria";
  const input = el(long ? "textarea" : "input", {
    value: long ? null : String(values[field]),
    type: isNumber ? "number" : null,
    step: isNumber ? "any" : null,
    required: leaf.type !== "widget",
    rows: long ? 3 : null,
    autocomplete: "off",
  });
  if (long) input.value = values[field];
  input.addEventListener("input", () => {
    values[field] = isNumber ? Number(input.value) : input.value;
  });
  return el("label.stacked", {}, words, input);
}
