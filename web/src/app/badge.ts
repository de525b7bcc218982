import { useEffect } from "react";
import type { Question } from "../api/types";
import { useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { appTexts as t } from "../texts/app";
import { visible } from "../ui/visible";
import type { Route } from "./router";

/** How many questions wait for an answer. */
export function openQuestions({ list }: { list: readonly Question[] }): number {
  return list.reduce((n, question) => (question.state === "open" ? n + 1 : n), 0);
}

/** The name of a place, for people. */
export function placeName(route: Route, session: string | undefined): string {
  // Titles come from agents: none may turn the rest of the line around.
  return route.page === "session" && session ? visible(session) : t.pages[route.page];
}

/** The title of the browser's tab: how many questions wait, then the place. */
export function pageTitle(route: Route, session: string | undefined, questions: number): string {
  const place = placeName(route, session);
  return `${questions > 0 ? `(${questions}) ` : ""}${place} – ${hubName()}`;
}

/** The product and the address of the hub: tabs of two hubs are told apart by it. */
function hubName(): string {
  return typeof location === "undefined" || location.host === "" ? t.name : t.nameAt(location.host);
}

/** The icon of the console with the number of questions in a corner, as an address of its own. */
export function badgedIcon(questions: number): string {
  const label = questions > 9 ? "9+" : String(questions);
  const size = label.length > 1 ? 13 : 15;
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5fd6"/>' +
    '<path d="M8 10h4c5 0 3 12 8 12h4" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/>' +
    '<circle cx="22" cy="10" r="10" fill="#b3231a"/>' +
    `<text x="22" y="15" fill="#fff" font-family="sans-serif" font-size="${size}" font-weight="700" text-anchor="middle">${label}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

function showBadge(questions: number): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (icon) icon.href = questions > 0 ? badgedIcon(questions) : "./icon.svg";
  const app: { setAppBadge?: (n: number) => Promise<void>; clearAppBadge?: () => Promise<void> } = navigator;
  // Not every browser has badges, and those that do may not allow them: the title says the same.
  const set = questions > 0 ? app.setAppBadge?.(questions) : app.clearAppBadge?.();
  set?.catch(() => undefined);
}

/** Whoever is logged out is told nothing of what waits. */
function forget(): void {
  document.title = t.name;
  showBadge(0);
}

/** Keeps the title of the tab, its icon and the badge of the installed app current. Returns the name of the place. */
export function useBadge(route: Route): string {
  const hub = useHub();
  const questions = usePart(hub.questions, openQuestions);
  const id = route.page === "session" ? route.id : undefined;
  const session = usePart(hub.sessions, ({ byId }) => (id === undefined ? undefined : byId.get(id)?.title));
  useEffect(() => {
    document.title = pageTitle(route, session, questions);
  }, [route, session, questions]);
  useEffect(() => showBadge(questions), [questions]);
  useEffect(() => forget, []);
  return placeName(route, session);
}
