// Recordings: begin, stop, watch again, take away.

import { api, query } from "../parts/api.js";
import { actionButton, confirmed, notice } from "../parts/dialog.js";
import { el, fill, keyed } from "../parts/dom.js";
import { Filters, searched } from "../parts/filters.js";
import { load } from "../parts/modules.js";
import { learn, taskName } from "../parts/names.js";
import { Panel } from "../parts/panel.js";
import { badge, card, panelHead, when } from "../parts/widgets.js";
import { bytes, count, dial, duration, stateWord } from "../parts/words.js";
import { PARTS } from "../pages.js";

const MOST = 1000;

/** @param {NamedRecording} one @param {Page} page */
export function recordingRow(one, page) {
  const path = `/api/recordings/${encodeURIComponent(one.recording_id)}`;
  const running = one.state === "recording";
  const elapsed = running
    ? el(
        "span.number",
        { "data-began": one.created_utc_s, role: "timer", "aria-label": "Elapsed" },
        dial(Date.now() / 1000 - one.created_utc_s),
      )
    : null;
  const tools = [
    el(
      "a.button",
      { href: `#/recordings/${encodeURIComponent(one.recording_id)}`, "data-focus": `open-${one.recording_id}` },
      "Replay",
    ),
    running && page.may("act")
      ? actionButton("Stop", () => api.post(`${path}/stop`), { tone: "danger", focus: `stop-${one.recording_id}` })
      : null,
    !running && page.may("admin")
      ? actionButton("Delete…", () => deleted(one, path), { focus: `delete-${one.recording_id}` })
      : null,
  ];
  return el(
    "li",
    {},
    el(
      "div.row",
      {},
      el("span.title", {}, one.name ? `${one.name} · ` : "", one.display, " · ", when(one.created_utc_s)),
      el("span.tools", {}, running ? elapsed : null, badge(one.state)),
      el(
        "span.facts",
        {},
        el("span", {}, duration(one.seconds)),
        el("span", {}, count(one.frames, "frame")),
        el("span", {}, bytes(one.size_bytes)),
        one.dropped || one.gone ? el("span.warn-text", {}, `${one.dropped + one.gone} frames missed`) : null,
        one.task_id ? el("a", { href: `#/tasks/${encodeURIComponent(one.task_id)}` }, one.name || "its task") : null,
        one.reason ? el("span", {}, one.reason) : null,
      ),
      el("span.facts", {}, el("span.tools", {}, tools, downloads(one, path))),
    ),
  );
}

/** @param {Api.RecordingInfo} one @param {string} path */
function downloads(one, path) {
  if (!one.segments.some((segment) => segment.frames)) return null;
  // The answer names the file.
  return el("a", { href: `${path}/download`, download: "", "aria-label": `Download the MP4 of ${one.display}` }, "MP4");
}

/** @param {Api.RecordingInfo} one @param {string} path */
async function deleted(one, path) {
  const lines = [
    `${duration(one.seconds)} of ${one.display}, ${bytes(one.size_bytes)}, are deleted from the disk.`,
    "This can't be undone.",
  ];
  if (await confirmed("Delete this recording?", lines, "Delete")) await api.del(path);
}

/** @param {HTMLElement} element @param {Page} page @param {string[]} given @param {URLSearchParams} values */
export async function mount(element, page, [chosen], values) {
  if (chosen) return mountOne(element, page, chosen, values);
  const list = el("ul.rows", { "aria-label": "Recordings" });
  const body = el("div", {});
  const filters = new Filters("recordings", ["display", "task", "state", "within"], values, () => {
    if (panel.data) panel.took(panel.data);
  });
  const panel = new Panel(body, page.bus, {
    load: async (signal) => {
      const { recordings } = await api.get(query("/api/recordings", { limit: MOST }), signal);
      await learn({ tasks: recordings.map((one) => one.task_id) }, signal);
      return recordings.map((one) => ({ ...one, name: taskName(one.task_id) }));
    },
    topics: ["recording."],
    everyMs: 5000,
    isEmpty: (rows) => !rows.length,
    empty: () => [
      el("p", {}, "Nothing has been recorded yet."),
      el(
        "p",
        {},
        "Where a display is up, it can be recorded here; on the host: ",
        el("code", {}, "acud record start"),
        ".",
      ),
    ],
    show: (place, rows) => {
      filters.offerFrom(rows.map(facets), (name, value) =>
        name === "task" ? taskName(value) : name === "state" ? stateWord(value).word : value,
      );
      const shown = rows.filter((/** @type {NamedRecording} */ one) => filters.fits(facets(one)));
      filters.say(shown.length, rows.length);
      keyed(
        list,
        shown,
        (one) => one.recording_id,
        (one) => recordingRow(one, page),
      );
      fill(place, shown.length ? list : el("p.nothing", {}, "None of these recordings fits the search and the filters."));
    },
  });
  fill(element, panelHead("Recordings"), filters.node, el("div.card", {}, page.may("act") ? starter() : null, body));
  const timer = setInterval(() => elapsed(element), 1000);
  return () => {
    clearInterval(timer);
    panel.stop();
  };
}

