import { type AnchorHTMLAttributes, createElement, type MouseEvent, type Ref, useMemo, useSyncExternalStore } from "react";

/** A place in the console. It stands in the fragment of the address, so that the server needs to know no paths. */
export type Route =
  | { page: "sessions" }
  | { page: "inbox"; question?: string }
  | { page: "session"; id: string; event?: string; view?: "timeline" }
  | { page: "search"; q: string }
  | { page: "insight"; tab: string }
  | { page: "rules" }
  | { page: "machines" }
  | { page: "settings" };

/** The address of a place, for links: "#/s/ID/e/EVENT". */
export function href(route: Route): string {
  switch (route.page) {
    case "sessions":
      return "#/";
    case "inbox":
      return route.question ? `#/inbox/${encodeURIComponent(route.question)}` : "#/inbox";
    case "session": {
      const session = `#/s/${encodeURIComponent(route.id)}`;
      if (route.view === "timeline") return `${session}/timeline`;
      return route.event ? `${session}/e/${encodeURIComponent(route.event)}` : session;
    }
    case "search":
      return route.q ? `#/search?q=${encodeURIComponent(route.q)}` : "#/search";
    case "insight":
      return `#/insight/${encodeURIComponent(route.tab)}`;
    case "rules":
      return "#/rules";
    case "machines":
      return "#/machines";
    case "settings":
      return "#/settings";
  }
}

/** The place that a fragment means. What nobody knows is the list of sessions. */
export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [first, second, third, fourth] = path.split("/").map(decode);
  if (first === "inbox") return second ? { page: "inbox", question: second } : { page: "inbox" };
  // Notifications of the hub link to #/sessions/ID and #/sessions/ID/questions/QUESTION.
  if (first === "sessions" && second) {
    if (third === "questions" && fourth) return { page: "inbox", question: fourth };
    return { page: "session", id: second };
  }
  if (first === "s" && second) {
    if (third === "timeline") return { page: "session", id: second, view: "timeline" };
    if (third === "e" && fourth) return { page: "session", id: second, event: fourth };
    return { page: "session", id: second };
  }
  if (first === "search") return { page: "search", q: new URLSearchParams(query).get("q") ?? "" };
  // Rules were a part of the insights once.
  if (first === "rules" || (first === "insight" && second === "rules")) return { page: "rules" };
  if (first === "insight") return { page: "insight", tab: second || "costs" };
  if (first === "machines") return { page: "machines" };
  if (first === "settings") return { page: "settings" };
  return { page: "sessions" };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Goes to a place. With `replace` the browser's back button skips the one that is left. */
export function go(route: Route, options?: { replace?: boolean }): void {
  const to = href(route);
  if (to === location.hash) return;
  if (options?.replace) {
    history.replaceState({ depth: depth() }, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = to;
  }
}

/** Goes back where one came from, or to `fallback` if the console was opened here: what came before is not ours to go to. */
export function back(fallback: Route): void {
  if (depth() > 0) history.back();
  else go(fallback, { replace: true });
}

/** How many places of the console lie before the one that is shown. Each entry of the browser's history remembers its own. */
function depth(): number {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "depth" in state && typeof state.depth === "number" ? state.depth : 0;
}

let shown = typeof history === "undefined" ? 0 : depth();

// An entry that nobody has marked is a new one, after the one that was shown.
function mark(): void {
  const state: unknown = history.state;
  if (typeof state !== "object" || state === null || !("depth" in state)) history.replaceState({ depth: shown + 1 }, "");
  shown = depth();
}

function subscribe(changed: () => void): () => void {
  const arrived = () => {
    mark();
    changed();
  };
  addEventListener("hashchange", arrived);
  return () => removeEventListener("hashchange", arrived);
}

/** The place that is shown. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => parse(hash), [hash]);
}

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> & { to: Route; ref?: Ref<HTMLAnchorElement> };

/** A link to a place: a real one, so that it can be copied and opened in another tab. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  return createElement("a", {
    ...rest,
    href: href(to),
    onClick: (e: MouseEvent<HTMLAnchorElement>) => onClick?.(e),
  });
}
