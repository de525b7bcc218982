import { useEffect } from "react";
import { titleOf } from "../sessions/list";
import { type Hub, useHub } from "../store/hub";
import { Cell, useReadable } from "../store/readable";
import { appTexts as t } from "../texts/app";
import { trustedWorker } from "../ui/markdown/policy";
import { remembered } from "../ui/remembered";
import { visible } from "../ui/visible";
import { type News, type NewsKind, questionChanges, questionNews, stopNews, stopped } from "./news";

export interface NotifySettings {
  /** What somebody wants to be told. */
  kinds: Record<NewsKind, boolean>;
  /** "Not now" was said to the gentle question in the inbox. */
  declined: boolean;
}

const key = "switchboard.notify";
const defaults: NotifySettings = { kinds: { asks: true, done: true, failed: true }, declined: false };

function stored(): NotifySettings {
  try {
    const value: Partial<NotifySettings> = JSON.parse(remembered.get(key) ?? "{}");
    return { kinds: { ...defaults.kinds, ...value.kinds }, declined: value.declined === true };
  } catch {
    return defaults;
  }
}

export const notifySettings = new Cell<NotifySettings>(stored());

export function setNotifySettings(change: Partial<NotifySettings>): void {
  const next = { ...notifySettings.get(), ...change };
  remembered.set(key, JSON.stringify(next));
  notifySettings.set(next);
}

/** Whether notifications can be shown: asked for yet or not, or not at this address. */
export type Permission = "unsupported" | "default" | "granted" | "denied";

export const permission = new Cell<Permission>(currentPermission());

function currentPermission(): Permission {
  const able =
    typeof window !== "undefined" &&
    window.isSecureContext &&
    "Notification" in window &&
    "serviceWorker" in navigator &&
    "locks" in navigator;
  return able ? Notification.permission : "unsupported";
}

/** Asks the browser for its permission. To be called from a press. */
export async function enableNotifications(): Promise<void> {
  if (permission.get() === "unsupported") return;
  await Notification.requestPermission();
  permission.set(currentPermission());
}

async function worker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(trustedWorker(), { scope: "./" });
  return navigator.serviceWorker.ready;
}

async function show(news: News): Promise<void> {
  const registration = await worker();
  await registration.showNotification(news.title, {
    body: visible(news.body.slice(0, 300)),
    tag: news.tag,
    icon: "./icon-192.png",
    data: { to: news.to },
  });
}

async function takeBack(tag: string): Promise<void> {
  const registration = await worker();
  for (const notification of await registration.getNotifications({ tag })) notification.close();
}

/** Shows a notification that means nothing, for somebody to see how they look. */
export function showTest(): Promise<void> {
  return show({ kind: "asks", tag: "test", title: t.notify.testTitle, body: t.notify.testBody, to: location.hash || "#/" });
}

/** Shows what agents need while no tab is in sight. Of several tabs one does it: the one that has the lock. */
export function useNotifications(): void {
  const hub = useHub();
  const allowed = useReadable(permission) === "granted";
  useEffect(() => {
    // The permission can also be changed in the settings of the browser.
    const look = () => permission.set(currentPermission());
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, []);
  useEffect(() => {
    if (!allowed) return;
    const ended = new AbortController();
    const ignore = () => undefined;
    const follow = (e: MessageEvent<unknown>) => {
      const data = e.data;
      if (typeof data === "object" && data !== null && "to" in data && typeof data.to === "string" && data.to.startsWith("#/"))
        location.hash = data.to;
    };
    navigator.serviceWorker.addEventListener("message", follow, { signal: ended.signal });
    addEventListener(
      "storage",
      (e) => {
        if (e.key === key) notifySettings.set(stored());
      },
      { signal: ended.signal },
    );
    worker().catch(ignore);
    beSeen(ended.signal);
    navigator.locks
      .request("switchboard.notify", { signal: ended.signal }, () => {
        const stop = watch(hub);
        return aborted(ended.signal).then(stop);
      })
      .catch(ignore);
    return () => ended.abort();
  }, [allowed, hub]);
}

const seen = "switchboard.seen";

/** Holds a lock while this tab is in sight, so that the tab that notifies knows. */
function beSeen(signal: AbortSignal): void {
  let hide: (() => void) | undefined;
  const update = () => {
    const visible = document.visibilityState === "visible";
    if (!visible) {
      hide?.();
      hide = undefined;
    } else if (!hide) {
      const hidden = new Promise<void>((resolve) => {
        hide = resolve;
      });
      navigator.locks
        .request(seen, { mode: "shared", signal }, () => Promise.race([hidden, aborted(signal)]))
        .catch(() => undefined);
    }
  };
  document.addEventListener("visibilitychange", update, { signal });
  update();
}

async function anySeen(): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  return held.some((lock) => lock.name === seen);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Tells what changes from now on; what was there before is no news. */
function watch(hub: Hub): () => void {
  let questions = hub.questions.get();
  let sessions = hub.sessions.get();
  const snapshot = (id: string) => hub.api.call("get-session", { params: { id } });
  // A session that has just begun may ask before it is in the list.
  const name = async (id: string) => titleOf(hub.sessions.get().byId.get(id) ?? (await snapshot(id)));
  // A notification that could not be shown has no better place to be told: title and badge say the same.
  const quietly = (work: Promise<unknown>) => void work.catch(() => undefined);
  const tell = async (news: News | undefined) => {
    if (news && notifySettings.get().kinds[news.kind] && !(await anySeen())) await show(news);
  };
  const stops = [
    hub.questions.subscribe(() => {
      const next = hub.questions.get();
      const { opened, settled } = questionChanges(questions.list, next.list);
      const first = !questions.loaded;
      questions = next;
      for (const question of first ? [] : opened) {
        quietly(name(question.session).then((session) => tell(questionNews(question, session))));
      }
      for (const id of settled) quietly(takeBack(`question ${id}`));
    }),
    hub.sessions.subscribe(() => {
      const next = hub.sessions.get();
      const idle = sessions.loaded ? stopped(sessions.byId, next.byId) : [];
      sessions = next;
      for (const { id } of idle) {
        quietly(snapshot(id).then((session) => tell(stopNews(session, titleOf(session)))));
      }
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
