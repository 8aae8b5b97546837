// One display in exact pixels: its facts, its size on the page, and the takeover.

import { el, fill } from "../parts/dom.js";
import { Screen } from "./screen.js";
import { facts, takenWords } from "./words.js";
import { Zoom } from "./zoom.js";
import { Takeover } from "../takeover/takeover.js";
import { TakeoverTools } from "../takeover/tools.js";
import { clock } from "../parts/words.js";

const EXACT = { fps: 30, max_side_px: 0 };
const HATCH = "Ctrl+Shift+F12";

export class Single {
  /** `may(scope)`: of this access token: `act` to take the display over, `wait` to wait for something there.
   * @param {Gateway} api @param {Display} display @param {(scope: string) => boolean} may
   */
  constructor(api, display, may) {
    this.api = api;
    this.display = display;
    this.may = may;
    this.screen = new Screen(api, display, { ...EXACT, changed: () => this.painted() });
    this.surface = el("textarea.screen-keys", { "data-keys": "all", "aria-label": `Keyboard and pointer of ${display.name}`,
      "aria-describedby": "takeover-strip", autocomplete: "off", autocapitalize: "off", spellcheck: "false", tabindex: "-1",
      inputmode: matchMedia("(pointer: coarse)").matches ? "none" : null }); // a tap is no wish for a keyboard
    this.takeover = new Takeover(api, display.name, this.screen.canvas, this.surface, () => this.tell());
    this.facts = el("p.screen-facts");
    this.button = el("button.primary", { type: "button", hidden: !may("act"), onclick: () => this.toggle() });
    this.strip = el("p.takeover-strip", { id: "takeover-strip", role: "status" });
    this.refused = el("p.takeover-fault", { role: "alert", hidden: true });
    this.tools = new TakeoverTools(this.takeover);
    this.full = el("button.small", { type: "button", onclick: () => this.toggleFull() }, "Full screen");
    this.full.hidden = !document.fullscreenEnabled;
    this.onfull = () => this.filled();
    document.addEventListener("fullscreenchange", this.onfull);
    this.frame = el("div.screen-frame", {}, this.screen.picture);
    this.screen.picture.append(this.surface);
    this.surface.addEventListener("stepout", () => this.button.focus());
    this.zoom = new Zoom(this.screen.canvas, this.frame);
    this.node = this.build();
    this.screen.tell();
    this.update(display);
  }

  build() {
    const about = new URLSearchParams({ display: this.display.name, task: this.display.task?.task_id ?? "" });
    const toWait = this.may("wait") ? el("a.button", { href: `#/waits/new?${about}` }, "Wait for something here") : null;
    return el("div.screen-single", {},
      el("header.head", {}, el("a.to-all", { href: "#/screens" }, "← All screens"), el("h1", {}, this.display.name), this.facts),
      el("div.screen-tools", {}, el("p.screen-state", {}, this.screen.badge, this.screen.delay), this.zoom.tools, this.full, this.tools.node, toWait, this.button),
      this.strip, this.refused, this.frame);
  }

  /** Size the picture; call once the node is in the page. */
  begin() {
    this.zoom.apply();
  }

  end() {
    this.takeover.giveBack(this.tools.note.value);
    document.removeEventListener("fullscreenchange", this.onfull);
    if (document.fullscreenElement === this.node) document.exitFullscreen();
    this.zoom.end();
    this.screen.end();
  }

  /** @param {Display} display */
  update(display) {
    this.display = display;
    this.screen.display = display;
    fill(this.facts, facts(display));
    const { lease, giving } = this.takeover;
    if (lease && !giving && !display.taken_by) this.takeover.ended("The display was given back by somebody else.");
    this.tell();
  }

  gone() {
    fill(this.facts, "This display has ended.");
    if (this.takeover.lease) this.takeover.ended("");
    this.button.disabled = true;
  }

  painted() {
    const { width, height } = this.screen.canvas;
    if (this.size === `${width}x${height}`) return;
    this.size = `${width}x${height}`;
    this.zoom?.apply();
  }

  // ---- takeover ----------------------------------------------------------------------------------------------------

  async toggle() {
    this.button.disabled = true;
    try {
      if (this.takeover.lease) await this.giveBack();
      else await this.take();
    } finally {
      this.button.disabled = false;
      if (!this.takeover.lease) this.button.focus();
    }
  }

  async giveBack() {
    await this.takeover.giveBack(this.tools.note.value);
    if (!this.takeover.fault) this.tools.note.value = "";
  }

  // In full screen the browser lets the page have the keys that it keeps for itself otherwise (Chromium alone).
  async toggleFull() {
    if (document.fullscreenElement) return document.exitFullscreen();
    await this.node.requestFullscreen();
    await navigator.keyboard?.lock?.();
    if (this.takeover.lease) this.surface.focus({ preventScroll: true });
  }

  filled() {
    const is = document.fullscreenElement === this.node;
    if (!is) navigator.keyboard?.unlock?.();
    fill(this.full, is ? "Leave full screen" : "Full screen");
    this.zoom.apply();
  }

  async take() {
    const me = /** @type {{ name: string }} */ (await this.api.get("/api/me").catch(() => ({ name: "" })));
    // A refusal is told by the takeover itself.
    await this.takeover.take(me.name || "somebody at the dashboard").catch(() => null);
  }

  tell() {
    const has = Boolean(this.takeover.lease);
    this.node.classList.toggle("taken", has);
    this.surface.tabIndex = has ? 0 : -1;
    this.tools.update();
    fill(this.button, has ? "Give back" : "Take over");
    this.button.setAttribute("aria-pressed", String(has));
    say(this.strip, has ? this.mine() : this.theirs());
    say(this.refused, this.takeover.fault);
    if (this.node.isConnected) this.zoom.apply(); // these lines take room
  }

  mine() {
    const until = clock(this.takeover.until_utc_s);
    return `You have ${this.display.name}: agents only watch. It is yours while this page is open (now until ${until}). `
      + `Keys and pointer go to the display; ${HATCH} brings the keyboard back to this page.`;
  }

  theirs() {
    const words = takenWords(this.display);
    return words ? `${words}: agents only watch.` : "";
  }
}

/** @param {HTMLElement} place @param {string} words */
function say(place, words) {
  if (place.textContent !== words) fill(place, words);
  place.hidden = !words;
}
