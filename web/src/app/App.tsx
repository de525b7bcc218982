import { type ComponentType, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { SessionDialogs } from "../sessions/SessionDialogs";
import { useSeen } from "../sessions/useSeen";
import { useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { appTexts as t } from "../texts/app";
import { Confirmations } from "../ui/dialogs";
import { useWide } from "../ui/hooks";
import { Split } from "../ui/panes";
import { Spinner } from "../ui/signs";
import { Toasts } from "../ui/toast";
import css from "./App.module.css";
import { Banner } from "./Banner";
import { useBadge } from "./badge";
import { Help } from "./Help";
import { listenToKeys, useKeys } from "./keys";
import { loadPatiently } from "./load";
import { Announcement, Navigation } from "./Navigation";
import { useNotifications } from "./notifications";
import { PageError } from "./PageError";
import { Palette } from "./Palette";
import { go, type Route, useRoute } from "./router";

const sessions = () => import("../sessions");
const conversation = () => import("../conversation");
const inbox = () => import("../ask");

const SessionsPane = page(() => sessions().then((m) => m.SessionsPane));
const WelcomePage = page(() => sessions().then((m) => m.WelcomePage));
const SearchPage = page(() => sessions().then((m) => m.SearchPage));
const ConversationPage = page(() => conversation().then((m) => m.ConversationPage));
const InboxPage = page(() => inbox().then((m) => m.InboxPage));
const InsightPage = page(() => import("../insight").then((m) => m.InsightPage));
const RulesPage = page(() => import("../insight").then((m) => m.RulesPage));
const MachinesPage = page(() => import("../machines").then((m) => m.MachinesPage));
const TimelinePage = page(() => import("../insight").then((m) => m.TimelinePage));
const SettingsPage = page(() => import("./Settings").then((m) => m.SettingsPage));

function page<P>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => ({ default: await loadPatiently(load) }));
}

/** Begins to load what a page consists of, while it is still being found out who somebody is. What fails is loaded when it is shown. */
export function preload(route: Route): void {
  const parts =
    route.page === "session"
      ? [conversation, sessions]
      : route.page === "inbox"
        ? [inbox]
        : route.page === "sessions"
          ? [sessions]
          : [];
  for (const load of parts) load().catch(() => undefined);
}

/** The console, once somebody is logged in. */
export function App() {
  const route = useRoute();
  const wide = useWide();
  const [open, setOpen] = useState<"palette" | "help">();
  useEffect(() => listenToKeys(window), []);
  const place = useBadge(route);
  useFocusOnArrival(pageName(route));
  useNotifications();
  useSeen(route.page === "session" ? route.id : undefined);
  useKeys(t.keys.everywhere, [
    { keys: "mod+k", label: t.keys.open, run: () => setOpen("palette"), inField: true },
    { keys: "?", label: t.keys.help, run: () => setOpen("help") },
    { keys: "g s", label: t.keys.sessions, run: () => go({ page: "sessions" }) },
    { keys: "g i", label: t.keys.inbox, run: () => go({ page: "inbox" }) },
    { keys: "g f", label: t.keys.search, run: () => go({ page: "search", q: "" }) },
    { keys: "g c", label: t.keys.insight, run: () => go({ page: "insight", tab: "costs" }) },
    { keys: "g r", label: t.keys.rules, run: () => go({ page: "rules" }) },
    { keys: "g m", label: t.keys.machines, run: () => go({ page: "machines" }) },
    { keys: "g ,", label: t.keys.settings, run: () => go({ page: "settings" }) },
  ]);
  const withNavigation = wide || route.page !== "session";
  return (
    <div className={css.app}>
      <button type="button" className={css.skip} onClick={() => document.getElementById("main")?.focus()}>
        {t.skip}
      </button>
      <Banner />
      <div className={css.body}>
        {withNavigation && (
          <Navigation route={route} wide={wide} onHelp={() => setOpen("help")} onPalette={() => setOpen("palette")} />
        )}
        <div className={css.panes}>{wide ? <WidePanes route={route} /> : <NarrowPane route={route} />}</div>
      </div>
      <Palette isOpen={open === "palette"} onClose={() => setOpen(undefined)} onHelp={() => setOpen("help")} />
      <SessionDialogs />
      <Help isOpen={open === "help"} onClose={() => setOpen(undefined)} />
      <p className={css.unseen} role="status">
        {place}
      </p>
      <Announcement />
      <Confirmations />
      <Toasts />
    </div>
  );
}

/** The list beside the session that is read; other pages have the whole width. */
function WidePanes({ route }: { route: Route }) {
  if (route.page !== "sessions" && route.page !== "session") return <Main route={route} />;
  return (
    <Split
      name="sessions"
      label={t.pages.sessions}
      first={
        <div className={css.list}>
          <Page name="sessions">
            <SessionsPane {...(route.page === "session" ? { selected: route.id } : {})} />
          </Page>
        </div>
      }
      second={<Main route={route} />}
    />
  );
}

function NarrowPane({ route }: { route: Route }) {
  const { loaded, byId } = useReadable(useHub().sessions);
  if (route.page === "sessions" && !(loaded && byId.size === 0)) {
    return (
      <main id="main" tabIndex={-1} className={css.main}>
        <Page name="sessions">
          <SessionsPane />
        </Page>
      </main>
    );
  }
  return <Main route={route} />;
}

function Main({ route }: { route: Route }) {
  return (
    <main id="main" tabIndex={-1} className={css.main}>
      <Page name={pageName(route)}>{content(route)}</Page>
    </main>
  );
}

/** Another session is another page: nothing of one, such as where it was scrolled to, is for the other. */
function pageName(route: Route): string {
  return route.page === "session" ? `${route.view ?? "session"} ${route.id}` : route.page;
}

/** What had the focus may be gone with the page that was left: the keyboard then goes on in the new one. */
function useFocusOnArrival(name: string): void {
  const shown = useRef(name);
  useEffect(() => {
    if (shown.current === name) return;
    shown.current = name;
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  }, [name]);
}

function content(route: Route): ReactNode {
  switch (route.page) {
    case "sessions":
      return <WelcomePage />;
    case "inbox":
      return <InboxPage {...(route.question ? { question: route.question } : {})} />;
    case "session":
      if (route.view === "timeline") return <TimelinePage id={route.id} />;
      return <ConversationPage id={route.id} {...(route.event ? { event: route.event } : {})} />;
    case "search":
      return <SearchPage q={route.q} />;
    case "insight":
      return <InsightPage tab={route.tab} />;
    case "rules":
      return <RulesPage />;
    case "machines":
      return <MachinesPage />;
    case "settings":
      return <SettingsPage />;
  }
}

function Page({ name, children }: { name: string; children: ReactNode }) {
  return (
    <PageError key={name}>
      <Suspense fallback={<Spinner label={t.loading} className={css.loading ?? ""} />}>{children}</Suspense>
    </PageError>
  );
}
