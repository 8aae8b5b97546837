// A new task: its name, its plan, and whether it gets a display of its own.

import { api } from "../parts/api.js";
import { actionButton, notice } from "../parts/dialog.js";
import { el, fill } from "../parts/dom.js";
import { sizeFields } from "./new_display.js";
import { nothing, sentence } from "../parts/panel.js";
import { panelHead } from "../parts/widgets.js";
import { sheet } from "../parts/sheet.js";

/** @param {HTMLElement} element @param {Page} page */
export async function mount(element, page) {
  await sheet("making.css");
  const head = el("div.head", {}, el("a.button", { href: "#/tasks" }, "← Tasks"), el("h1", {}, "New task"));
  if (!page.may("wait") || page.isLimited()) {
    fill(element, panelHead("New task"), el("div.card", {}, nothing("This session may begin no task. One of scope “wait” may.")));
    return () => {};
  }
  const name = el("input", { name: "name", required: true, maxlength: 500, autocomplete: "off", placeholder: "File the report" });
  const plan = el("textarea", { name: "plan", rows: 6, placeholder: "Open the portal\nDownload the report" });
  const sizes = sizeFields();
  const mayShow = page.may("act");
  const own = el("input", { type: "checkbox", name: "own", checked: mayShow, disabled: !mayShow, onchange: () => { sizes.node.hidden = !own.checked; } });
  sizes.node.hidden = !mayShow;
  const said = el("p.bad-text", { role: "alert" });
  const make = actionButton("Begin it", async () => {
    const size = own.checked ? sizes.size() : [0, 0];
    if (!name.reportValidity() || !size) return;
    const steps = plan.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const display = { isolated_display: own.checked, display_width: size[0], display_height: size[1] };
    try {
      const { view, notes } = await api.post("/api/tasks", { name: name.value.trim(), plan: steps, ...display });
      for (const note of notes) notice(sentence(note), "warn");
      page.go(`tasks/${encodeURIComponent(view.task.task_id)}`);
    } catch (/** @type {any} */ fault) {
      if (fault.status === undefined) throw fault;
      fill(said, sentence(fault.error), fault.hint ? ` ${sentence(fault.hint)}` : "");
    }
  }, { tone: "primary" });
  fill(element, head, el("form.card", { class: "card make", onsubmit: (event) => event.preventDefault() },
    el("label.field", {}, "Name", name), el("label.field", {}, "Plan, a step on each line", plan),
    el("label.check", {}, own, mayShow ? "with a display of its own" : "with a display of its own (needs a session of scope “act”)"),
    sizes.node, said, el("div.tools", {}, make)));
  return () => {};
}
