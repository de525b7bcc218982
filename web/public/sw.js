// The service worker shows notifications and brings a tab of the console forward when one is pressed. It keeps nothing
// and answers no requests: what the console shows comes from the hub alone.

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const data = event.notification.data;
  const to = typeof data?.to === "string" && data.to.startsWith("#/") ? data.to : "#/";
  event.waitUntil(lead(to));
});

async function lead(to) {
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = open.find((client) => client.url.startsWith(self.registration.scope));
  if (!tab) {
    await self.clients.openWindow(self.registration.scope + to);
    return;
  }
  await tab.focus();
  tab.postMessage({ to });
}
