// Dialogs: the browser's own modal <dialog>, which traps the focus, closes on Escape and gives the focus back.

import { el, fill } from "./dom.js";
import { sentence } from "./panel.js";

// Show `content` in a modal dialog; returns {close, closed}, `closed` a promise of the value given to close.
/** @param {string} title @param {Nested} content
 * @param {{ kind?: string; onkey?: ((event: KeyboardEvent) => void) | null }} [given]
 */
export function dialog(title, content, { kind = "", onkey = null } = {}) {
  const heading = el("h2", { id: `dialog-${++shown}` }, title);
  /** @type {HTMLButtonElement} */
  const cross = el("button.plain.cross", { type: "button", "aria-label": "Close", onclick: () => box.close("") }, "✕");
  /** @type {HTMLDialogElement} */
  const box = el("dialog", { class: kind, "aria-labelledby": heading.id }, el("header", {}, heading, cross), content);
  const closed = new Promise((resolve) =>
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue);
    }),
  );
  box.addEventListener("click", (event) => {
    if (event.target === box) box.close("");
  });
  if (onkey) box.addEventListener("keydown", onkey);
  document.body.append(box);
  box.showModal();
  return { box, closed, close: (value = "") => box.close(value) };
}

let shown = 0;

// Ask before something that can't be taken back; resolves to true when it was confirmed.
/** @param {string} title @param {string[]} consequences @param {string} verb @param {{ tone?: string }} [given] */
export async function confirmed(title, consequences, verb, { tone = "danger" } = {}) {
  const no = el("button", { type: "button", autofocus: true, onclick: () => asked.close("") }, "Keep as it is");
  const yes = el(`button.${tone}`, { type: "button", onclick: () => asked.close("yes") }, verb);
  const lines = consequences.map((line) => el("li", {}, line));
  const asked = dialog(title, el("div.confirm", {}, el("ul", {}, lines), el("footer", {}, no, yes)), { kind: "small" });
  return (await asked.closed) === "yes";
}

// Do `work` for a button: no second click meanwhile, and what went wrong is said beside it.
/** @param {HTMLButtonElement} button @param {() => unknown} work */
export function doing(button, work) {
  return async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      await work();
    } catch (/** @type {any} */ fault) {
      if (fault.status === undefined) throw fault;
      notice(sentence(fault.error) + (fault.hint ? ` ${fault.hint}` : ""), "bad");
    } finally {
      button.removeAttribute("aria-disabled");
    }
  };
}

/** @param {string} words @param {(button: HTMLButtonElement) => unknown} work
 * @param {{ tone?: string; label?: string | null; focus?: string | null }} [given]
 */
export function actionButton(words, work, { tone = "", label = null, focus = null } = {}) {
  const button = el("button", { type: "button", class: tone || null, "aria-label": label, "data-focus": focus }, words);
  button.addEventListener(
    "click",
    doing(button, () => work(button)),
  );
  return button;
}

// One line at the bottom of the page that goes by itself; screen readers hear it.
/** @param {string} words */
export function notice(words, tone = "good") {
  const place = /** @type {HTMLElement} */ (document.getElementById("notices"));
  const line = el("p.notice", { class: `notice ${tone}` }, words);
  place.append(line);
  setTimeout(() => line.remove(), 8000);
}

// Pictures, one at a time: ← and → go through them, Escape closes. Each: {title, node: () => Node}.
/** @param {Picture[]} pictures @param {number} [at] */
export function lightbox(pictures, at = 0) {
  const place = el("div.picture", { "aria-live": "polite" });
  const caption = el("p.caption", {});
  /** @param {number} by */
  const step = (by) => {
    at = (at + by + pictures.length) % pictures.length;
    paint();
  };
  const paint = () => {
    fill(place, pictures[at].node());
    fill(caption, pictures.length > 1 ? `${at + 1} of ${pictures.length} · ${pictures[at].title}` : pictures[at].title);
  };
  /** @param {string} sign @param {number} by @param {string} label */
  const arrow = (sign, by, label) =>
    el("button.step", { type: "button", "aria-label": label, onclick: () => step(by) }, sign);
  const arrows = pictures.length > 1 ? [arrow("←", -1, "Previous picture"), arrow("→", 1, "Next picture")] : [];
  paint();
  /** @param {KeyboardEvent} event */
  const onkey = (event) => {
    if (pictures.length > 1 && event.key === "ArrowLeft") step(-1);
    if (pictures.length > 1 && event.key === "ArrowRight") step(1);
  };
  return dialog("Picture", el("div.lightbox", {}, place, el("footer", {}, arrows, caption)), { kind: "wide", onkey });
}
