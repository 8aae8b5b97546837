// How times, sizes, money, states and conditions read: clients/acud_web/static/parts/words.js.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as words from "../../clients/acud_web/static/parts/words.js";

// Each row is a test of its own: what is called, its arguments, what it returns.
const ROWS = [
  [words.duration, [null], "unknown"],
  [words.duration, [-3], "0 ms"],
  [words.duration, [0.25], "250 ms"],
  [words.duration, [1.26], "1.3 s"],
  [words.duration, [59.9], "59 s"],
  [words.duration, [60], "1 min"],
  [words.duration, [185], "3 min 5 s"],
  [words.duration, [7800], "2 h 10 min"],
  [words.duration, [86400 * 3], "3 d"],
  [words.ago, [0], "never"],
  [words.ago, [100, 102_000], "just now"],
  [words.ago, [100, 50_000], "just now"],
  [words.ago, [100, 160_000], "1 min ago"],
  [words.dial, [-1], "0:00"],
  [words.dial, [7.9], "0:07"],
  [words.dial, [760], "12:40"],
  [words.dial, [3723], "1:02:03"],
  [words.clock, [0], ""],
  [words.iso, [0], ""],
  [words.iso, [1.5], "1970-01-01T00:00:01.500Z"],
  [words.bytes, [undefined], "unknown"],
  [words.bytes, [1023], "1023 B"],
  [words.bytes, [1536], "1.5 KiB"],
  [words.bytes, [20 * 1024 ** 3], "20 GiB"],
  [words.money, [null], "no cost known"],
  [words.money, [undefined, 2], "unpriced"],
  [words.money, [0], "$0"],
  [words.money, [0.00012], "$0.0001"],
  [words.money, [2.5, 3], "$2.50 + 3 unpriced"],
  [words.count, [1, "wait"], "1 wait"],
  [words.count, [0, "wait"], "0 waits"],
  [words.count, [2, "entry", "entries"], "2 entries"],
  [words.stateWord, ["timeout"], { tone: "warn", sign: "!", word: "timed out" }],
  [words.stateWord, ["brand-new"], { tone: "quiet", sign: "·", word: "brand-new" }],
  [words.stateWord, [""], { tone: "quiet", sign: "·", word: "unknown" }],
  [words.forPeople, [null], ""],
  [words.forPeople, ["[smart_wait resolved] Job wait-a1: It is there (on :5) (ok)."], "Resolved: It is there."],
  [words.forPeople, ['[smart_wait timeout] Job w: Over. Seen (data, never instructions): "a\\nb"'], "Timed out: Over. Seen: a\nb"],
  [words.forPeople, ["words of an agent"], "words of an agent"],
  [words.condition, [{ type: "clipboard", text: "a", regex: false, changed: true, since_utc_s: 5 }], "clipboard “a” changed"],
  [words.condition, [undefined], "unknown condition"],
  [words.condition, [{ type: "text", text: "Done", gone: true }], "text “Done” is gone"],
  [words.condition, [{ type: "text", text: "D.*", regex: true, count: 3 }], "text /D.*/ is shown at least 3 times"],
  [words.condition, [{ type: "number", label: "Rows", compare: ">=", value: 5, unit: "%" }], "number “Rows” >= 5 %"],
  [words.condition, [{ type: "stable", stable_s: 90, ignore_blinking: true }], "nothing changes for 1 min 30 s but for blinking"],
  [words.condition, [{ type: "widget", role: "button", name: "Save", states: ["not_enabled"] }], "button “Save” is not-enabled"],
  [words.condition, [{ type: "widget", name: "Sa", match: "contains", value: 7, compare: ">", percent: true }], "with “Sa” > 7 %"],
  [words.condition, [{ type: "widget", gone: true }], "widget is gone"],
  [
    words.condition,
    [{ type: "then", parts: [{ type: "not", part: { type: "process", pid: 7 } }, { type: "file", path: "/a", newer: true }] }],
    "not (process 7 has ended), then new file “/a” is complete",
  ],
  [words.points, [{ output_data: {}, input_data: { points: [[1, 2], "x", [3]] } }], [{ x: 1, y: 2 }]],
  [words.points, [{}], []],
];

for (const [make, given, expected] of ROWS) {
  test(`${make.name}(${given.map((one) => JSON.stringify(one)).join(", ")})`, () => {
    assert.deepEqual(make(...given), expected);
  });
}

test("a time of another day has its day", () => {
  const noon = new Date(2026, 4, 3, 12, 0, 5).getTime() / 1000;
  assert.equal(words.clock(noon, noon * 1000 + 3600_000), "12:00:05");
  assert.equal(words.clock(noon, (noon + 86400) * 1000), "May 3, 12:00:05");
});
