// A form for conditions of every kind, one or several together; it says what the API calls `until`.

import { el, fill } from "./dom.js";

const NUMBERS = [">=", ">", "=", "!=", "<", "<="];
/** @type {Record<string, string>} */
const SAID = { ">=": "is at least", ">": "is more than", "=": "is", "!=": "is not", "<": "is less than", "<=": "is at most" };
const STATES = ["enabled", "disabled", "checked", "unchecked", "mixed", "focused", "unfocused", "selected", "unselected",
  "expanded", "collapsed", "pressed", "unpressed", "editable", "read_only"];

/** @param {string} name @param {string} label @param {Partial<Field>} [more] @returns {Field} */
const text = (name, label, more = {}) => ({ name, label, kind: "text", ...more });
/** @param {string} name @param {string} label @param {Partial<Field>} [more] @returns {Field} */
const number = (name, label, more = {}) => ({ name, label, kind: "number", ...more });
/** @param {string} name @param {string} label @returns {Field} */
const check = (name, label) => ({ name, label, kind: "check" });
/** @param {string} name @param {string} label @param {string[][]} options @returns {Field} */
const choice = (name, label, options) => ({ name, label, kind: "choice", options });
/** @param {string} there @param {string} gone @returns {Field} */
const outcome = (there, gone) => choice("outcome", "Holds when it", [["", there], ["gone", gone]]);

// `build` makes of a row's values what the API takes; `read` is its inverse. A kind that is not `recorded` can't be
// tried on a recording; `needs`: the scope.
/** @type {Record<string, { title: string; recorded?: boolean; needs?: string; fields: Field[]; build(values: Record<string, any>): object }>} */
const KINDS = {
  text: {
    title: "Text", recorded: true,
    fields: [text("text", "Text", { required: true }), outcome("is shown", "is gone"), check("whole_words", "whole words"),
      check("match_case", "same case"), check("regex", "regular expression")],
    build: ({ outcome: how, ...rest }) => ({ ...rest, gone: how === "gone" }),
  },
  criteria: {
    title: "A sentence", recorded: true,
    fields: [text("criteria", "What is to be true", { required: true, placeholder: "the upload has finished" }),
      outcome("is true", "is not true")],
    build: ({ outcome: how, criteria }) => turned({ criteria }, how),
  },
  number: {
    title: "A number", recorded: true,
    fields: [text("label", "After the words", { placeholder: "Progress" }), choice("compare", "The number", NUMBERS.map((sign) => [sign, SAID[sign]])),
      number("value", "Value", { required: true, step: "any" }), text("unit", "Unit", { placeholder: "%", max: 20 })],
    build: (values) => values,
  },
  image: {
    title: "An image", recorded: true,
    fields: [{ name: "png", label: "Image", kind: "image" }, outcome("is shown", "is gone")],
    build: ({ outcome: how, png }) => ({ png, gone: how === "gone" }),
  },
  window: {
    title: "A window",
    fields: [text("title", "Words of its title", { required: true, list: "windows" }), outcome("is there", "is gone")],
    build: ({ outcome: how, title }) => ({ title, gone: how === "gone" }),
  },
  widget: {
    title: "A control",
    fields: [text("role", "Role", { placeholder: "button" }), text("name", "Name", { placeholder: "Submit" }),
      choice("state", "State", [["", "any"], ...STATES.map((state) => [state, state.replace("_", "-")])]),
      outcome("is there", "is gone")],
    build: ({ outcome: how, state, ...rest }) => ({ ...rest, states: state && how !== "gone" ? [state] : [], gone: how === "gone" }),
  },
  change: {
    title: "Something changes", recorded: true,
    fields: [number("share", "At least % of what it looks at", { min: 0, max: 100, value: 0 }), number("settle_s", "Then still for (s)", { min: 0, value: 0 })],
    build: ({ share, settle_s }) => ({ share: share / 100, settle_s }),
  },
  stable: {
    title: "Nothing changes", recorded: true,
    fields: [number("stable_s", "For (s)", { min: 0.1, value: 3, required: true }), check("ignore_blinking", "a blinking caret is no change")],
    build: (values) => values,
  },
  file: {
    title: "A file", needs: "act",
    fields: [text("path", "Path on the host", { required: true, placeholder: "~/Downloads/*.pdf" }), outcome("is complete", "is gone")],
    build: ({ outcome: how, path }) => ({ path, gone: how === "gone" }),
  },
  process: {
    title: "A process ends", needs: "act",
    fields: [number("pid", "Process id on the host", { required: true, min: 1, step: 1 })],
    build: (values) => values,
  },
};
const TOGETHER = [["all", "all hold at once"], ["any", "one of them holds"], ["then", "they hold one after the other"]];

