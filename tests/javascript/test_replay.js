// A recording's time line: where each frame is, what lies between, and which marks are of what.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.js";
import { Axis, neighbour } from "../../clients/acud_web/static/pages/replay_axis.js";
import { filtered, verdictRuns, words } from "../../clients/acud_web/static/pages/replay_marks.js";
import { momentOf } from "../../clients/acud_web/static/parts/moments.js";

const segment = (number, begin, seconds, ...at) => ({ number, start_utc_ms: begin, seconds, width: 4, height: 3, reason: number === 1 ? "the server ended" : "",
  rows: at.map((at_ms, frame) => ({ at_ms, utc_ms: begin + at_ms, frame })) });
const AXIS = new Axis([segment(1, 1000, 4, 0, 500, 3000), segment(2, 10_000, 2, 0, 100), segment(3, 20_000, 1)]);

test("a segment without a frame is none", () => assert.deepEqual([AXIS.segments.length, AXIS.frames.length], [2, 5]));

for (const [utc_ms, index] of [[0, 0], [1499, 0], [1500, 1], [9000, 2], [10_050, 3], [99_999, 4]])
  test(`the newest frame at ${utc_ms} is number ${index}`, () => assert.equal(AXIS.indexAt(utc_ms), index));

test("a frame is sought in the middle of its time", () => assert.deepEqual(AXIS.frames.map((one) => one.seek_s), [0.02, 0.52, 3.02, 0.02, 0.12]));

test("what a video shows at a time is a frame of its segment", () => {
  assert.deepEqual([AXIS.indexIn(AXIS.segments[0], 2999), AXIS.indexIn(AXIS.segments[1], 5000)], [1, 4]);
});

test("stillness and gaps are stretches", () => {
  assert.deepEqual(AXIS.stills, [{ begin: 1500, end: 4000 }, { begin: 10_100, end: 12_000 }]);
  assert.deepEqual(AXIS.gaps, [{ begin: 5000, end: 10_000, reason: "the server ended" }]);
});

test("shares stay on the line", () => assert.deepEqual([0, 6500, 99_999].map((at) => AXIS.share(at)), [0, 0.5, 1]));

test("the last frame shows to the end of its segment", () => assert.deepEqual([AXIS.shown_ms(0), AXIS.shown_ms(2)], [500, 1000]));

test("no frames are empty", () => assert.ok(new Axis([]).isEmpty));

const mark = (utc_ms, kind, title, more = {}) => ({ utc_ms, kind, title, id: "w", text: "", answer: null, points: [], ...more });
const MARKS = [
  mark(10, "wait", "watching"),
  mark(20, "verdict", "ocr", { answer: "no" }),
  mark(30, "verdict", "ocr", { answer: "no" }),
  mark(40, "verdict", "ocr", { answer: "yes", text: "Download Complete" }),
  mark(40, "wait", "resolved", { answer: "yes" }),
  mark(50, "action", "gui, failed"),
  mark(60, "message", "user"),
];

test("marks are called what they are of", () => {
  assert.deepEqual(MARKS.map(words), ["Wait armed", "ocr → no", "ocr → no", "ocr → yes", "Wait resolved", "Action, failed", "Person"]);
});

test("the next mark and the one before", () => {
  assert.deepEqual([neighbour(MARKS, 20, true)?.utc_ms, neighbour(MARKS, 20, false)?.utc_ms, neighbour(MARKS, 60, true)], [30, 10, undefined]);
});

test("a filter goes by kind and by words, whatever their case", () => {
  assert.equal(filtered(MARKS, new Set(["verdict"]), " complete ").length, 1);
  assert.equal(filtered(MARKS, new Set(["wait", "message"]), "").length, 3);
});

test("verdicts that say the same are one run, and the end of a wait is no verdict more", () => {
  assert.deepEqual(verdictRuns(MARKS, "w"), [
    { answer: "no", from_ms: 20, until_ms: 40, count: 2 },
    { answer: "yes", from_ms: 40, until_ms: 40, count: 1 },
  ]);
  assert.deepEqual(verdictRuns(MARKS, "other"), []);
});

const film = (display, state = "done") => ({ recording_id: display, display, state, segments: [segment(1, 100_000, 10, 0)] });

for (const [atMs, display, state, is] of [
  [105_000, "", "done", true],
  [99_500, "", "done", true],
  [98_000, "", "done", false],
  [113_000, "", "done", false],
  [113_000, "", "recording", true],
  [105_000, ":7", "done", false],
])
  test(`${atMs} of ${display || "any display"} is ${is ? "" : "not "}in a film that is ${state}`, () => {
    assert.equal(Boolean(momentOf([film(":5", state)], atMs, display)), is);
  });
