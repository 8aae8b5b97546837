// What a person's keys and wheel are on a display, and the order in which they are sent.

import assert from "node:assert/strict";
import { test } from "node:test";

import { action, modified, real } from "../../clients/acud_web/static/takeover/keys.js";
import { Wheel } from "../../clients/acud_web/static/takeover/pointer.js";
import { ActionQueue, append } from "../../clients/acud_web/static/takeover/queue.js";

const event = ({ altGraph = false, ...given }) => ({ location: 0, ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, isComposing: false, ...given,
  getModifierState: (name) => name === "AltGraph" && altGraph });

for (const [given, expected] of [
  [{ key: "a" }, { type: "type", text: "a" }],
  [{ key: "A", shiftKey: true }, { type: "type", text: "A" }],
  [{ key: "😀" }, { type: "type", text: "😀" }],
  [{ key: "a", ctrlKey: true }, { type: "key", chord: "ctrl+a" }],
  [{ key: "T", ctrlKey: true, shiftKey: true }, { type: "key", chord: "ctrl+shift+t" }],
  [{ key: "+", ctrlKey: true, shiftKey: true }, { type: "key", chord: "ctrl+plus" }],
  [{ key: " ", ctrlKey: true }, { type: "key", chord: "ctrl+space" }],
  [{ key: "é", altKey: true }, { type: "key", chord: "alt+é" }],
  [{ key: "€", ctrlKey: true, altKey: true, altGraph: true }, { type: "type", text: "€" }],
  [{ key: "Enter" }, { type: "key", chord: "Return" }],
  [{ key: "Enter", location: 3 }, { type: "key", chord: "KP_Enter" }],
  [{ key: "Tab", shiftKey: true }, { type: "key", chord: "shift+Tab" }],
  [{ key: "ArrowLeft", ctrlKey: true, shiftKey: true }, { type: "key", chord: "ctrl+shift+Left" }],
  [{ key: "PageDown" }, { type: "key", chord: "Next" }],
  [{ key: "F11" }, { type: "key", chord: "F11" }],
  [{ key: "d", metaKey: true }, { type: "key", chord: "super+d" }],
  [{ key: "Shift", shiftKey: true }, null],
  [{ key: "Dead" }, null],
  [{ key: "a", isComposing: true }, null],
  [{ key: "Process" }, null],
  [{ key: "Unidentified" }, null],
])
  test(`the key ${JSON.stringify(given)}`, () => assert.deepEqual(action(event(given)), expected));

for (const [given, expected] of [
  [{ key: "a" }, { hold: "a" }],
  [{ key: "A", shiftKey: true }, { hold: "a" }],
  [{ key: "A" }, { action: { type: "type", text: "A" }, free: "all" }],
  [{ key: "%", shiftKey: true }, { action: { type: "type", text: "%" }, free: "all" }],
  [{ key: "%", shiftKey: true, ctrlKey: true }, { action: { type: "key", chord: "%" }, free: "shift" }],
  [{ key: "Control", location: 2, ctrlKey: true }, { hold: "Control_R" }],
  [{ key: "d", metaKey: true }, null],
])
  test(`held, the key ${JSON.stringify(given)}`, () => assert.deepEqual(real(event(given)), expected));

test("modifiers that wait for a key join it once", () => {
  assert.deepEqual(modified({ type: "key", chord: "ctrl+a" }, ["ctrl", "alt"]), { type: "key", chord: "alt+ctrl+a" });
  assert.deepEqual(modified({ type: "type", text: "A" }, ["ctrl"]), { type: "key", chord: "ctrl+a" });
  assert.deepEqual(modified({ type: "type", text: "words" }, ["ctrl"]), { type: "type", text: "words" });
});

for (const [before, next, expected] of [
  [{ type: "move", to: [1, 1] }, { type: "move", to: [2, 2] }, [{ type: "move", to: [2, 2] }]],
  [{ type: "type", text: "a" }, { type: "type", text: "b" }, [{ type: "type", text: "ab" }]],
  [{ type: "hold", what: "a" }, { type: "release", what: "a" }, [{ type: "key", chord: "a" }]],
  [{ type: "hold", what: "Shift_L" }, { type: "release", what: "Shift_L" }, [{ type: "hold", what: "Shift_L" }, { type: "release", what: "Shift_L" }]],
  [{ type: "hold", what: "mouse:left" }, { type: "release", what: "mouse:left" }, [{ type: "hold", what: "mouse:left" }, { type: "release", what: "mouse:left" }]],
])
  test(`${before.type} then ${next.type} of ${JSON.stringify(next.what ?? next.to ?? next.text)}`, () => {
    const waiting = [before];
    append(waiting, next);
    assert.deepEqual(waiting, expected);
  });

test("one request is under way at a time, and what is refused stops what follows", async () => {
  const sent = [];
  const faults = [];
  const send = async (batch) => {
    sent.push(batch.map((one) => one.chord));
    if (sent.length === 2) throw { status: 409, done: 1 };
  };
  const queue = new ActionQueue(send, (fault, undone) => faults.push([fault.status, undone]));
  for (const chord of ["a", "b", "c", "d"]) queue.push({ type: "key", chord });
  await queue.idle();
  assert.deepEqual([sent, faults], [[["a"], ["b", "c", "d"]], [[409, 1]]]);
});

test("a key that the display does not know stops itself alone", async () => {
  const sent = [];
  const send = async (batch) => {
    sent.push(batch.map((one) => one.chord));
    if (sent.length === 1) throw { status: 422, done: 0 };
  };
  const queue = new ActionQueue(send, () => {});
  queue.push({ type: "key", chord: "a" }, { type: "key", chord: "b" });
  await queue.idle();
  assert.deepEqual(sent, [["a", "b"], ["b"]]);
});

test("a wheel is counted in notches, and what is left over counts with the next", () => {
  const wheel = new Wheel();
  const turn = (deltaY) => wheel.turned(event({ deltaMode: 0, deltaX: 0, deltaY }), [1, 2]).map((one) => [one.direction, one.amount]);
  assert.deepEqual([turn(60), turn(60), turn(-100)], [[], [["down", 1]], [["up", 1]]]);
});
