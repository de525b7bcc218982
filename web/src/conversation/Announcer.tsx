import { useEffect, useState } from "react";
import type { OpenSession } from "../store/hub";
import type { Item } from "../talk/item";
import { eventNumber } from "../talk/keys";
import { conversationTexts as t } from "../texts/conversation";
import { sandboxTexts } from "../texts/sandbox";
import { talkTexts } from "../texts/talk";
import css from "../ui/unseen.module.css";
import { reason } from "./Turn";

/** How long a sentence stands before the next one: whoever listens hears one to its end. */
const pause = 3000;
/** How many sentences are told at once when many have come; the newest count. */
const most = 3;

/**
 * Tells those who listen to the page what happens in the conversation and matters: that a turn has ended, that something went wrong, that
 * the conversation is being summed up. What is asked is told by the bar of questions. What is being written is not told: it would never end.
 */
export function Announcer({ session }: { session: OpenSession }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const news = new News(session);
    let waiting: string[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = () => {
      // It is emptied in between: the same sentence once more would not be told.
      setSaid(waiting.join(". "));
      timer = waiting.length > 0 ? setTimeout(tell, pause) : undefined;
      waiting = [];
    };
    const stop = session.order.subscribe(() => {
      waiting = [...waiting, ...news.take()].slice(-most);
      if (timer === undefined && waiting.length > 0) tell();
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [session]);
  return (
    <p className={css.unseen} role="status">
      {said}
    </p>
  );
}

/** What comes to the end of a conversation from now on. */
export class News {
  private readonly session: OpenSession;
  private generation: number | undefined;
  /** The newest event that was looked at. */
  private seen = "";
  /** The compaction that was told of. */
  private compaction = "";

  constructor(session: OpenSession) {
    this.session = session;
    this.take();
  }

  /** The sentences about what has come since the last look. What was there at first, or after a reset, is no news. */
  take(): string[] {
    const { ids, loading, generation } = this.session.order.get();
    if (loading && this.generation === undefined) return [];
    const fresh: Item[] = [];
    let newest = "";
    // From the end: however long the conversation is, only what is new is looked at.
    for (let i = ids.length - 1; i >= 0; i--) {
      const item = this.session.item(ids[i] ?? "").get();
      if (item?.streaming) fresh.unshift(item);
      if (!item?.event || item.streaming) continue;
      newest ||= item.event;
      if (generation !== this.generation || !isLater(item.event, this.seen)) break;
      fresh.unshift(item);
    }
    const sentences = fresh.map((item) => (item.streaming ? this.begun(item) : sentenceOf(item)));
    const old = generation !== this.generation;
    this.generation = generation;
    this.seen = newest || (old ? "" : this.seen);
    return old ? [] : sentences.filter(Boolean);
  }

  private begun(item: Item): string {
    if (item.kind !== "notice" || item.topic !== "compaction" || item.id === this.compaction) return "";
    this.compaction = item.id;
    return item.title;
  }
}

/** Whether an event came after another; one of another log, after a gap, did. */
function isLater(event: string, other: string): boolean {
  const epoch = (id: string) => id.slice(0, Math.max(id.indexOf(":"), 0));
  return epoch(event) !== epoch(other) || eventNumber(event) > eventNumber(other);
}

function sentenceOf(item: Item): string {
  if (item.kind === "turn") {
    if (item.interrupted) return t.turnStopped;
    return item.failed ? `${t.turnFailed}: ${reason(item).slice(0, 200)}` : t.turnDone;
  }
  if (item.kind === "refusal") return sandboxTexts.refused(item.refusal).slice(0, 200);
  if (item.kind === "notice" && item.level === "bad") return `${talkTexts.topics.bad}: ${item.title.slice(0, 200)}`;
  return "";
}
