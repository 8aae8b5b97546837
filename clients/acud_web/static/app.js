// The page: who is here, the link to the daemon, and which panel is shown.

import { api, isAway } from "./parts/api.js";
import { Bus } from "./parts/bus.js";
import { doing } from "./parts/dialog.js";
import { el, fill, svg } from "./parts/dom.js";
import { list as shortcutList, listen, shortcut } from "./parts/keys.js";
import { load, mend, preload } from "./parts/modules.js";
import { loading, trouble } from "./parts/panel.js";
import { openPalette } from "./parts/palette.js";
import { hoverTimes } from "./parts/widgets.js";
import { themeSwitch } from "./parts/theme.js";
import { clock } from "./parts/words.js";
import { PAGES } from "./pages.js";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const bus = new Bus(api);
/** @type {Omit<Page, "me"> & { me: Me | null }} */
const shared = { api, bus, me: null, go, may, isLimited };
const page = /** @type {Page} */ (shared);
/** @type {Stop} */
let leave = () => {};
let shownAt = "";

/** @param {string} path */
function go(path) {
  location.hash = `#/${path}`;
}

const SCOPES = ["read", "wait", "act", "admin"];

// Whether this session's scope reaches so far. The gateway checks it too; here it only keeps buttons away.
/** @param {string} scope */
function may(scope) {
  return SCOPES.indexOf(page.me?.scope) >= SCOPES.indexOf(scope);
}

// Whether this session is limited to some displays or tasks; what is of no single one is not for it.
function isLimited() {
  return Boolean(page.me?.displays?.length || page.me?.tasks?.length);
}

// ---- panels -----------------------------------------------------------------------------------------------------------