/** @param {{ criteria: string }} part @param {string} how */
function turned(part, how) {
  return how === "gone" ? { type: "not", part: { type: "criteria", ...part } } : part;
}

let forms = 0;

export class ConditionForm {
  /** `may(scope)`; `recorded`: only what a recording can answer; `cut()`: the PNG of the chosen region in base64, or "".
   * @param {{ may: (scope: string) => boolean; recorded?: boolean; cut?: (() => string) | null }} given
   */
  constructor({ may, recorded = false, cut = null }) {
    this.id = ++forms;
    this.cut = cut;
    this.kinds = Object.entries(KINDS).filter(([type, kind]) =>
      (!recorded || kind.recorded) && (!kind.needs || may(kind.needs)) && (type !== "image" || cut));
    /** @type {Row[]} */
    this.rows = [];
    this.list = el("div.conditions", {});
    this.windows = el("datalist", { id: `windows-${this.id}` });
    this.together = el("select", { name: "together" }, TOGETHER.map(([value, words]) => el("option", { value }, words)));
    this.joined = el("label.field", { hidden: true }, "It holds when", this.together);
    this.more = el("button", { type: "button", onclick: () => this.add().focus() }, "Another condition");
    this.node = el("div.condition-form", {}, this.list, el("div.tools", {}, this.joined, this.more), this.windows);
    this.add();
  }

  /** Add a row of the kind `type`, and return it.
   * @param {Record<string, any>} [values]
   */
  add(type = "text", values = {}) {
    const row = new Row(this, type, values);
    this.rows.push(row);
    /** The row that is being edited. @type {Row} */
    this.current = row;
    this.arrange();
    return row;
  }

  /** @param {Row} row */
  remove(row) {
    this.rows.splice(this.rows.indexOf(row), 1);
    this.current = this.rows[this.rows.length - 1];
    this.arrange();
    this.current.focus();
  }

  arrange() {
    fill(this.list, this.rows.map((row) => row.node));
    const several = this.rows.length > 1;
    this.joined.hidden = !several;
    this.more.hidden = this.rows.length >= 16;
    for (const [at, row] of this.rows.entries()) row.numbered(several ? at + 1 : 0);
  }

  /** Offer the titles of `windows` where one is asked for.
   * @param {Api.WindowInfo[]} windows
   */
  offer(windows) {
    fill(this.windows, [...new Set(windows.map((one) => one.title).filter(Boolean))].map((value) => el("option", { value })));
  }

  /** Take a suggestion into the row that is being edited.
   * @param {string} type @param {Record<string, any>} values
   */
  suggest(type, values) {
    this.current.become(type, values);
  }

  /** Return the condition, or null after the fault was shown at its field.
   * @returns {AnyCondition | null}
   */
  until() {
    if (!this.rows.every((row) => row.isValid())) return null;
    const parts = this.rows.map((row) => row.until());
    return /** @type {AnyCondition} */ (parts.length > 1 ? { type: this.together.value, parts } : parts[0]);
  }
}

