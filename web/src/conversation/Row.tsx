import { Copy, Ellipsis } from "lucide-react";
import { memo, type ReactNode, useCallback, useContext, useEffect, useRef } from "react";
import { isField } from "../app/keys";
import { QuestionRow, useAskedBelow } from "../ask";
import type { OpenSession } from "../store/hub";
import { usePart, useReadable } from "../store/readable";
import { useWho } from "../store/who";
import type { Item } from "../talk/item";
import { conversationTexts as t } from "../texts/conversation";
import { ToolCard } from "../tools";
import { NoticeRow } from "../tools/Notice";
import { RefusalRow } from "../tools/Refusal";
import { classes } from "../ui/classes";
import { formatTime } from "../ui/format";
import { Contained } from "../ui/notes";
import { PlaceContext } from "./context";
import { countRow } from "./count";
import { PromptBody } from "./Prompt";
import styles from "./Row.module.css";
import { TextBody } from "./Text";
import { ThinkingBody } from "./Thinking";
import { TurnBody } from "./Turn";
import { UnknownBody } from "./Unknown";

interface RowProps {
  session: OpenSession;
  id: string;
  /** Its place among those at the top, from 1; absent within a sub-agent. */
  place?: number;
}

/** One item. It listens to that item alone, so that a delta draws one row and no other. */
export const Row = memo(function Row({ session, id, place }: RowProps) {
  const item = useReadable(session.item(id));
  const { selected, wanted } = useContext(PlaceContext);
  const isSelected = usePart(
    selected,
    useCallback((chosen: string | undefined) => chosen === id, [id]),
  );
  const article = useRef<HTMLElement>(null);
  const who = useWho();
  useEffect(() => {
    // Whoever reads by keyboard or ear goes along.
    if (!isSelected || wanted.id !== id || !article.current) return;
    wanted.id = undefined;
    goTo(article.current);
  }, [isSelected, wanted, id]);
  // Within a sub-agent a call stays: it says which of several agents asks.
  const below = useAskedBelow(session.id, place === undefined ? undefined : item);
  countRow();
  if (!item) return null;
  return (
    <article
      ref={article}
      className={classes(styles.row, place === undefined && styles.nested)}
      hidden={below}
      data-kind={item.kind}
      data-item={id}
      data-selected={isSelected || undefined}
      tabIndex={isSelected ? 0 : -1}
      aria-label={label(item, who)}
      aria-posinset={place}
      aria-setsize={place === undefined ? undefined : -1}
      onFocus={(e) => {
        e.stopPropagation();
        selected.set(id);
      }}
    >
      <Contained of={item} hint={t.notDrawn}>
        <Body session={session} item={item} />
      </Contained>
      {item.kind === "tool" ? null : <Actions item={item} />}
    </article>
  );
});

function Body({ session, item }: { session: OpenSession; item: Item }): ReactNode {
  const nested = useCallback((id: string) => <Row key={id} session={session} id={id} />, [session]);
  switch (item.kind) {
    case "prompt":
      return <PromptBody item={item} />;
    case "text":
      return <TextBody item={item} />;
    case "thinking":
      return <ThinkingBody item={item} />;
    case "tool":
      return <ToolCard session={session} item={item} nested={nested} />;
    case "question":
      return <QuestionRow question={item.question} />;
    case "turn":
      return <TurnBody session={session} item={item} />;
    case "refusal":
      return <RefusalRow refusal={item.refusal} />;
    case "notice":
      return <NoticeRow item={item} />;
    case "unknown":
      return <UnknownBody item={item} />;
  }
}

/** Gives a row the focus, unless somebody types, or is at a control within it. */
export function goTo(row: HTMLElement): void {
  const now = document.activeElement;
  if (!isField(now) && !row.contains(now)) row.focus({ preventScroll: true });
}

/** What one can do with a row. Plain buttons: hundreds of rows come by while one scrolls, and the menu is one for all. */
function Actions({ item }: { item: Item }) {
  const { copy, menu } = useContext(PlaceContext);
  return (
    <div className={styles.actions}>
      {item.time ? <time dateTime={item.time}>{clock(item.time)}</time> : null}
      <button
        type="button"
        className={classes(styles.action, styles.copy)}
        aria-label={t.copy}
        title={t.copy}
        onClick={() => copy(item)}
      >
        <Copy size={14} aria-hidden="true" />
      </button>
      <button
        type="button"
        className={styles.action}
        aria-label={t.actions}
        aria-haspopup="menu"
        title={t.actions}
        onClick={(e) => menu(item, e.currentTarget)}
      >
        <Ellipsis size={16} aria-hidden="true" />
      </button>
    </div>
  );
}

function label(item: Item, who: (by: string | undefined) => string): string {
  switch (item.kind) {
    case "prompt":
      return t.labels.prompt(who(item.by));
    case "tool":
      return t.labels.tool(item.name);
    default:
      return t.labels[item.kind];
  }
}

/** The time of day, which is what one wants to know of a message; nothing if it is no time. */
export function clock(time: string): string {
  return formatTime(time);
}
