// What a takeover offers beside the picture: keys that a browser keeps for itself, the clipboard, a note at the end.

import { actionButton, dialog } from "../parts/dialog.js";
import { el, fill } from "../parts/dom.js";

const STICKY = [["ctrl", "Ctrl"], ["alt", "Alt"], ["shift", "Shift"], ["super", "Super"]];
const CHORDS = [
  ["ctrl+alt+Delete", "Ctrl+Alt+Del"], ["alt+Tab", "Alt+Tab"], ["alt+F4", "Alt+F4"], ["Super_L", "Super"], ["Escape", "Esc"],
  ["Tab", "Tab"], ["Return", "Enter"], ["BackSpace", "Backspace"], ["ctrl+w", "Ctrl+W"], ["ctrl+t", "Ctrl+T"], ["Print", "Print"], ["Menu", "Menu"],
];
const F_KEYS = Array.from({ length: 12 }, (_, at) => [`F${at + 1}`, `F${at + 1}`]);

/** The tools of `takeover`, for the time it has the display. */
export class TakeoverTools {
  /** @param {Takeover} takeover */
  constructor(takeover) {
    this.takeover = takeover;
    this.sticky = STICKY.map(([name, words]) => this.toggle(words, `${words} with the next key`, () => takeover.stick(name)));
    this.holds = this.toggle("Hold keys", "Keys are down on the display as long as they are down here; without it, what they write is typed",
      () => takeover.setHolds(!takeover.holds));
    this.typing = this.toggle("Keyboard", "Show the keyboard of this device", () => this.keyboard());
    this.typing.classList.add("touch-only");
    this.clipboard = el("button", { type: "button", onclick: () => clipboardDialog(takeover) }, "Clipboard…");
    this.note = el("input", { maxlength: "500", placeholder: "Note for the agents", "aria-label": "Note for the agents, told when you give the display back" });
    takeover.note = () => this.note.value;
    this.keys = this.menu();
    this.node = el("div.takeover-tools", { role: "group", "aria-label": "Takeover" },
      this.keys, this.holds, this.typing, this.clipboard, this.note);
  }

  /** @param {string} words @param {string} title @param {() => void} act */
  toggle(words, title, act) {
    return el("button", { type: "button", title, "aria-pressed": "false", onclick: act }, words);
  }

  menu() {
    /** @param {string[]} given */
    const press = ([chord, words]) => el("button.small", { type: "button", onclick: () => this.send(chord) }, words);
    const keys = el("details.takeover-keys", {}, el("summary.button", {}, "Keys"),
      el("div.takeover-menu", {},
        el("p", {}, "With the next key:"), el("div", {}, this.sticky),
        el("p", {}, "Press:"), el("div", {}, CHORDS.map(press)), el("div", {}, F_KEYS.map(press))));
    keys.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      keys.open = false;
      keys.querySelector("summary")?.focus();
    });
    return keys;
  }

  /** @param {string} chord */
  send(chord) {
    this.keys.open = false;
    this.takeover.press(chord);
  }

  keyboard() {
    const { surface } = this.takeover;
    const shown = surface.inputMode !== "none";
    surface.inputMode = shown ? "none" : "text";
    this.typing.setAttribute("aria-pressed", String(!shown));
    surface.blur(); // a focus that is there already shows no keyboard
    surface.focus({ preventScroll: true });
  }

  /** Follow the takeover. */
  update() {
    const { takeover } = this;
    this.node.hidden = !takeover.lease;
    for (const [at, [name]] of STICKY.entries()) this.sticky[at].setAttribute("aria-pressed", String(takeover.sticky.has(name)));
    this.holds.setAttribute("aria-pressed", String(takeover.holds));
    if (!takeover.lease) this.keys.open = false;
  }
}

/** Texts in both directions, each moved by a press of a button alone.
 * @param {Takeover} takeover
 */
function clipboardDialog(takeover) {
  const trouble = el("p.takeover-fault", { role: "alert", hidden: true });
  const told = el("p.muted", { role: "status" });
  /** @param {string} words */
  const say = (words, fault = "") => {
    fill(told, words);
    fill(trouble, fault);
    trouble.hidden = !fault;
  };
  const here = el("textarea", { rows: "4", "aria-label": "Text for the display" });
  const there = el("textarea", { rows: "4", readonly: true, "aria-label": "Text on the display's clipboard" });
  /** @param {() => Promise<unknown>} work @param {string} [why] */
  const tried = (work, why) => async () => {
    try {
      await work();
    } catch (/** @type {any} */ fault) {
      say("", fault.error ?? `${why} (${fault.message})`);
    }
  };
  const noRight = "The browser does not let this page use the clipboard: paste or copy in the field.";
  const read = tried(async () => {
    here.value = await navigator.clipboard.readText();
    say("Read from this computer. Nothing is on the display yet.");
  }, noRight);
  const put = tried(async () => {
    await takeover.ask({ type: "clipboard_set", text: here.value });
    say("It is on the display's clipboard. Paste it there, with Ctrl+V or as the program wants it.");
  });
  const get = tried(async () => {
    there.value = (await takeover.ask({ type: "clipboard_get" })).text;
    say("Read from the display. Look at it before you paste it anywhere.");
  });
  const copy = tried(async () => {
    if (!there.value) await get();
    await navigator.clipboard.writeText(there.value);
    say("It is on the clipboard of this computer.");
  }, noRight);
  dialog("Clipboard", el("div.takeover-clipboard", {},
    el("p", {}, "Nothing moves by itself. What you put on the display can be read there by agents and programs, and may show in "
      + "recordings. What comes from the display was written by programs there: do not trust it."),
    el("h3", {}, "To the display"), here,
    el("footer", {}, actionButton("Read this computer's", read), actionButton("Put on the display", put, { tone: "primary" })),
    el("h3", {}, "From the display"), there,
    el("footer", {}, actionButton("Read the display's", get), actionButton("Copy to this computer", copy)),
    told, trouble), { kind: "small" });
}