class Row {
  /** @param {ConditionForm} form @param {string} type @param {Record<string, any>} values */
  constructor(form, type, values) {
    this.form = form;
    this.type = type;
    /** @type {HTMLSelectElement} */
    this.kind = el("select", { name: "kind", onchange: () => this.become(this.kind.value) },
      form.kinds.map(([value, { title }]) => el("option", { value }, title)));
    this.legend = el("legend", {});
    this.place = el("div.fields", {});
    this.drop = el("button.plain", { type: "button", onclick: () => form.remove(this) }, "✕");
    this.node = el("fieldset.condition", { onfocusin: () => { form.current = this; } }, this.legend,
      el("div.kind", {}, el("label.field", {}, "Kind", this.kind), this.drop), this.place);
    this.become(type, values);
  }

  /** @param {number} number */
  numbered(number) {
    fill(this.legend, number ? `Condition ${number}` : "Condition");
    this.drop.hidden = !number;
    this.drop.setAttribute("aria-label", `Remove condition ${number}`);
  }

  focus() {
    this.kind.focus();
  }

  /** @param {string} type @param {Record<string, any>} [values] */
  become(type, values = {}) {
    this.type = type;
    this.kind.value = type;
    /** @type {[Field, any][]} */
    this.fields = KINDS[type].fields.map((field) => [field, this.control(field, values[field.name])]);
    fill(this.place, this.fields.map(([field, control]) => labelled(field, control)));
  }

  /** @param {Field} field @param {any} value */
  control(field, value) {
    if (field.kind === "choice")
      return el("select", { name: field.name }, (field.options ?? []).map(([one, words]) => el("option", { value: one, selected: one === value }, words)));
    if (field.kind === "check") return el("input", { type: "checkbox", name: field.name, checked: Boolean(value) });
    if (field.kind === "image") return new Cutting(this.form.cut, value ?? "");
    const { name, kind, required, min, max, step, placeholder, list } = field;
    const limits = kind === "number" ? { min, max, step: step ?? "any" } : { maxlength: max ?? 2000, list: list && `${list}-${this.form.id}` };
    return el("input", { type: kind, name, required, placeholder, autocomplete: "off", value: value ?? field.value, ...limits });
  }

  isValid() {
    return this.fields.every(([, control]) => control.reportValidity());
  }

  until() {
    const values = Object.fromEntries(this.fields.map(([field, control]) => [field.name, fieldValue(field, control)]));
    return { type: this.type, ...KINDS[this.type].build(values) };
  }
}

/** @param {Field} field @param {any} control */
function labelled(field, control) {
  if (field.kind === "image") return control.node;
  const kind = field.kind === "check" ? "label.check" : "label.field";
  return el(kind, {}, ...(field.kind === "check" ? [control, field.label] : [field.label, control]));
}

/** @param {Field} field @param {any} control */
function fieldValue(field, control) {
  if (field.kind === "check") return control.checked;
  return field.kind === "number" ? Number(control.value) : control.value;
}

// An image to look for: a part of the picture as it is when it is cut out.
class Cutting {
  /** @param {(() => string) | null} cut @param {string} png */
  constructor(cut, png) {
    this.cut = cut;
    this.value = png;
    this.shown = el("img", { alt: "The image to look for", hidden: true });
    this.button = el("button", { type: "button", onclick: () => this.take() }, "Cut out the region");
    this.fault = el("p.bad-text", { role: "alert", hidden: true });
    this.node = el("div.cutting", {}, this.button, this.shown, this.fault);
    this.show();
  }

  take() {
    this.value = this.cut?.() ?? "";
    this.show();
    if (!this.reportValidity()) return;
    fill(this.button, "Cut out again");
  }

  show() {
    this.shown.hidden = !this.value;
    if (!this.value) return;
    // Only what the page made itself may be shown (the content security policy): a blob, not a data URL.
    const bytes = Uint8Array.from(atob(this.value), (letter) => letter.charCodeAt(0));
    this.shown.src = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
    this.shown.onload = () => URL.revokeObjectURL(this.shown.src);
  }

  reportValidity() {
    this.fault.hidden = Boolean(this.value);
    fill(this.fault, this.value ? "" : "Draw a region on the picture first, then cut it out.");
    if (!this.value) this.button.focus();
    return Boolean(this.value);
  }
}
