// A new wait: what it looks at is drawn on the live picture, its condition is tried on what is there now, then it is armed.

import { api, query } from "../parts/api.js";
import { ConditionForm, offeredKinds } from "../parts/condition_form.js";
import { actionButton, notice } from "../parts/dialog.js";
import { el, fill } from "../parts/dom.js";
import { Screen } from "../live/screen.js";
import { nothing, sentence } from "../parts/panel.js";
import { badge, card, panelHead } from "../parts/widgets.js";
import { RegionLayer } from "../parts/region_layer.js";
import { sheet } from "../parts/sheet.js";
import { condition } from "../parts/words.js";

const EXACT = { fps: 10, max_side_px: 0 };
const MOST_OFFERED = 12;
const SLACK_PX = 3; // boxes of words lie close to their letters
const TRY_S = 60;
const READ_MS = 60_000;
const SPANS = [[60, "1 minute"], [300, "5 minutes"], [900, "15 minutes"], [3600, "1 hour"], [8 * 3600, "8 hours"], [86400, "1 day"]];
const ANSWERS = { yes: "Holds now", no: "Does not hold now", unknown: "Unknown" };

/** Show the form in `element`; `values`: `display`, `task` and `region` (x,y,w,h) to begin with. Returns what ends it.
 * @param {HTMLElement} element @param {Page} page @param {string[]} _rest @param {URLSearchParams} values
 */
export async function mount(element, page, _rest, values) {
  const [{ displays }, kinds] = await Promise.all([api.get("/api/displays"), offeredKinds(), sheet("screens.css"), sheet("making.css")]);
  const up = displays.filter((one) => one.state === "up");
  if (!page.may("wait")) return refused(element);
  if (!up.length) return without(element, page);
  const form = new NewWait(page, up, kinds, values);
  fill(element, form.node);
  return () => form.end();
}

/** @param {HTMLElement} element */
function refused(element) {
  fill(element, panelHead("New wait"), el("div.card", {}, nothing("This session may only look. One of scope “wait” may wait for things.")));
  return () => {};
}

/** @param {HTMLElement} element @param {Page} page */
function without(element, page) {
  const make = page.may("act") ? el("p", {}, el("a.button", { href: "#/screens/new" }, "New display")) : null;
  fill(element, panelHead("New wait"), el("div.card", {}, nothing([el("p", {}, "No display is up, so there is nothing to look at."), make])));
  return () => {};
}

class NewWait {
  /** @param {Page} page @param {Api.DisplayInfo[]} displays @param {Api.OfferedKind[]} kinds @param {URLSearchParams} values */
  constructor(page, displays, kinds, values) {
    this.page = page;
    this.taskId = values.get("task") ?? "";
    this.layer = new RegionLayer(() => this.size, () => this.drawn());
    this.conditions = new ConditionForm(kinds, { may: page.may, cut: () => this.cut() });
    this.display = displays.find((one) => one.name === values.get("display")) ?? displays[0];
    this.screen = new Screen(api, this.display, EXACT);
    /** @type {Api.Scene | null} */
    this.scene = null;
    this.unread = "";
    this.ended = false;
    const options = displays.map((one) => el("option", { value: one.name }, one.name));
    /** @type {HTMLSelectElement} */
    this.which = el("select", { name: "display", onchange: () => this.open(displays.find((one) => one.name === this.which.value) ?? displays[0]) }, options);
    this.where = el("select", { name: "target", onchange: () => this.aimed() });
    this.picture = el("div.draw-picture", {});
    this.offers = el("div.offers", { role: "group", "aria-label": "What is there now" });
    this.span = el("select", { name: "timeout" }, SPANS.map(([value, words]) => el("option", { value, selected: value === 900 }, words)));
    this.label = el("input", { name: "label", maxlength: 200, autocomplete: "off", placeholder: "as its condition" });
    this.task = el("select", { name: "task" }, el("option", { value: "" }, "none"));
    this.judge = el("select", { name: "judge" }, el("option", { value: "auto" }, "as set"), el("option", { value: "ocr" }, "the text on the screen only"));
    this.said = el("div.tried", { role: "status", "aria-label": "Tried on the present picture" });
    this.node = this.build();
    this.askTasks();
    this.askJudges();
    this.open(this.display);
    const region = (values.get("region") ?? "").split(",").map(Number);
    if (region.length === 4 && region.every(Number.isFinite)) {
      this.layer.set(region);
      this.drawn();
    }
  }

  /** @returns {[width: number, height: number]} */
  get size() {
    return [this.display.width || 4, this.display.height || 3];
  }

