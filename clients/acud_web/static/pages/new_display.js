// A new display: its size.

import { api } from "../parts/api.js";
import { actionButton, notice } from "../parts/dialog.js";
import { el, fill } from "../parts/dom.js";
import { nothing, sentence } from "../parts/panel.js";
import { panelHead } from "../parts/widgets.js";
import { sheet } from "../parts/sheet.js";

const SIZES = [["0x0", "as set"], ["1280x720", "1280 × 720"], ["1920x1080", "1920 × 1080"], ["1024x768", "1024 × 768"],
  ["2560x1440", "2560 × 1440"], ["390x844", "390 × 844 (a phone)"], ["", "another…"]];
const MOST_PX = 16384;

/** A choice of sizes with fields for another one: `node`, and `size()` → [width, height], or null after its fault was shown. */
export function sizeFields() {
  const choice = el("select", { name: "size", onchange: () => { own.hidden = choice.value !== ""; } },
    SIZES.map(([value, words]) => el("option", { value }, words)));
  const numbers = ["Width", "Height"].map((name, at) =>
    el("input", { type: "number", "aria-label": `${name} in pixels`, min: 64, max: MOST_PX, step: 1, value: [1280, 720][at], required: true }));
  const own = el("div.fields", { hidden: true }, numbers.map((input, at) => el("label.field", {}, ["Width", "Height"][at], input)));
  const size = () => {
    if (choice.value) return choice.value.split("x").map(Number);
    return numbers.every((input) => input.reportValidity()) ? numbers.map((input) => Number(input.value)) : null;
  };
  return { node: el("div.fields", {}, el("label.field", {}, "Size", choice), own), size };
}

/** @param {HTMLElement} element @param {Page} page */
export async function mount(element, page) {
  await sheet("making.css");
  const head = el("div.head", {}, el("a.button", { href: "#/screens" }, "← Screens"), el("h1", {}, "New display"));
  if (!page.may("act") || page.isLimited()) {
    fill(element, panelHead("New display"), el("div.card", {}, nothing("This session may make no display. One of scope “act” may.")));
    return () => {};
  }
  const sizes = sizeFields();
  const said = el("p.bad-text", { role: "alert" });
  const make = actionButton("Make it", async () => {
    const size = sizes.size();
    if (!size) return;
    try {
      const { display, notes } = await api.post("/api/displays", { width: size[0], height: size[1] });
      for (const note of notes) notice(sentence(note), "warn");
      page.go(`screens/${encodeURIComponent(display.name)}`);
    } catch (/** @type {any} */ fault) {
      if (fault.status === undefined) throw fault;
      fill(said, sentence(fault.error), fault.hint ? ` ${sentence(fault.hint)}` : "");
    }
  }, { tone: "primary" });
  fill(element, head, el("form.card", { class: "card make", onsubmit: (event) => event.preventDefault() },
    el("p.muted", {}, "A screen of its own with a window manager, which nobody sees but here. Programs and agents use it by its name. This size is the largest it can ever have."),
    sizes.node, said, el("div.tools", {}, make)));
  return () => {};
}
