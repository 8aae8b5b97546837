// One action of a task: what it was, its logs and data, who judged it for how much, and how the screen looked then.

import { lightbox } from "../parts/dialog.js";
import { el, svg } from "../parts/dom.js";
import { evidencePictures } from "../parts/evidence.js";
import { filmed, momentOf } from "../parts/moments.js";
import { badge, when } from "../parts/widgets.js";
import { clock, duration, forPeople, money, points } from "../parts/words.js";

/** @param {Api.ActionView} given @param {() => Api.RecordingInfo[]} films */
export function actionNode({ action, logs }, films) {
  const side = [
    when(action.created_at),
    action.duration_ms !== null ? el("span", {}, duration(action.duration_ms / 1000)) : null,
    action.judge ? el("span", {}, `judged by ${action.judge}`) : null,
    action.cost_usd !== null && action.cost_usd !== undefined
      ? el("span", {}, money(action.cost_usd))
      : action.judge
        ? el("span", {}, "cost not known")
        : null,
  ];
  return el(
    "li",
    { class: `action ${action.status}` },
    el(
      "div.line",
      {},
      el("span.kind", {}, action.action_type),
      el("span.words.breaks", {}, action.summary),
      badge(action.status),
    ),
    el("div.side", {}, side, pictureButton(action, films), waitLink(action), dataButton(action)),
    logs.length
      ? el(
          "ul.logs",
          {},
          logs.map((line) =>
            el(
              "li",
              { class: /error|fail/i.test(line.log_type) ? "error" : null },
              `${line.log_type}: ${forPeople(line.content)}`,
            ),
          ),
        )
      : null,
  );
}

/** @param {Api.Action} action */
function waitLink(action) {
  return action.action_type === "wait" && action.subject
    ? el("a", { href: `#/waits/${encodeURIComponent(action.subject)}` }, "The wait")
    : null;
}

// Input and output, shown below the action when asked for.
/** @param {Api.Action} action */
function dataButton(action) {
  const given = [
    ["input", action.input_data],
    ["output", action.output_data],
  ].filter(([, value]) => value !== null && value !== undefined);
  if (!given.length) return null;
  const button = el(
    "button",
    { type: "button", "aria-expanded": "false", "data-focus": `data-${action.action_id}` },
    "Data",
  );
  button.addEventListener("click", () => {
    const host = /** @type {HTMLElement} */ (button.closest("li"));
    const shown = host.querySelector(".data-rows");
    button.setAttribute("aria-expanded", String(!shown));
    if (shown) shown.remove();
    else
      host.append(
        el(
          "div.data-rows",
          {},
          given.map(([name, value]) =>
            el("pre.data", { tabindex: "0", "aria-label": name }, `${name}: ${JSON.stringify(value, null, 2)}`),
          ),
        ),
      );
  });
  return button;
}

// ---- the screen then -----------------------------------------------------------------------------------------------------

/** @param {Api.Action} action @param {() => Api.RecordingInfo[]} films */
function pictureButton(action, films) {
  const ofWait = action.action_type === "wait" && action.subject && action.status !== "started";
  if (!ofWait && !["gui", "vision", "wait"].includes(action.action_type)) return null;
  return el(
    "button",
    { type: "button", "data-focus": `picture-${action.action_id}`, onclick: () => open(action, films()) },
    "Picture",
  );
}

/** @param {Api.Action} action @param {Api.RecordingInfo[]} films */
function open(action, films) {
  const atMs = action.created_at * 1000;
  const moment = momentOf(films, atMs);
  const ofWait = action.action_type === "wait" && action.subject ? evidencePictures(action.subject) : [];
  const ofFilm = moment
    ? [
        {
          title: `The screen at ${clock(atMs / 1000)}, from the recording: ${action.summary}`,
          node: () => filmed(moment, atMs, clickMarks(points(action), moment.segment)),
        },
      ]
    : [];
  const pictures = [...ofWait, ...ofFilm];
  if (!pictures.length)
    pictures.push({
      title: action.summary,
      node: () => el("p.nothing", {}, "There is no picture: nothing was recorded at that moment."),
    });
  lightbox(pictures);
}

// Where the clicks went, over a picture of `width` by `height`.
/** @param {{ x: number; y: number }[]} marks @param {{ width: number; height: number }} given */
function clickMarks(marks, { width, height }) {
  if (!marks.length) return null;
  const r = Math.max(8, width / 80);
  const words = `Clicks at ${marks.map(({ x, y }) => `${x}, ${y}`).join("; ")}`;
  const rings = marks.flatMap(({ x, y }) =>
    ["halo", "click"].map((kind) => svg(`circle.${kind}`, { cx: x, cy: y, r })),
  );
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words }, rings);
}
