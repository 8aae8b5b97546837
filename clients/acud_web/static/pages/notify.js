// "Notify me here": has this browser take notifications, or no longer.

import { api } from "../parts/api.js";
import { actionButton, notice } from "../parts/dialog.js";
import { el, fill } from "../parts/dom.js";
import { card } from "../parts/widgets.js";

const PLACE = "acud.push";

export function notifyCard() {
  const body = el("div.body", {});
  refresh(body);
  return card("Notifications in this browser", body);
}

/** @param {HTMLElement} body */
async function refresh(body) {
  try {
    fill(body, ...(await content(body)));
  } catch (/** @type {any} */ fault) {
    if (fault.status === undefined) throw fault;
    fill(body, el("p.muted", {}, fault.error));
  }
}

/** @param {HTMLElement} body */
async function content(body) {
  const state = await api.get("/api/push");
  if (!state.on) return [el("p.muted", {}, `Off in the settings: ${state.reason}.`)];
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window))
    return [el("p.muted", {}, "This browser does not support it here; it needs https or a loopback address.")];
  if (Notification.permission === "denied")
    return [el("p.muted", {}, "Denied: this browser was told not to show notifications of this page.")];
  const mine = localStorage.getItem(PLACE);
  /** @param {() => Promise<unknown>} work */
  const again = (work) => async () => {
    await work();
    await refresh(body);
  };
  if (mine && state.subscriptions.includes(mine))
    return [el("p", {}, "On."), actionButton("Notify me here no longer", again(() => end(mine)))];
  return [actionButton("Notify me here", again(() => begin(state.public_key)))];
}

/** @param {string} key */
async function begin(key) {
  if ((await Notification.requestPermission()) !== "granted") return;
  const registration = await navigator.serviceWorker.register("/static/push.js", { scope: "/dashboard" });
  const target = await subscribed(await active(registration), key);
  if (!target) return;
  const { keys = {}, endpoint } = target.toJSON();
  const body = { endpoint, p256dh: keys.p256dh, auth: keys.auth };
  const { subscription } = await api.post("/api/push", body);
  localStorage.setItem(PLACE, subscription.push_id);
}

// A worker that was just installed can't subscribe before it is active.
/** @param {ServiceWorkerRegistration} registration */
async function active(registration) {
  const worker = registration.installing ?? registration.waiting;
  if (worker)
    await new Promise((resolve) => {
      const look = () => ["activated", "redundant"].includes(worker.state) && resolve(null);
      worker.addEventListener("statechange", look);
      look();
    });
  return registration;
}

/** @param {ServiceWorkerRegistration} registration @param {string} key */
async function subscribed(registration, key) {
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  } catch (/** @type {any} */ fault) {
    notice(`This browser could not subscribe: ${fault.message}`, "bad");
    return null;
  }
}

/** @param {string} id */
async function end(id) {
  await api.del(`/api/push/${encodeURIComponent(id)}`);
  localStorage.removeItem(PLACE);
  const registration = await navigator.serviceWorker.getRegistration("/dashboard");
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}
