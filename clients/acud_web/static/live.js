// The panel of screens: all displays in a grid, or one of them in exact pixels, which a person can take over.

import { el, fill, settled } from "./dom.js";
import { makeLink } from "./bulk.js";
import { Screen } from "./live_screen.js";
import { Single } from "./live_single.js";
import { facts, takenWords } from "./live_words.js";
import { sheet } from "./sheet.js";

const THUMBNAIL = { fps: 4, max_side_px: 480 };

/** Show the displays in `element`: all of them, or the one called `name`, which another one may be called by now: where
 * a `number` is given, it is that one or none. `page`: `api`, `bus`, and whether this access token `may`. Returns what ends it. */
export async function mountScreens(element, page, name = "", number = 0) {
  await sheet("screens.css");
  const { api, bus } = page;
  const panel = name ? new One(element, page, name, number) : new Grid(element, page);
  await panel.load();
  const soon = settled(() => panel.load().catch(() => null)); // the page's banner tells of a daemon that is away
  const offs = ["display.", "task.", "missed"].map((topic) => bus.on(topic, soon));
  return () => {
    soon.cancel();
    offs.forEach((off) => off());
    panel.end();
  };
}

/** The displays with the titles of the tasks on them, which a pass may not allow to see. */
async function displays(api) {
  const [listed, tasks] = await Promise.all([
    api.get("/api/displays"),
    api.get("/api/tasks?status=active&status=paused&limit=200").catch((fault) => fault.status === 403 ? { tasks: [] } : Promise.reject(fault)),
  ]);
  const on = new Map(tasks.tasks.map(({ task }) => [task.display_number, task]));
  return listed.displays.map((display) => ({ ...display, task: on.get(display.number) }));
}

class Grid {
  constructor(element, page) {
    this.api = page.api;
    this.cards = new Map();
    this.list = el("ul.screen-grid");
    this.place = el("div", {});
    fill(element, el("header.head", {}, el("h1", {}, "Screens"),
      el("div.tools", {}, page.isLimited() ? null : makeLink(page, { href: "#/screens/new", words: "New display", scope: "act" }))), this.place);
  }

  async load() {
    const shown = await displays(this.api);
    for (const name of [...this.cards.keys()]) if (!shown.some((one) => one.name === name)) this.drop(name);
    for (const display of shown) this.put(display);
    fill(this.list, shown.map((display) => this.cards.get(display.name).node));
    fill(this.place, shown.length ? this.list : nothing());
  }

  put(display) {
    const card = this.cards.get(display.name);
    if (card) card.update(display);
    else this.cards.set(display.name, new Card(this.api, display));
  }

  drop(name) {
    this.cards.get(name).screen.end();
    this.cards.delete(name);
  }

  end() {
    for (const name of [...this.cards.keys()]) this.drop(name);
  }
}

function nothing() {
  return el("div.nothing", {}, el("p", {}, "No display yet. One is made with each task that asks for it, or by hand:"),
    el("p", {}, el("code", {}, "acud display create"), " · ", el("code", {}, "acud display add :0")));
}

class Card {
  constructor(api, display) {
    this.screen = new Screen(api, display, THUMBNAIL);
    this.link = el("a.screen-link", { href: `#/screens/${encodeURIComponent(display.name)}` });
    this.facts = el("p.screen-facts");
    this.taken = el("p.screen-taken");
    this.node = el("li.screen-card", {}, this.screen.picture,
      el("div.screen-words", {}, el("h2", {}, this.link), this.facts, this.taken,
        el("p.screen-state", {}, this.screen.badge, this.screen.delay)));
    this.screen.tell();
    this.update(display);
  }

  update(display) {
    this.screen.display = display;
    fill(this.link, display.name);
    fill(this.facts, facts(display));
    const words = takenWords(display);
    fill(this.taken, words);
    this.taken.hidden = !words;
  }
}

class One {
  constructor(element, page, name, number) {
    this.element = element;
    this.page = page;
    this.name = name;
    this.number = number;
    this.single = null;
  }

  async load() {
    const named = (await displays(this.page.api)).find((one) => one.name === this.name);
    const display = !this.number || named?.number === this.number ? named : undefined;
    if (display) this.show(display);
    else if (this.single) this.single.gone();
    else fill(this.element, missing(this.name, named));
  }

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

function missing(name, other) {
  const words = other
    ? [`This display has ended. Another one is called ${name} now: `, el("a", { href: `#/screens/${encodeURIComponent(name)}` }, "show that"), "."]
    : [`There is no display ${name} (any more).`];
  return el("div.nothing", {}, el("p", {}, ...words), el("p", {}, el("a", { href: "#/screens" }, "All screens")));
}
