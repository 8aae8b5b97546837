// The pages in the order of the navigation. A new page is its module, which exports `mount`, and its row here. `form` is the
// module of `#/tasks/new` and the like; `icon` is a line drawing of 16 by 16, as fonts do not have them all.

/** @typedef {() => Promise<{ mount: Mount }>} Import */
/** @type {{ path: string, title: string, key: string, icon: string, module: Import, form?: Import }[]} */
export const PAGES = [
  {
    path: "", title: "Overview", key: "o", module: () => import("./pages/now.js"),
    icon: "M2.500 2.500h4.500v4.500h-4.500zM9 2.500h4.500v4.500h-4.500zM2.500 9h4.500v4.500h-4.500zM9 9h4.500v4.500h-4.500z",
  },
  {
    path: "tasks", title: "Tasks", key: "t", module: () => import("./pages/tasks.js"), form: () => import("./pages/new_task.js"),
    icon: "M2.500 4l1 1 2-2M2.500 8.500l1 1 2-2M2.500 13l1 1 2-2M8 4h5.500M8 8.500h5.500M8 13h5.500",
  },
  {
    path: "waits", title: "Waits", key: "w", module: () => import("./pages/waits.js"), form: () => import("./pages/new_wait.js"),
    icon: "M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  },
  {
    path: "screens", title: "Screens", key: "s", module: () => import("./live/screens.js"), form: () => import("./pages/new_display.js"),
    icon: "M2 3h12v8H2zM5.500 13.500h5M8 11v2.500",
  },
  {
    path: "feed", title: "Feed", key: "f", module: () => import("./pages/feed.js"),
    icon: "M2.500 3h11v7.500H7L4 13v-2.500H2.500zM5 5.500h6M5 8h4",
  },
  {
    path: "recordings", title: "Recordings", key: "r", module: () => import("./pages/recordings.js"),
    icon: "M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  },
  {
    path: "commentary", title: "Commentary", key: "c", module: () => import("./pages/commentary.js"),
    icon: "M3 9.500c-1-3 .5-5.500 3.500-6M3 9.500h3V6.500H3M10 9.500c-1-3 .5-5.500 3.500-6M10 9.500h3V6.500h-3M3 13h10",
  },
  {
    path: "wakes", title: "Wakes", key: "k", module: () => import("./pages/wakes.js"),
    icon: "M8 2a4 4 0 0 0-4 4v3l-1.500 2.500h11L12 9V6a4 4 0 0 0-4-4zM6.500 13.500h3",
  },
  {
    path: "usage", title: "Usage", key: "u", module: () => import("./pages/usage.js"),
    icon: "M2.500 13.500h11M4 11V8M8 11V3M12 11V6",
  },
  {
    path: "health", title: "Health", key: "h", module: () => import("./pages/health.js"),
    icon: "M1.500 8.500h3l2-5 3 9 2-4h3",
  },
];

// What pages fetch when it is first needed.
export const PARTS = {
  wait: () => import("./pages/wait.js"),
  replay: () => import("./pages/replay.js"),
  replay_trial: () => import("./pages/replay_trial.js"),
};
