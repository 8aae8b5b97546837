// Line drawings of 16 by 16; fonts do not have them all.

import { svg } from "./dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  now: "M2.500 2.500h4.500v4.500h-4.500zM9 2.500h4.500v4.500h-4.500zM2.500 9h4.500v4.500h-4.500zM9 9h4.500v4.500h-4.500z",
  tasks: "M2.500 4l1 1 2-2M2.500 8.500l1 1 2-2M2.500 13l1 1 2-2M8 4h5.500M8 8.500h5.500M8 13h5.500",
  waits:
    "M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  screens: "M2 3h12v8H2zM5.500 13.500h5M8 11v2.500",
  feed: "M2.500 3h11v7.500H7L4 13v-2.500H2.500zM5 5.500h6M5 8h4",
  recordings: "M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  commentary:
    "M3 9.500c-1-3 .5-5.500 3.500-6M3 9.500h3V6.500H3M10 9.500c-1-3 .5-5.500 3.500-6M10 9.500h3V6.500h-3M3 13h10",
  wakes: "M8 2a4 4 0 0 0-4 4v3l-1.500 2.500h11L12 9V6a4 4 0 0 0-4-4zM6.500 13.500h3",
  usage: "M2.500 13.500h11M4 11V8M8 11V3M12 11V6",
  health: "M1.500 8.500h3l2-5 3 9 2-4h3",
};

/** @param {string} name */
export function icon(name) {
  return svg(
    "svg.icon",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    svg("path", { d: PATHS[name] }),
  );
}
