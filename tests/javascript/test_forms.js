// Forms: what a person enters as the condition that the API takes, times in words, a wait made anew.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { enter, show } from "./page.js";
import { anew, brief, seconds } from "../../clients/acud_web/static/pages/wait_forms.js";
import { leavesOf } from "../../clients/acud_web/static/pages/wait_words.js";
import { ConditionForm } from "../../clients/acud_web/static/parts/condition_form.js";

const PRINT = "import sys, msgspec; from acud.types.conditions.arguments import list_forms; sys.stdout.buffer.write(msgspec.json.encode(list_forms()))";
const KINDS = JSON.parse(execFileSync(".venv/bin/python", ["-c", PRINT], { encoding: "utf8" }));

function form(given = {}) {
  const made = new ConditionForm(KINDS, { may: () => true, ...given });
  show(made.node);
  return made;
}

function set(row, values) {
  for (const [field, control] of row.fields)
    if (field.name in values) {
      if (field.choices) control.selectedIndex = field.choices.findIndex(([words]) => words === values[field.name]);
      else if (control.type === "checkbox") control.checked = values[field.name];
      else enter(control, values[field.name]);
    }
}

const CONDITIONS = [
  ["text", { text: "Done", regex: true }, { text: "Done", whole_words: false, match_case: false, regex: true, gone: false }],
  ["text", { text: "Done", outcome: "is gone" }, { text: "Done", whole_words: false, match_case: false, regex: false, gone: true }],
  ["criteria", { criteria: "it is done" }, { criteria: "it is done" }],
  ["number", { label: "Rows", compare: "is more than", value: "7", unit: "%" }, { label: "Rows", compare: ">", value: 7, unit: "%" }],
  ["window", { title: "Export", outcome: "is gone" }, { title: "Export", gone: true }],
  ["widget", { role: "button", name: "OK", outcome: "is enabled" }, { role: "button", name: "OK", states: ["enabled"] }],
  ["widget", { name: "OK", outcome: "is gone" }, { role: "", name: "OK", gone: true }],
  ["change", { share: "25", settle_s: "2" }, { share: 0.25, settle_s: 2 }],
  ["stable", { stable_s: "5", ignore_blinking: true }, { stable_s: 5, ignore_blinking: true }],
  ["file", { path: "~/a.pdf" }, { path: "~/a.pdf", gone: false }],
  ["process", { pid: "42" }, { pid: 42 }],
  ["notification", { text: "Mail" }, { text: "Mail", regex: false }],
  ["clipboard", { changed: true }, { text: "", regex: false, changed: true }],
];
for (const [type, values, expected] of CONDITIONS)
  test(`a ${type} of ${JSON.stringify(values)} is what the API takes`, () => {
    const made = form();
    made.rows[0].become(type);
    set(made.rows[0], values);
    assert.deepEqual(made.until(), { type, ...expected });
  });

test("a sentence that is not to be true is a not", () => {
  const made = form();
  made.rows[0].become("criteria");
  set(made.rows[0], { criteria: "it is done", outcome: "is not true" });
  assert.deepEqual(made.until(), { type: "not", part: { type: "criteria", criteria: "it is done" } });
});

test("several conditions hold together as chosen", () => {
  const made = form();
  set(made.rows[0], { text: "a" });
  set(made.add(), { text: "b" });
  assert.equal(made.joined.hidden, false);
  enter(made.together, "then");
  const { type, parts } = made.until();
  assert.deepEqual([type, parts.map((one) => one.text)], ["then", ["a", "b"]]);
});

test("a condition that is removed leaves the others", () => {
  const made = form();
  set(made.rows[0], { text: "a" });
  set(made.add(), { text: "b" });
  made.remove(made.rows[0]);
  assert.deepEqual([made.until().text, made.joined.hidden], ["b", true]);
});

test("a required field that is empty is a fault, and there is no condition", () => assert.equal(form().until(), null));

test("a recording is asked only what it can answer", () => {
  assert.deepEqual(form({ recorded: true }).kinds.map(({ type }) => type), ["criteria", "text", "number", "change", "stable"]);
});

test("what needs a scope is offered to those alone who have it", () => {
  const types = form({ may: (scope) => scope === "wait" }).kinds.map(({ type }) => type);
  assert.deepEqual([types.includes("file"), types.includes("process"), types.includes("window")], [false, false, true]);
});

test("an image is cut out of the picture, or is a fault", () => {
  const made = form({ cut: () => "" });
  made.rows[0].become("image");
  assert.equal(made.until(), null);
  made.rows[0].fields[0][1].value = "cG5n";
  assert.deepEqual(made.until(), { type: "image", png: "cG5n", gone: false });
});

test("a suggestion goes into the row that is being edited", () => {
  const made = form();
  made.suggest("widget", { role: "button", name: "Save" });
  assert.equal(made.until().name, "Save");
});

test("titles of windows are offered once each", () => {
  const made = form();
  made.offer([{ title: "A" }, { title: "" }, { title: "A" }, { title: "B" }]);
  assert.deepEqual([...made.windows.children].map((one) => one.value), ["A", "B"]);
});

// ---- times, and a wait like another ----------------------------------------------------------------------------------------

for (const [words, expected] of [["90", 90], [" 90s ", 90], ["5m", 300], ["1.5 min", 90], ["2h", 7200], ["1d", 86400], ["soon", NaN], ["-5", NaN], ["", NaN]])
  test(`"${words}" is ${expected} seconds`, () => assert.equal(seconds(words), expected));

for (const [s, expected] of [[90, "90s"], [300, "5m"], [7200, "2h"], [172800, "2d"], [3660, "61m"]])
  test(`${s} seconds are ${expected}`, () => {
    assert.equal(brief(s), expected);
    assert.equal(seconds(brief(s)), s);
  });

const NOWHERE = { display: ":5", window: "", region: null, ignore: [], pty: "", monitor: "", opened_by: null };
for (const [target, expected] of [
  [{}, "screen"],
  [{ window: "42" }, "window:42"],
  [{ region: [1, 2, 3, 4] }, "region:1,2,3,4"],
  [{ pty: "ab" }, "pty:ab"],
  [{ monitor: "HDMI-1" }, "monitor:HDMI-1"],
])
  test(`a wait on ${expected} is armed again there`, () => {
    const spec = { target: { ...NOWHERE, ...target }, until: { type: "text", text: "a" }, timeout_s: 9 };
    assert.equal(anew({ spec, display: ":5" }).target, expected);
  });

test("baselines and starts are counted anew", () => {
  const until = { type: "all", parts: [{ type: "change", baseline: "x" }, { type: "not", part: { type: "file", since_utc_s: 5 } }] };
  const made = anew({ spec: { target: NOWHERE, until }, display: ":5" }).until;
  assert.deepEqual(leavesOf(made).map((one) => [one.baseline, one.since_utc_s]), [["", undefined], [undefined, 0]]);
  assert.equal(until.parts[0].baseline, "x");
});
