import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useState } from "react";
import type { ApiError } from "../api/error";
import type { Event } from "../api/types";
import { useHub } from "../store/hub";
import type { Item } from "../talk/item";
import { conversationTexts as t } from "../texts/conversation";
import { IconButton } from "../ui/buttons";
import { CopyButton } from "../ui/CopyButton";
import { LongText } from "../ui/code/Code";
import { Dialog } from "../ui/dialogs";
import { ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import styles from "./RawDialog.module.css";

/** The events that an item was made of, as they lie in the log. */
export function RawDialog({ session, item, onClose }: { session: string; item: Item; onClose(): void }) {
  const events = [...new Set([...(item.event ? [item.event] : []), ...(item.more ?? [])])];
  const [at, setAt] = useState(0);
  const event = events[Math.min(at, events.length - 1)];
  return (
    <Dialog title={t.rawTitle} isOpen onClose={onClose} size="xl">
      {event === undefined ? <p>{t.rawNone}</p> : <RawEvent key={event} session={session} id={event} />}
      {events.length > 1 ? (
        <nav className={styles.nav} aria-label={t.rawTitle}>
          <IconButton icon={<ChevronLeft size={16} />} label={t.previous} isDisabled={at === 0} onPress={() => setAt(at - 1)} />
          <span>{t.rawOf(at + 1, events.length)}</span>
          <IconButton
            icon={<ChevronRight size={16} />}
            label={t.next}
            isDisabled={at >= events.length - 1}
            onPress={() => setAt(at + 1)}
          />
        </nav>
      ) : null}
    </Dialog>
  );
}

/** One event, as it lies in the log. */
export function RawEvent({ session, id }: { session: string; id: string }) {
  const { api } = useHub();
  const [tries, setTries] = useState(0);
  const [found, setFound] = useState<{ event?: Event; error?: ApiError }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try asks again
  useEffect(() => {
    const stop = new AbortController();
    api.call("get-events", { params: { id: session }, query: { after: idBefore(id), limit: 1 }, signal: stop.signal }).then(
      (page) => setFound({ event: page.events?.find((event) => event.id === id) }),
      (error: ApiError) => {
        if (!stop.signal.aborted) setFound({ error });
      },
    );
    return () => stop.abort();
  }, [api, session, id, tries]);
  if (!found) return <Spinner label={t.rawLoading} />;
  if (found.error) return <ErrorNote error={found.error} onRetry={() => setTries(tries + 1)} />;
  if (!found.event) return <p>{t.rawGone}</p>;
  const text = rawText(found.event);
  return (
    <section className={styles.event}>
      <header className={styles.head}>
        <span>
          {t.rawEvent} <code>{id}</code>
        </span>
        <CopyButton text={text} label={t.copy} />
      </header>
      <LongText text={text} lang="json" wrap />
    </section>
  );
}

/** The whole of an event. One that is nested more deeply than the browser can follow must not take the page along. */
export function rawText(event: Event): string {
  try {
    return JSON.stringify(event, null, 2);
  } catch {
    return t.rawTooDeep;
  }
}

/** The id that an event comes right after: numbers are dense within an epoch. */
export function idBefore(id: string): string | undefined {
  const colon = id.lastIndexOf(":");
  const seq = Number(id.slice(colon + 1));
  return colon < 0 || !Number.isSafeInteger(seq) || seq <= 1 ? undefined : `${id.slice(0, colon)}:${seq - 1}`;
}
