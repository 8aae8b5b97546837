// Which panels there are, in the order of the navigation. Each: mount(element, page, rest, values) -> stop().

import { fill } from "./dom.js";
import { load } from "./modules.js";

/** @param {HTMLElement} element @param {Page} page @param {string[]} rest @param {URLSearchParams} values */
async function screens(element, page, rest, values) {
  const { mountScreens } = await load("screens");
  fill(element);
  return mountScreens(element, page, rest[0] ?? "", values);
}

/** @template {Parameters<typeof load>[0]} Name @param {Name} module @param {string} name @returns {Mount} */
const lazily =
  (module, name) =>
  async (...given) =>
    /** @type {any} */ (await load(module))[name](...given);

// `#/tasks/new` and the like: the form that makes one.
/** @param {Mount} made @param {Mount} mount @returns {Mount} */
const orNew =
  (made, mount) =>
  (...given) =>
    (given[2][0] === "new" ? made : mount)(...given);

export const PANELS = [
  { path: "", title: "Overview", key: "o", mount: lazily("now", "mountNow") },
  { path: "tasks", title: "Tasks", key: "t", mount: orNew(lazily("new_task", "mountNewTask"), lazily("tasks", "mountTasks")) },
  { path: "waits", title: "Waits", key: "w", mount: orNew(lazily("new_wait", "mountNewWait"), lazily("waits", "mountWaits")) },
  { path: "screens", title: "Screens", key: "s", mount: orNew(lazily("new_display", "mountNewDisplay"), screens) },
  { path: "feed", title: "Feed", key: "f", mount: lazily("feed", "mountFeed") },
  { path: "recordings", title: "Recordings", key: "r", mount: lazily("recordings", "mountRecordings") },
  { path: "commentary", title: "Commentary", key: "c", mount: lazily("commentary", "mountCommentary") },
  { path: "wakes", title: "Wakes", key: "k", mount: lazily("wakes", "mountWakes") },
  { path: "usage", title: "Usage", key: "u", mount: lazily("usage", "mountUsage") },
  { path: "health", title: "Health", key: "h", mount: lazily("health", "mountHealth") },
];