function navigation() {
  const links = PAGES.map(({ path, title, icon }) => {
    const size = { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" };
    return el("a", { href: `#/${path}`, "data-path": path }, svg("svg.icon", size, svg("path", { d: icon })), title);
  });
  fill(byId("nav"), links);
  for (const { path, title, key } of PAGES) shortcut(key, title, () => go(path));
}

function route() {
  const [path = "", ...rest] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/").map(decodeURIComponent);
  const panel = PAGES.find((one) => one.path === path) ?? PAGES[0];
  return { panel, rest, values: new URLSearchParams(location.hash.split("?")[1] ?? "") };
}

async function show() {
  if (!page.me) return;
  if (location.hash === "#main") {
    byId("main").focus();
    return;
  }
  const { panel, rest, values } = route();
  const main = byId("main");
  const here = `${panel.path}/${rest.join("/")}`;
  leave();
  leave = () => {};
  for (const link of byId("nav").children) {
    if (link.getAttribute("data-path") === panel.path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${panel.title} · acud`;
  closeMenu();
  const place = el("div.panel", {}, loading());
  fill(main, place);
  if (shownAt && here !== shownAt) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  shownAt = here;
  try {
    const { mount } = await load((rest[0] === "new" && panel.form) || panel.module);
    const stop = await mount(place, page, rest, values);
    place.dataset.shown = [panel.path, ...rest].join("/");
    if (place.isConnected) leave = stop ?? (() => {});
    else stop?.();
  } catch (/** @type {any} */ fault) {
    fill(place, trouble(fault, show));
    place.dataset.shown = "trouble";
    if (fault.status === undefined && !fault.error) throw fault;
  }
}

// ---- the command palette ------------------------------------------------------------------------------------------------

function commands() {
  /** @param {string} title @param {() => unknown} run */
  const action = (title, run) => ({ kind: "Action", title, run });
  return [
    ...PAGES.map(({ title, key, path }) => ({ kind: "Panel", title, key, run: () => go(path) })),
    action("Waits that timed out", () => go("waits?state=timeout")),
    action("Events that need a person", () => go("feed?kind=needs")),
    action("Hide idle screens", () => go("screens?idle=hidden")),
    action("Switch the theme", () => byId("theme").click()),
    action("Keyboard shortcuts", shortcutList),
    ...(byId("logout").hidden ? [] : [action("Log out", () => byId("logout").click())]),
  ];
}

function palette() {
  if (page.me && !document.querySelector("dialog[open]")) openPalette(page, commands());
}

// ---- the link ---------------------------------------------------------------------------------------------------------

const LINK = {
  connecting: ["quiet", "connecting"],
  up: ["good", "live"],
  down: ["bad", "not connected"],
  over: ["bad", "session over"],
};

/** @param {LinkState} given */
const isBusy = ({ state, error }) => state === "down" && error?.code === "daemon_busy";

/** @param {LinkState} link */
function linkWords(link) {
  if (link.state === "over" && !page.me) return ["bad", "not logged in"];
  return isBusy(link) ? ["warn", "daemon busy"] : LINK[link.state];
}

/** @param {BusEvent} given */
function linked({ data }) {
  const link = /** @type {LinkState} */ (data);
  const [tone, words] = linkWords(link);
  fill(byId("link"), el(`span.dot.${tone}`, { "aria-hidden": "true" }), words);
  const banner = byId("banner");
  banner.hidden = data.state !== "down" && data.state !== "over";
  banner.classList.toggle("busy", isBusy(link));
  document.body.classList.toggle("away", data.state === "down" || data.state === "over");
  if (data.state === "down") fill(banner, ...away(data.error));
  if (data.state === "over") fill(banner, ...over());
  if (data.state === "up" && !page.me) enter();
  if (data.state !== "up") return;
  mend();
  if (document.querySelector("#main > .panel[data-shown=trouble]")) show();
}

/** @param {any} error */
function away(error) {
  const since = clock(Date.now() / 1000);
  if (error?.code === "daemon_busy")
    return [el("strong", {}, `The daemon is busy: no answer since ${since}.`), " What is shown may be old. The page goes on by itself."];
  const what = error?.status === 503 ? "The daemon does not answer" : "The gateway does not answer";
  return [
    el("strong", {}, `${what} since ${since}.`),
    " What is shown may be old. The page connects again by itself; on the host: ",
    el("code", {}, "acud daemon start"),
    el("button", { type: "button", onclick: () => bus.again() }, "Try now"),
  ];
}

function over() {
  return [
    el("strong", {}, page.me ? "This session is over." : "You are not logged in."),
    page.me ? " It ran out or was revoked. Make a new link on the host with " : " Make a link on the host with ",
    el("code", {}, "acud web login"),
    ", or ",
    el("a", { href: "/login" }, "log in with a code"),
    ".",
  ];
}

// ---- begin ------------------------------------------------------------------------------------------------------------

const ENTER_MS = 2000;
const PRELOAD_MS = 1000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let entering;
let refused = 0; // what is on the page already: written anew, it would take the focus and be read out each time

// Learn who is here. Until that is answered nothing else can be shown, so it is asked again and again.
async function enter() {
  clearTimeout(entering);
  try {
    page.me = /** @type {Me} */ (await api.get("/api/me"));
  } catch (/** @type {any} */ fault) {
    if (fault.status === 401) bus.stop(fault);
    else entering = setTimeout(enter, ENTER_MS);
    if (fault.status !== refused) fill(byId("main"), trouble(fault, enter));
    refused = fault.status;
    return;
  }
  fill(byId("pass"), `${page.me.name || page.me.kind} · ${page.me.scope}`);
  byId("logout").hidden = page.me.kind !== "session";
  if (!bus.before) bus.start();
  await show();
  setTimeout(preload, PRELOAD_MS);
}

async function logout() {
  await api.post("/api/logout");
  location.replace("/login");
}

function closeMenu() {
  document.body.classList.remove("menu-open");
  byId("menu").setAttribute("aria-expanded", "false");
}

function toggleMenu() {
  const open = document.body.classList.toggle("menu-open");
  byId("menu").setAttribute("aria-expanded", String(open));
  if (open) byId("nav").querySelector("a")?.focus();
}

themeSwitch(/** @type {HTMLButtonElement} */ (byId("theme")));
byId("find").addEventListener("click", palette);
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  if (/** @type {Element} */ (event.target).closest?.("[data-keys=all]")) return; // a takeover: the key is the display's
  event.preventDefault();
  palette();
});
navigation();
listen();
hoverTimes();
byId("menu").addEventListener("click", toggleMenu);
byId("nav").addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    closeMenu();
    byId("menu").focus();
  }
});
byId("shortcuts").addEventListener("click", shortcutList);
byId("logout").addEventListener("click", doing(/** @type {HTMLButtonElement} */ (byId("logout")), logout));
addEventListener("hashchange", show);
bus.on("link", linked);
api.onError((fault) => {
  if (fault.status === 401) bus.stop(fault);
  else if (isAway(fault)) bus.doubt(fault);
});
fill(byId("main"), loading());
enter();
