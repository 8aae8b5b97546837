"use strict";
// A page opened as a file may not read others, so that the search has no excerpts to show there.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// What scrolls by itself can be reached by the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("pre, .table-wrapper, .diagram, p:has(> img)")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});

// ---- the search ---------------------------------------------------------------------------------------------------------

const TOOLS = ["_static/searchtools.js", "_static/language_data.js", "searchindex.js"];
const MOST_ANSWERS = 8;
const ROOT = document.documentElement.dataset.content_root;

/** Have what people wrote stand before what is made from the code (REFERENCE, by conf/site/reference.py). */
function rankPages() {
  if (typeof Scorer !== "undefined") Scorer.score = ([page, , , , score]) => (REFERENCE.includes(page) ? score - 1000 : score);
}

/** Fetch Sphinx's search and its index, once; a page opened as a file may load scripts as well. */
function fetchTools(field) {
  if (typeof Search !== "undefined" || document.querySelector("script[data-search]")) return;
  for (const name of TOOLS) {
    const script = Object.assign(document.createElement("script"), { src: ROOT + name, async: false });
    script.dataset.search = "";
    script.addEventListener("load", () => {
      field.value = field.typed ?? field.value; // Sphinx empties the field as it begins
      rankPages();
      answer(field);
    });
    document.body.append(script);
  }
}

function answer(field) {
  const words = field.value.trim();
  const place = document.getElementById("answers");
  if (words.length < 2) return place.replaceChildren();
  if (typeof Search === "undefined" || typeof Stemmer === "undefined" || !Search.hasIndex()) return;
  const found = Search._performSearch(...Search._parseQuery(words)).slice(-MOST_ANSWERS).reverse();
  localStorage.removeItem("sphinx_highlight_terms"); // marks words of a search that was sent, not of each letter
  const links = found.map(([page, title, anchor]) => {
    const link = Object.assign(document.createElement("a"), { href: `${ROOT}${page}.html${anchor}`, textContent: title });
    return Object.assign(document.createElement("li"), { className: REFERENCE.includes(page) ? "made" : "" }).appendChild(link).parentNode;
  });
  const list = document.createElement("ol");
  list.append(...links);
  place.replaceChildren(links.length ? list : "No page has these words.");
}

document.addEventListener("DOMContentLoaded", () => {
  rankPages();
  const field = document.querySelector(".sidebar-search");
  const place = Object.assign(document.createElement("div"), { id: "answers", role: "status" });
  field.form.after(place);
  field.autocomplete = "off";
  field.addEventListener("focus", () => fetchTools(field));
  field.addEventListener("input", () => {
    field.typed = field.value;
    answer(field);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") place.replaceChildren();
  });
});
