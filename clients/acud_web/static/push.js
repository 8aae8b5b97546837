// The service worker: shows what acud sends to this browser, and opens the dashboard where it happened.

self.addEventListener("push", (event) => {
  const told = event.data?.json() ?? { title: "acud", body: "", path: "#/", urgent: false };
  event.waitUntil(
    self.registration.showNotification(told.title, {
      body: told.body,
      data: told.path,
      icon: "/static/icon.svg",
      requireInteraction: told.urgent,
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

async function open(path) {
  const url = new URL(`/dashboard${path}`, self.location.origin).href;
  const pages = await self.clients.matchAll({ type: "window" });
  const page = pages.find((one) => new URL(one.url).pathname === "/dashboard");
  if (!page) return self.clients.openWindow(url);
  await page.navigate(url);
  return page.focus();
}
