// The panel of screens: all displays in a grid, or one of them in exact pixels, which a person can take over.

import { busyDisplays, isIdle, turnsSure } from "../parts/displays.js";
import { el, fill, settled } from "../parts/dom.js";
import { makeLink } from "../parts/bulk.js";
import { keepInUrl } from "../parts/filters.js";
import { Single } from "./single.js";
import { Panel } from "../parts/panel.js";
import { panelHead } from "../parts/widgets.js";
import { sheet } from "../parts/sheet.js";
import { Cards } from "./thumbnails.js";

export const TOPICS = ["display.", "task.", "wait.created", "wait.resolved", "wait.timeout", "wait.cancelled", "wait.failed"];

/** Show the displays in `element`: all of them, or the one called `name`, which another one may be called by now: where
 * a `number` is given, it is that one or none. `page`: `api`, `bus`, and whether this access token `may`. Returns what ends it.
 * @param {HTMLElement} element @param {Page} page @param {string[]} rest @param {URLSearchParams} values
 */
export async function mount(element, page, [name], values) {
  fill(element);
  await sheet("screens.css");
  if (!name) {
    const grid = new Grid(element, page, values);
    return () => grid.stop();
  }
  const one = new One(element, page, name, Number(values.get("number") ?? 0));
  await one.load();
  const soon = settled(() => one.load().catch(() => null)); // the page's banner tells of a daemon that is away
  const offs = ["display.", "task.", "missed"].map((topic) => page.bus.on(topic, soon));
  return () => {
    soon.cancel();
    for (const off of offs) off();
    one.end();
  };
}

// Tasks first, then what is watched without one, then what is idle, which can be hidden.
/** @type {[string, (one: Display) => boolean][]} */
const GROUPS = [
  ["Tasks", (one) => Boolean(one.task)],
  ["Without a task", (one) => !one.task && !isIdle(one)],
  ["Idle", isIdle],
];

class Grid {
  /** @param {HTMLElement} element @param {Page} page @param {URLSearchParams} values */
  constructor(element, page, values) {
    this.cards = new Cards();
    this.hides = values.get("idle") === "hidden";
    this.switch = el("button", { type: "button", "aria-pressed": String(this.hides), hidden: true, onclick: () => this.toggle() });
    const body = el("div.grid", {});
    const make = page.isLimited() ? null : makeLink(page, { href: "#/screens/new", words: "New display", scope: "act" });
    fill(element, panelHead("Screens", this.switch, make), body);
    this.panel = new Panel(body, page.bus, {
      load: (signal) => busyDisplays(page.api, signal),
      topics: TOPICS,
      hears: turnsSure,
      everyMs: 10000,
      soonMs: 2000,
      show: (place, shown) => this.show(place, shown),
      isEmpty: (shown) => !shown.length,
      empty: nothing,
    });
  }

  toggle() {
    this.hides = !this.hides;
    this.switch.setAttribute("aria-pressed", String(this.hides));
    keepInUrl({ idle: this.hides ? "hidden" : "" });
    if (this.panel.data) this.panel.took(this.panel.data);
  }

  /** @param {HTMLElement} place @param {Display[]} displays */
  show(place, displays) {
    const idle = displays.filter(isIdle).length;
    this.switch.hidden = !idle;
    fill(this.switch, this.hides ? `Show ${idle} idle` : `Hide ${idle} idle`);
    const shown = displays.filter((one) => !this.hides || !isIdle(one)).sort(byTask);
    this.cards.keep(shown);
    const groups = GROUPS.map(([title, fits]) => ({ title, ones: shown.filter(fits) })).filter(({ ones }) => ones.length);
    const kept = new Map([...place.querySelectorAll(":scope > section")].map((one) => [one.getAttribute("aria-label"), one]));
    fill(place, groups.length ? groups.map(({ title, ones }) => this.group(kept.get(title), title, ones)) : allIdle());
  }

  /** @param {Element | undefined} before @param {string} title @param {Display[]} displays */
  group(before, title, displays) {
    const node = before ?? el("section", { "aria-label": title }, el("h2.screen-group", {}), el("ul.screen-grid"));
    const [head, list] = node.children;
    fill(head, `${title} · ${displays.length}`);
    fill(list, this.cards.of(displays));
    return node;
  }

  stop() {
    this.panel.stop();
    this.cards.keep([]);
  }
}

/** @param {Display} one @param {Display} other */
function byTask(one, other) {
  return (one.task?.name ?? "").localeCompare(other.task?.name ?? "", undefined, { numeric: true }) || one.number - other.number;
}

function allIdle() {
  return el("p.nothing", {}, "All displays are idle.");
}

function nothing() {
  return [el("p", {}, "No display yet. One is made with each task that asks for it, or by hand:"),
    el("p", {}, el("code", {}, "acud display create"), " · ", el("code", {}, "acud display add :0"))];
}

class One {
  /** @param {HTMLElement} element @param {Page} page @param {string} name @param {number} number */
  constructor(element, page, name, number) {
    this.element = element;
    this.page = page;
    this.name = name;
    this.number = number;
    this.single = null;
  }

  async load() {
    const named = (await busyDisplays(this.page.api)).find((one) => one.name === this.name);
    const display = !this.number || named?.number === this.number ? named : undefined;
    if (display) this.show(display);
    else if (this.single) this.single.gone();
    else fill(this.element, missing(this.name, named));
  }

  /** @param {Display} display */
  show(display) {
    this.number = display.number;
    if (this.single) return this.single.update(display);
    this.single = new Single(this.page.api, display, this.page.may);
    fill(this.element, this.single.node);
    this.single.begin();
  }

  end() {
    this.single?.end();
  }
}

/** @param {string} name @param {Display} [other] */
function missing(name, other) {
  const words = other
    ? [`This display has ended. Another one is called ${name} now: `, el("a", { href: `#/screens/${encodeURIComponent(name)}` }, "show that"), "."]
    : [`There is no display ${name} (any more).`];
  return el("div.nothing", {}, el("p", {}, ...words), el("p", {}, el("a", { href: "#/screens" }, "All screens")));
}
