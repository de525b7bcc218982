import { MessageSquare, SearchX } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ApiError } from "../api/error";
import type { Session } from "../api/types";
import { useCommands } from "../app/commands";
import { useKeys } from "../app/keys";
import { Link } from "../app/router";
import { QuestionBar } from "../ask";
import { Composer } from "../compose";
import { SessionHeader } from "../steer";
import type { OpenSession } from "../store/hub";
import { Cell, usePart, useReadable } from "../store/readable";
import { useOpenSession } from "../store/useOpenSession";
import type { Item } from "../talk/item";
import { conversationTexts as t } from "../texts/conversation";
import { copyText } from "../ui/CopyButton";
import { EmptyState, ErrorNote, Note } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { toast } from "../ui/toast";
import { Announcer } from "./Announcer";
import styles from "./ConversationPage.module.css";
import { PlaceContext } from "./context";
import { FindBar } from "./FindBar";
import { Folds, FoldsContext } from "./fold";
import { openAt, openTo, topOf } from "./found";
import { List, type ListHandle } from "./List";
import { places, type Reading } from "./places";
import { plainText } from "./plain";
import { RawDialog } from "./RawDialog";
import { RowMenu } from "./RowMenu";
import { itemHref, RawContext } from "./raw";

/** A session on the screen: its header, its conversation, what it asks, and the composer. */
export function ConversationPage({ id, event }: { id: string; event?: string }) {
  const session = useOpenSession(id);
  if (!session) return <div className={styles.page} />;
  // Another session is another page: nothing of one is left on the other.
  return <OpenPage key={id} session={session} event={event} />;
}

function OpenPage({ session, event }: { session: OpenSession; event?: string }) {
  const { error, session: known } = useReadable(session.snapshot);
  const [kept] = useState(() => (event === undefined ? places.get(session.id) : undefined));
  const [folds] = useState(() => kept?.folds ?? new Folds());
  const [selected] = useState(() => new Cell<string | undefined>(undefined));
  const [wanted] = useState<{ id?: string }>(() => ({}));
  const [raw, setRaw] = useState<Item>();
  const [menu, setMenu] = useState<Item>();
  // How often it was asked for a text to find; zero while nobody looks for one.
  const [finding, setFinding] = useState(0);
  const menuAt = useRef<Element | null>(null);
  const list = useRef<ListHandle>(null);
  const rows = useRef<HTMLDivElement>(null);

  const copy = useCallback(async (item: Item) => {
    if (await copyText(plainText(item))) toast({ title: t.copied });
  }, []);
  const link = useCallback(
    async (item: Item) => {
      if (!item.event) toast({ title: t.notLinked });
      else if (await copyText(itemHref(session.id, item))) toast({ title: t.linked });
    },
    [session],
  );
  const simulated = usePart(session.snapshot, isSimulated);
  const place = useMemo(
    () => ({
      selected,
      wanted,
      simulated,
      copy: (item: Item) => void copy(item),
      menu: (item: Item, at: Element) => {
        menuAt.current = at;
        setMenu(item);
      },
    }),
    [selected, wanted, simulated, copy],
  );

  useDeepLink(session, event, folds, list);
  useKeptPlace(session, kept, list);

  const toggle = (item: Item) => {
    list.current?.keep(item.id);
    folds.toggle(item.id);
  };
  const find = () => setFinding((times) => times + 1);
  const withSelected = (run: (item: Item) => void) => () => {
    const item = session.item(selected.get() ?? "").get();
    if (item) run(item);
  };
  useKeys(t.keys.group, [
    { keys: "j", label: t.keys.next, run: () => list.current?.step(1) },
    { keys: "k", label: t.keys.previous, run: () => list.current?.step(-1) },
    { keys: "g g", label: t.keys.first, run: () => list.current?.first() },
    { keys: "G", label: t.keys.last, run: () => list.current?.end() },
    { keys: "enter", label: t.keys.fold, run: withSelected(toggle) },
    { keys: "y", label: t.keys.copy, run: withSelected((item) => void copy(item)) },
    { keys: "r", label: t.keys.raw, run: withSelected(setRaw) },
    { keys: "l", label: t.keys.link, run: withSelected((item) => void link(item)) },
    { keys: "mod+f", label: t.keys.find, run: find },
  ]);
  useCommands(t.keys.group, [
    { id: "conversation.find", label: t.keys.find, keys: "mod+f", run: find },
    { id: "conversation.end", label: t.toEnd, keys: "G", run: () => list.current?.end() },
  ]);

  if (error && !known) return <Missing error={error} />;
  return (
    <RawContext value={setRaw}>
      <FoldsContext value={folds}>
        <PlaceContext value={place}>
          <div className={styles.page}>
            <SessionHeader session={session} />
            {finding > 0 ? (
              <FindBar
                session={session}
                rows={rows}
                asked={finding}
                onShow={(found, text) => {
                  openAt(session, folds, found, text);
                  list.current?.show(found, text);
                }}
                onClose={() => setFinding(0)}
              />
            ) : null}
            <Remarks session={session} />
            <div ref={rows} className={styles.rows}>
              <List session={session} handle={list} />
              <Nothing session={session} />
            </div>
            <Announcer session={session} />
            <QuestionBar session={session} />
            <Composer session={session} />
          </div>
          {raw ? <RawDialog session={session.id} item={raw} onClose={() => setRaw(undefined)} /> : null}
          {menu ? (
            <RowMenu
              session={session}
              item={menu}
              at={menuAt}
              onClose={() => setMenu(undefined)}
              onCopy={(item) => void copy(item)}
              onLink={(item) => void link(item)}
              onRaw={setRaw}
            />
          ) : null}
        </PlaceContext>
      </FoldsContext>
    </RawContext>
  );
}

