// The service worker: shows what acud sends to this browser, and opens the dashboard where it happened.

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

worker.addEventListener("push", (event) => {
  const told = event.data?.json() ?? { title: "acud", body: "", path: "#/", urgent: false };
  event.waitUntil(
    worker.registration.showNotification(told.title, {
      body: told.body,
      data: told.path,
      icon: "/static/icon.svg",
      requireInteraction: told.urgent,
    }),
  );
});

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

/** @param {string} path */
async function open(path) {
  const url = new URL(`/dashboard${path}`, worker.location.origin).href;
  const pages = await worker.clients.matchAll({ type: "window" });
  const page = pages.find((one) => new URL(one.url).pathname === "/dashboard");
  if (!page) return worker.clients.openWindow(url);
  await page.navigate(url);
  return page.focus();
}
