// The panel of screens: all displays in a grid, or one of them in exact pixels, which a person can take over.

import { el, fill, settled } from "./dom.js";
import { Screen } from "./live_screen.js";
import { Single } from "./live_single.js";
import { facts, takenWords } from "./live_words.js";
import { sheet } from "./sheet.js";

const THUMBNAIL = { fps: 4, max_side_px: 480 };

/** Show the displays in `element`: all of them, or the one called `name`. Returns what ends it. */
export async function mountScreens(element, api, bus, name = "") {
  await sheet("screens.css");
  const panel = name ? new One(element, api, bus, name) : new Grid(element, api, bus);
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
    api.get("/api/tasks?status=active&limit=200").catch((fault) => fault.status === 403 ? { tasks: [] } : Promise.reject(fault)),
  ]);
  return listed.displays.map((display) => ({ ...display, task: tasks.tasks.find((task) => task.display === display.name) }));
}

class Grid {
  constructor(element, api, bus) {
    this.api = api;
    this.cards = new Map();
    this.list = el("ul.screen-grid");
    this.place = el("div", {});
    fill(element, el("header.head", {}, el("h1", {}, "Screens")), this.place);
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
  constructor(element, api, bus, name) {
    this.element = element;
    this.api = api;
    this.bus = bus;
    this.name = name;
    this.single = null;
  }

  async load() {
    const display = (await displays(this.api)).find((one) => one.name === this.name);
    if (display) this.show(display);
    else if (this.single) this.single.gone();
    else fill(this.element, missing(this.name));
  }

  show(display) {
    if (this.single) return this.single.update(display);
    this.single = new Single(this.api, display);
    fill(this.element, this.single.node);
    this.single.begin();
  }

  end() {
    this.single?.end();
  }
}

function missing(name) {
  return el("div.nothing", {}, el("p", {}, `There is no display ${name} (any more).`),
    el("p", {}, el("a", { href: "#/screens" }, "All screens")));
}