function isSimulated({ session }: { session?: Session }): boolean {
  return session?.simulated === true;
}

/** Shows the row that a link leads to, and says so if there is none. */
function useDeepLink(
  session: OpenSession,
  event: string | undefined,
  folds: Folds,
  list: { readonly current: ListHandle | null },
): void {
  useEffect(() => {
    if (event === undefined) return;
    let current = true;
    session.reveal(event).then(
      (id) => {
        if (!current) return;
        if (id === undefined) {
          toast({ title: t.noEvent, tone: "warn" });
          return;
        }
        openTo(session, folds, id);
        list.current?.show(id);
      },
      () => {
        if (current) toast({ title: t.noEvent, tone: "warn" });
      },
    );
    return () => {
      current = false;
    };
  }, [session, event, folds, list]);
}

/** Goes back to where somebody was when they left the session. What is not in the log any more is not gone back to. */
function useKeptPlace(session: OpenSession, kept: Reading | undefined, list: { readonly current: ListHandle | null }): void {
  useEffect(() => {
    if (!kept) return;
    let current = true;
    const back = (id: string | undefined) => {
      if (current && id !== undefined) list.current?.back(topOf(session, id), kept.above);
    };
    session.reveal(kept.event).then(
      (id) => back(session.order.get().ids.includes(kept.id) ? kept.id : id),
      () => {},
    );
    return () => {
      current = false;
    };
  }, [session, kept, list]);
}

/** What is to be said of the log as a whole. */
function Remarks({ session }: { session: OpenSession }) {
  const { notice, error: unread } = useReadable(session.order);
  const { error, session: known } = useReadable(session.snapshot);
  return (
    <div role="status">
      {notice ? <Note tone="warn">{notice === "gap" ? t.gap : t.reset}</Note> : null}
      {unread && known ? (
        <ErrorNote error={unread} onRetry={() => void session.older()} />
      ) : error && known ? (
        <ErrorNote error={error} />
      ) : null}
    </div>
  );
}

/** What stands where no rows are. */
function Nothing({ session }: { session: OpenSession }) {
  const { ids, loading, error } = useReadable(session.order);
  const { session: known } = useReadable(session.snapshot);
  if (ids.length > 0 || error) return null;
  return (
    <div className={styles.nothing}>
      {loading || !known ? (
        <Spinner label={t.loading} />
      ) : (
        <EmptyState icon={<MessageSquare size={32} />} title={t.empty}>
          {t.emptyHint}
        </EmptyState>
      )}
    </div>
  );
}

/** The page of a session that cannot be read: a link that is old or mistyped, or a hub that is away. */
function Missing({ error }: { error: ApiError }) {
  const gone = error.status === 404;
  return (
    <div className={styles.page}>
      <EmptyState className={styles.missing} icon={<SearchX size={32} />} title={gone ? t.notThere : t.notRead}>
        {gone ? <p>{t.notThereHint}</p> : <ErrorNote error={error} />}
        <p>
          <Link to={{ page: "sessions" }}>{t.allSessions}</Link>
        </p>
      </EmptyState>
    </div>
  );
}