  build() {
    return el("div.grid", {},
      el("div.head", {}, el("a.button", { href: "#/waits" }, "← Waits"), el("h1", {}, "New wait")),
      el("div.making", {},
        el("div.grid", {}, this.picture, el("p", { class: "muted small" }, "Drag on the picture to look at a part of it.")),
        el("form.grid", { onsubmit: (event) => event.preventDefault() },
          card("Looks at", el("div.body.fields", {}, el("label.field", {}, "Display", this.which), el("label.field", {}, "Part", this.where), this.layer.fields, this.offers)),
          card("Until", el("div.body", {}, this.conditions.node)),
          card("About it", el("div.body.fields", {}, el("label.field", {}, "Gives up after", this.span), el("label.field", {}, "Name", this.label),
            el("label.field", {}, "For the task", this.task), el("label.field", {}, "Sentences are judged by", this.judge))),
          el("div.act-bar", {}, this.said, el("div.tools", {}, actionButton("Try it now", () => this.tried(), { focus: "try" }),
            actionButton("Start waiting", () => this.armed(), { tone: "primary", focus: "arm" }))))));
  }

  end() {
    this.ended = true;
    this.screen.end();
  }

  // ---- what it looks at -------------------------------------------------------------------------------------------------

  /** @param {Api.DisplayInfo} display */
  open(display) {
    this.screen.end();
    this.display = display;
    this.which.value = display.name;
    this.screen = new Screen(api, display, EXACT);
    this.screen.tell();
    this.layer.set(null);
    this.screen.picture.append(this.layer.node);
    fill(this.picture, this.screen.picture, el("p.screen-state", {}, this.screen.badge));
    const rows = display.windows.filter((one) => one.title && one.kind !== "popup");
    const monitors = (display.monitors ?? []).length > 1 ? display.monitors : [];
    fill(this.where, el("option", { value: "" }, "the whole display"), el("option", { value: "region" }, "a region of it"),
      rows.map((one) => el("option", { value: `window:${one.window_id}` }, `the window “${one.title}”`)),
      monitors.map((one) => el("option", { value: `monitor:${one.name}` }, `the monitor ${one.name}`)));
    this.conditions.offer(rows);
    this.aimed();
    this.read();
  }

  drawn() {
    this.where.value = this.layer.box ? "region" : "";
    this.aimed();
  }

  aimed() {
    if (this.where.value === "region" && !this.layer.box) this.layer.set([0, 0, ...this.size]);
    this.layer.fields.hidden = this.where.value !== "region";
    this.layer.mark.hidden = !this.layer.box || this.where.value !== "region";
    this.offer();
    fill(this.said);
  }

  /** The box that is looked at: texts and controls in it are offered.
   * @returns {Api.Rect}
   */
  get box() {
    if (this.where.value === "region" && this.layer.box) return this.layer.box;
    const window = this.display.windows.find((one) => `window:${one.window_id}` === this.where.value);
    return window?.bounds ?? [0, 0, ...this.size];
  }

  get target() {
    return this.where.value === "region" && this.layer.box ? `region:${this.layer.box.join(",")}` : this.where.value || "screen";
  }

  /** The PNG of the region as it is painted now, in base64; "" without a region. */
  cut() {
    if (!this.layer.box) return "";
    const [x, y, width, height] = this.layer.box;
    const part = el("canvas", { width, height });
    part.getContext("2d")?.drawImage(this.screen.canvas, x, y, width, height, 0, 0, width, height);
    return part.toDataURL("image/png").split(",")[1];
  }

  // ---- what is there is offered -----------------------------------------------------------------------------------------

  async read() {
    const { name } = this.display;
    this.scene = null;
    fill(this.offers, el("p.muted", { class: "muted small" }, "Reading what is there…"));
    try {
      const { scene } = await api.get(query("/api/scene", { display: name, mode: "active", within_s: 45 }), undefined, READ_MS);
      if (name === this.display.name && !this.ended) this.scene = scene;
    } catch (/** @type {any} */ fault) {
      if (fault.status === undefined) throw fault;
      if (name === this.display.name) this.unread = sentence(fault.error);
    }
    if (name === this.display.name) this.offer();
  }

  offer() {
    if (!this.scene && !this.unread) return;
    const texts = this.scene ? this.scene.ocr.map((one) => textIn(one, this.box)).filter(Boolean) : [];
    const controls = this.scene ? this.scene.ax.filter((one) => within(one.bbox, this.box) && one.label && !one.secure && !one.offscreen) : [];
    const ocr = this.scene?.providers.at(0)?.ocr;
    const unread = this.unread || (ocr && ocr.state !== "ready" && ocr.reason ? `Its text could not be read: ${ocr.reason}` : "");
    fill(this.offers,
      el("div.head", {}, el("h3", {}, "What is there now"), el("div.tools", {}, el("button", { type: "button", onclick: () => this.read() }, "Read again"))),
      this.chips("Text", texts.map((words) => [words, "text", { text: words }])),
      this.chips("Controls", controls.map((one) => [`${one.role} “${one.label}”`, "widget", { role: one.role, name: one.label }])),
      texts.length || controls.length ? null : el("p", { class: "muted small" }, unread || "No text and no control was found in this part."));
  }

