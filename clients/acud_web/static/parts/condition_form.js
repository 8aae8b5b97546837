// A form for conditions of every kind that the daemon offers, one or several together; it says what the API calls `until`.

import { api } from "./api.js";
import { el, fill } from "./dom.js";

const TOGETHER = [["all", "all hold at once"], ["any", "one of them holds"], ["then", "they hold one after the other"]];

let forms = 0;

/** Ask which kinds of conditions there are. */
export const offeredKinds = async () => (await api.get("/api/conditions")).kinds;

/** @param {Api.OfferedField} field */
const isImage = (field) => field.schema?.contentEncoding === "base64";

/** @param {Api.OfferedField} field */
const isNumber = (field) => ["number", "integer"].includes(field.schema?.type);

export class ConditionForm {
  /** `kinds`: of `offeredKinds`; `may(scope)`; `recorded`: only what a recording can answer; `cut()`: the PNG of the
   * chosen region in base64, or "".
   * @param {Api.OfferedKind[]} kinds
   * @param {{ may: (scope: string) => boolean; recorded?: boolean; cut?: (() => string) | null }} given
   */
  constructor(kinds, { may, recorded = false, cut = null }) {
    this.id = ++forms;
    this.cut = cut;
    this.kinds = kinds.filter((kind) => (!recorded || kind.is_recorded) && may(kind.scope) && (cut || !kind.fields.some(isImage)));
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
      form.kinds.map(({ type: value, title }) => el("option", { value }, title)));
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
    const kind = /** @type {Api.OfferedKind} */ (this.form.kinds.find((one) => one.type === type));
    /** @type {[Api.OfferedField, any][]} */
    this.fields = kind.fields.map((field) => [field, this.control(field, values[field.name])]);
    fill(this.place, this.fields.map(([field, control]) => labelled(field, control)));
  }

  /** @param {Api.OfferedField} field @param {any} value */
  control(field, value) {
    const { name, choices, schema = {}, placeholder, offers } = field;
    if (choices) return el("select", { name }, choices.map(([words]) => el("option", {}, words)));
    if (schema.type === "boolean") return el("input", { type: "checkbox", name, checked: Boolean(value) });
    if (isImage(field)) return new Cutting(this.form.cut, value ?? "");
    /** @param {number | undefined} bound */
    const scaled = (bound) => bound === undefined ? bound : bound * (field.scale ?? 1);
    const limits = isNumber(field)
      ? { type: "number", min: scaled(schema.minimum ?? schema.exclusiveMinimum), max: scaled(schema.maximum), step: schema.type === "integer" ? 1 : "any" }
      : { type: "text", maxlength: schema.maxLength, list: offers && `${offers}-${this.form.id}` };
    return el("input", { name, required: field.is_required, placeholder, autocomplete: "off", value: value ?? field.value, ...limits });
  }

  isValid() {
    return this.fields.every(([, control]) => control.reportValidity());
  }

  until() {
    const values = this.fields.map(([field, control]) => fieldValue(field, control));
    const { not, ...part } = Object.assign({ type: this.type }, ...values);
    return not ? { type: "not", part } : part;
  }
}

/** @param {Api.OfferedField} field @param {any} control */
function labelled(field, control) {
  if (isImage(field)) return control.node;
  return field.schema?.type === "boolean" ? el("label.check", {}, control, field.label) : el("label.field", {}, field.label, control);
}

/** @param {Api.OfferedField} field @param {any} control */
function fieldValue(field, control) {
  if (field.choices) return field.choices[control.selectedIndex][1];
  const value = isNumber(field) ? Number(control.value) / (field.scale ?? 1) : control.value;
  return { [field.name]: field.schema?.type === "boolean" ? control.checked : value };
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
