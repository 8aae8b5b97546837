// Which panels there are, in the order of the navigation. Each: mount(element, page, rest, values) -> stop().

import { fill } from "./dom.js";

async function screens(element, page, rest, values) {
  const { mountScreens } = await import("./live.js");
  fill(element);
  return mountScreens(element, page, rest[0] ?? "", values);
}

const lazily =
  (module, name) =>
  async (...given) =>
    (await import(module))[name](...given);

// `#/tasks/new` and the like: the form that makes one.
const orNew =
  (made, mount) =>
  (...given) =>
    (given[2][0] === "new" ? made : mount)(...given);

export const PANELS = [
  { path: "", title: "Overview", key: "o", mount: lazily("./now.js", "mountNow") },
  { path: "tasks", title: "Tasks", key: "t", mount: orNew(lazily("./new_task.js", "mountNewTask"), lazily("./tasks.js", "mountTasks")) },
  { path: "waits", title: "Waits", key: "w", mount: orNew(lazily("./new_wait.js", "mountNewWait"), lazily("./waits.js", "mountWaits")) },
  { path: "screens", title: "Screens", key: "s", mount: orNew(lazily("./new_display.js", "mountNewDisplay"), screens) },
  { path: "feed", title: "Feed", key: "f", mount: lazily("./feed.js", "mountFeed") },
  { path: "recordings", title: "Recordings", key: "r", mount: lazily("./recordings.js", "mountRecordings") },
  { path: "commentary", title: "Commentary", key: "c", mount: lazily("./commentary.js", "mountCommentary") },
  { path: "wakes", title: "Wakes", key: "k", mount: lazily("./wakes.js", "mountWakes") },
  { path: "usage", title: "Usage", key: "u", mount: lazily("./usage.js", "mountUsage") },
  { path: "health", title: "Health", key: "h", mount: lazily("./health.js", "mountHealth") },
];
