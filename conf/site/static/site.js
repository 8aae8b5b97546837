"use strict";
// A page opened as a file may not read others, so that the search has no excerpts to show there.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// What scrolls by itself can be reached by the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("pre, .table-wrapper, .diagram, p:has(> img)")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