/** @param {NamedRecording} one */
function facets(one) {
  const { display, state, task_id: task, created_utc_s: utcS } = one;
  return { display, state, task, utcS, words: searched(display, one.name, one.reason, one.recording_id) };
}

/** @param {HTMLElement} root */
function elapsed(root) {
  for (const node of root.querySelectorAll("[data-began]"))
    node.textContent = dial(Date.now() / 1000 - Number(node.dataset.began));
}

function starter() {
  const choice = el("select", { name: "display" });
  const fps = el(
    "select",
    { name: "fps" },
    [
      ["", "as set"],
      ["2", "2"],
      ["5", "5"],
      ["10", "10"],
      ["30", "30"],
    ].map(([value, words]) => el("option", { value }, words)),
  );
  const button = actionButton(
    "Record",
    async () => {
      await api.post("/api/recordings", { display: choice.value, ...(fps.value ? { fps: Number(fps.value) } : {}) });
      notice(`Recording ${choice.value}.`);
    },
    { tone: "primary" },
  );
  const form = el(
    "div.form",
    { role: "group", "aria-label": "Record a display" },
    el("label.field", {}, "Display", choice),
    el("label.field", {}, "Frames a second", fps),
    button,
  );
  form.hidden = true;
  const offer = async () => {
    const up = (await api.get("/api/displays")).displays.filter((one) => one.state === "up");
    fill(
      choice,
      up.map((one) => el("option", { value: one.name }, `${one.name} (${one.width}×${one.height})`)),
    );
    form.hidden = !up.length;
  };
  // The list below tells of a daemon that does not answer.
  offer().catch((fault) => {
    if (fault.status === undefined) throw fault;
  });
  return form;
}

/** @param {HTMLElement} element @param {Page} page @param {string} recordingId @param {URLSearchParams} values */
async function mountOne(element, page, recordingId, values) {
  /** @type {`/api/recordings/${string}`} */
  const path = `/api/recordings/${encodeURIComponent(recordingId)}`;
  const [found, { mountReplay }] = await Promise.all([api.get(path), load(PARTS.replay)]);
  const one = found.recording;
  const replay = el("div.replay", {});
  const trial = el("div", {});
  const about = el("ul.rows", { "aria-label": "The recording" });
  const panel = new Panel(el("div", {}), page.bus, {
    load: (signal) => api.get(path, signal),
    topics: ["recording."],
    everyMs: 5000,
    show: (_body, data) =>
      keyed(
        about,
        [data.recording],
        (row) => row.recording_id,
        (row) => recordingRow(row, page),
      ),
  });
  fill(
    element,
    panelHead(`Recording of ${one.display}`, el("a.button", { href: "#/recordings" }, "← Recordings")),
    replay,
    trial,
    card("About it", about),
  );
  const stop = await mountReplay(replay, page.api, recordingId, Number(values.get("at")) || 0, (values.get("hide") ?? "").split(","));
  const stopTrial = page.may("wait") ? await (await load(PARTS.replay_trial)).mountTrial(trial, page, one, replay) : undefined;
  const timer = setInterval(() => elapsed(element), 1000);
  return () => {
    clearInterval(timer);
    panel.stop();
    stop();
    stopTrial?.();
  };
}
