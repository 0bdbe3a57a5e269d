// Keeps the playground's own files, so that it works without a network after the first visit. FILES and VERSION are
// written by tools/playground.py; another version is another cache, and the old one goes.

const FILES = ["FILES"];
const VERSION = "VERSION";

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(VERSION).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const old = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("playground-") && name !== VERSION) await caches.delete(name);
    }
    await self.clients.claim();
  };
  event.waitUntil(old());
});

self.addEventListener("fetch", (event) => {
  const here = new URL(event.request.url);
  if (event.request.method !== "GET" || !here.href.startsWith(self.registration.scope)) return;
  event.respondWith(
    caches.open(VERSION).then((cache) => cache.match(event.request, { ignoreSearch: true })).then((kept) => kept ?? fetch(event.request)),
  );
});
