// Small pieces that several panels show.

import { el, svg } from "./dom.js";
import { ago, clock, duration, iso, moment, stateWord } from "./words.js";

/** @param {string} state @param {string} [more] */
export function badge(state, more = "") {
  const { tone, sign, word } = stateWord(state);
  return el(
    "span",
    { class: `badge ${tone}` },
    el("i", { "aria-hidden": "true" }, sign),
    more ? `${word} ${more}` : word,
  );
}

/** @param {string} title @param {Nested} body @param {...Nested} tools */
export function card(title, body, ...tools) {
  return el(
    "section.card",
    { "aria-label": title },
    el("div.head", {}, el("h2", {}, title), el("div.tools", {}, tools)),
    body,
  );
}

/** @param {string} title @param {...Nested} tools */
export function panelHead(title, ...tools) {
  return el("div.head", {}, el("h1", {}, title), el("div.tools", {}, tools));
}

// A time, told as a clock time of where the reader is; how long ago that was shows on hover.
/** @param {number | null} [utcS] */
export function when(utcS) {
  return utcS ? el("time", { datetime: iso(utcS) }, clock(utcS)) : el("span", {}, "never");
}

// Keep what times say on hover right: it is made as the pointer comes.
export function hoverTimes() {
  document.addEventListener("pointerover", (event) => {
    const node = /** @type {HTMLTimeElement | null} */ (/** @type {Element} */ (event.target).closest?.("time[datetime]"));
    if (!node) return;
    const utcS = Date.parse(node.dateTime) / 1000;
    node.title = `${utcS > Date.now() / 1000 ? `in ${duration(utcS - Date.now() / 1000)}` : ago(utcS)} · ${moment(utcS)}`;
  });
}

/** @param {([name: string, value: Nested] | null)[]} rows */
export function facts(rows) {
  const shown = rows.filter((row) => row !== null).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "dl.facts-list",
    {},
    shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

/** The tone of a verdict, by its answer. @type {Record<string, string>} */
export const ANSWER_TONES = { yes: "good", no: "quiet", unknown: "warn" };

/** @type {Record<string, string>} */
const ITEM_TONES = { completed: "good", failed: "bad", active: "accent", skipped: "quiet" };

// How far a plan is, as a bar of its items' states and in words.
/** @param {Api.PlanItem[]} items */
export function progress(items) {
  if (!items.length) return el("span.progress", {}, "no plan");
  const order = ["completed", "failed", "skipped", "active"];
  const ended = items.filter((item) => ["completed", "failed", "skipped"].includes(item.status)).length;
  let x = 0;
  const bars = order.map((status) => {
    const width = (100 * items.filter((item) => item.status === status).length) / items.length;
    const bar = svg(`rect.${ITEM_TONES[status]}`, { x, y: 0, width, height: 6 });
    x += width;
    return bar;
  });
  const drawn = svg("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, bars);
  return el("span.progress", {}, drawn, `${ended} of ${items.length}`);
}

// A choice of a few: pressed buttons.
/** @param {string} label @param {string[][]} choices @param {string} chosen
 * @param {(value: string) => void} choose
 */
export function segments(label, choices, chosen, choose) {
  const buttons = choices.map(([value, words]) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(value === chosen),
        "data-focus": `segment-${value}`,
        onclick: () => {
          for (const button of buttons)
            button.setAttribute(
              "aria-pressed",
              String(button === buttons[choices.findIndex((one) => one[0] === value)]),
            );
          choose(value);
        },
      },
      words,
    ),
  );
  return el("div.segments", { role: "group", "aria-label": label }, buttons);
}

/** @param {string} words @param {() => unknown} more */
export function moreButton(words, more) {
  return el("button.more", { type: "button", onclick: more }, words);
}