  /** @param {string} title @param {[words: string, type: string, values: object][]} rows */
  chips(title, rows) {
    if (!rows.length) return null;
    const unlike = [...new Map(rows.map((row) => [row[0], row])).values()];
    const buttons = unlike.slice(0, MOST_OFFERED).map(([words, type, values]) =>
      el("button.offer", { type: "button", title: words, onclick: () => this.conditions.suggest(type, values) }, words.length > 48 ? `${words.slice(0, 47)}…` : words));
    const rest = unlike.length - buttons.length;
    return el("div.offer-row", { role: "group", "aria-label": `${title} found there` }, buttons, rest > 0 ? el("span.muted", { class: "muted small" }, `and ${rest} more: draw a smaller region`) : null);
  }

  // ---- tasks and judges, where this session may see them ----------------------------------------------------------------

  async askTasks() {
    const found = await had(api.get(query("/api/tasks", { status: ["active", "paused"], limit: 200 })));
    if (!found) return;
    this.task.append(...found.tasks.map(({ task }) => el("option", { value: task.task_id, selected: task.task_id === this.taskId }, task.name)));
  }

  async askJudges() {
    const found = await had(api.get("/api/health"));
    const names = (found?.judges ?? []).map((one) => one.name).filter((name) => name && !["ocr", "auto"].includes(name));
    this.judge.append(...[...new Set(names)].map((value) => el("option", { value }, value)));
  }

  // ---- trying and arming ------------------------------------------------------------------------------------------------

  /** What the API takes, or null after a fault was shown. */
  body() {
    const until = this.conditions.until();
    return until && { until, target: this.target, display: this.display.name, judge: this.judge.value };
  }

  async tried() {
    const body = this.body();
    if (!body) return;
    fill(this.said, el("p.muted", {}, "Looking…"));
    try {
      const { until: whole } = body;
      const parts = whole.type === "then" ? whole.parts : [whole]; // each part is tried by itself: a sequence is no single look
      const tries = await Promise.all(parts.map((until) => api.post("/api/waits/try", { ...body, until, block_s: TRY_S })));
      if (!this.ended) fill(this.said, tries.map((tried, at) => verdict(tried, whole.type === "then" ? condition(parts[at]) : "")));
    } catch (/** @type {any} */ fault) {
      this.failed(fault);
    }
  }

  async armed() {
    const body = this.body();
    if (!body) return;
    const task = this.task.value ? { task_id: this.task.value } : {};
    try {
      const { wait, notes } = await api.post("/api/waits", { ...body, ...task, timeout_s: Number(this.span.value), label: this.label.value.trim() });
      for (const note of notes) notice(sentence(note), "warn");
      this.page.go(`waits/${encodeURIComponent(wait.wait_id)}`);
    } catch (/** @type {any} */ fault) {
      this.failed(fault);
    }
  }

  /** @param {any} fault */
  failed(fault) {
    if (fault.status === undefined) throw fault;
    fill(this.said, el("p.bad-text", {}, sentence(fault.error), fault.hint ? ` ${sentence(fault.hint)}` : ""));
  }
}

/** @param {Api.WaitTryReply} given @param {string} part */
function verdict({ verdict: said }, part) {
  const { answer } = said;
  const none = said.code === "not_judged" ? "No judge has answered within a minute." : "";
  return el("div.verdict", {}, badge(answer, ""), el("p", {}, part ? `${part}: ` : "", el("strong", {}, `${ANSWERS[answer]}.`), " ", none || sentence(said.detail)));
}

// What of a line stands in the box whole: a word that is cut there is not read there.
/** @param {Api.OcrElement} given @param {Api.Rect} box */
function textIn({ text, bbox, words }, box) {
  const inside = words.filter(([, place]) => within(place, box)).map(([word]) => word);
  return words.length ? inside.join(" ").trim() : within(bbox, box) ? text.trim() : "";
}

/** @param {Api.Rect} given @param {Api.Rect} given */
function within([x, y, w, h], [left, top, width, height]) {
  return x >= left - SLACK_PX && y >= top - SLACK_PX && x + w <= left + width + SLACK_PX && y + h <= top + height + SLACK_PX;
}

// What is optional here may be refused to this session.
/** @template Answer @param {Promise<Answer>} asked @returns {Promise<Answer | null>} */
function had(asked) {
  return asked.catch((fault) => {
    if (fault.status === undefined) throw fault;
    return null;
  });
}
