// Search and filters of a list, kept in the address: a link shows the same rows, and so does a reload.

import { el, fill, settled } from "./dom.js";

const SEARCH_MS = 120;
/** @type {[string, string][]} */
const WITHIN = [
  ["", "Any time"],
  ["900", "Last 15 min"],
  ["3600", "Last hour"],
  ["86400", "Last day"],
  ["604800", "Last 7 days"],
];
/** @type {Record<string, string>} */
const ALL = { display: "All displays", task: "All tasks", state: "All states", judge: "All judges" };

/** Set `values` in the query of the page's address, without those that are empty; nothing is loaded anew.
 * @param {Record<string, string>} values
 */
export function keepInUrl(values) {
  const [path, given = ""] = location.hash.split("?");
  const all = new URLSearchParams(given);
  for (const [name, value] of Object.entries(values)) {
    if (value) all.set(name, value);
    else all.delete(name);
  }
  const query = all.toString();
  history.replaceState(history.state, "", `${path || "#/"}${query ? `?${query}` : ""}`);
}

/** The query of the page's address with its question mark, "" without one. */
export function urlQuery() {
  const query = location.hash.split("?")[1] ?? "";
  return query ? `?${query}` : "";
}

/** A search field and selects. `names`: which of `display`, `task`, `state`, `judge` and `within` there are; `changed()`
 * is called after each change of `values`. */
export class Filters {
  /** @param {string} noun @param {string[]} names @param {URLSearchParams} given @param {() => void} changed */
  constructor(noun, names, given, changed) {
    this.names = names;
    this.changed = changed;
    this.values = Object.fromEntries(["text", ...names].map((name) => [name, given.get(name) ?? ""]));
    this.search = el("input", { type: "search", "aria-label": `Search ${noun}`, placeholder: `Search ${noun}`, value: this.values.text });
    const soon = settled(() => this.choose("text", this.search.value.trim()), SEARCH_MS);
    this.search.addEventListener("input", soon);
    this.selects = Object.fromEntries(names.map((name) => [name, this.select(name)]));
    const wide = names.some((name) => this.values[name]);
    this.more = el("button.more-filters", { type: "button", "aria-expanded": String(wide), onclick: () => this.open() }, "Filters");
    this.clear = el("button.plain", { type: "button", onclick: () => this.reset() }, "Clear");
    this.found = el("span.muted.small", { role: "status" });
    this.node = el(wide ? "div.filters.open" : "div.filters", { role: "search", "aria-label": `Filter ${noun}` },
      this.search, this.more, Object.values(this.selects), this.clear, this.found);
    this.offer("within", WITHIN.slice(1));
    this.tell();
  }

  /** @param {string} name */
  select(name) {
    return el("select", { "aria-label": name === "within" ? "Time" : name[0].toUpperCase() + name.slice(1),
      "data-focus": `filter-${name}`, onchange: (event) => this.choose(name, event.target.value) });
  }

  /** Let `name` be chosen from `options` ([value, words]); what is chosen stays one of them.
   * @param {string} name @param {[string, string][]} options
   */
  offer(name, options) {
    const select = this.selects[name];
    if (!select) return;
    const value = this.values[name];
    const rows = [["", name === "within" ? WITHIN[0][1] : ALL[name]], ...options];
    if (value && !options.some(([one]) => one === value)) rows.push([value, value]);
    const seal = JSON.stringify(rows);
    if (select.dataset.seal === seal) return;
    select.dataset.seal = seal;
    fill(select, rows.map(([one, words]) => el("option", { value: one, selected: one === value }, words)));
  }

  /** Offer what `rows` of facets have: of each its value, in the words of `words(name, value)`.
   * @param {Record<string, any>[]} rows @param {(name: string, value: string) => string} [words]
   */
  offerFrom(rows, words = (_name, value) => value) {
    for (const name of this.names.filter((one) => one in ALL)) {
      const values = [...new Set(rows.map((one) => one[name]).filter(Boolean))];
      /** @type {[string, string][]} */
      const options = values.map((value) => [value, words(name, value) || value]);
      this.offer(name, options.sort(([, one], [, other]) => one.localeCompare(other, undefined, { numeric: true })));
    }
  }

  /** @param {string} name @param {string} value */
  choose(name, value) {
    if (this.values[name] === value) return;
    this.values[name] = value;
    keepInUrl({ [name]: value });
    this.tell();
    this.changed();
  }

  reset() {
    for (const name of Object.keys(this.values)) this.values[name] = "";
    this.search.value = "";
    for (const select of Object.values(this.selects)) select.value = "";
    keepInUrl(this.values);
    this.tell();
    this.changed();
    this.search.focus();
  }

  // On a phone the selects take room only when they are asked for.
  open() {
    this.more.setAttribute("aria-expanded", String(this.node.classList.toggle("open")));
  }

  get any() {
    return Object.values(this.values).some(Boolean);
  }

  tell() {
    this.clear.hidden = !this.any;
  }

  /** Say how many of how many are shown; how many were found, where `all` are not known.
   * @param {number} shown @param {number} [all]
   */
  say(shown, all, more = "") {
    const of = all === undefined ? " found" : ` of ${all.toLocaleString()}`;
    const words = this.any || more ? `${shown.toLocaleString()}${of}${more}` : "";
    if (this.found.textContent !== words) fill(this.found, words);
  }

  /** Tell whether a row with `facets` is to be shown: {words (as of `searched`), utcS, display, task, state, judge}.
   * @param {Facets} facets @param {number} [now]
   */
  fits(facets, now = Date.now()) {
    const { text, within } = this.values;
    if (within && facets.utcS < now / 1000 - Number(within)) return false;
    if (this.names.some((name) => name in ALL && this.values[name] && facets[name] !== this.values[name])) return false;
    return searched(text).trim().split(" ").every((word) => facets.words.includes(` ${word}`));
  }
}

/** What stands in place of rows when none of them is to be shown.
 * @param {string} noun
 */
export function noneFits(noun) {
  return el("p.nothing", {}, `None of these ${noun} fits the search and the filters.`);
}

/** Return `texts` as a search looks at them: it finds what words begin with, in any order.
 * @param {...(string | null | undefined)} texts
 */
export function searched(...texts) {
  return ` ${texts.join(" ").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim()}`;
}
