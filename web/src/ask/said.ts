import { useEffect, useState } from "react";
import type { Question } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import type { Item } from "../talk/item";
import { eventNumber } from "../talk/keys";
import { Talk } from "../talk/talk";
import { withoutMarks } from "../ui/format";

/** How many of a session's last events are read for what the agent said last. */
const mostEvents = 60;

/** How much of it is shown. */
const mostText = 240;

/** The end of what an agent said, in one line and without marks: its last paragraph, from the beginning of a sentence if it is long. */
export function lastWords(text: string): string {
  const paragraph =
    text
      .trim()
      .split(/\n\s*\n/)
      .at(-1) ?? "";
  const plain = withoutMarks(paragraph.replace(/```[^`]*```/g, " ").replace(/^\s*(?:#{1,6}|[-*+>]|\d+\.)\s+/gm, ""))
    .replace(/\s+/g, " ")
    .trim();
  if (plain.length <= mostText) return plain;
  const end = plain.slice(-mostText);
  const sentence = end.search(/[.!?]\s/);
  return sentence >= 0 ? end.slice(sentence + 2) : `… ${end}`;
}

/** What the agent said last, at the end of some items; empty if a person wrote or a turn ended since. */
function lastText(ids: readonly string[], item: (id: string) => Item | undefined): string {
  for (let at = ids.length - 1; at >= 0 && at >= ids.length - mostEvents; at--) {
    const found = item(ids[at] ?? "");
    if (found?.kind === "text" && !found.failed) return lastWords(found.text);
    if (found?.kind === "prompt" || found?.kind === "turn") return "";
  }
  return "";
}

/** What the agent of a session that is on the screen said last. */
export function useSaidHere(session: OpenSession): string {
  const { ids } = useReadable(session.order);
  return lastText(ids, (id) => session.item(id).get());
}

/** What an agent said before it asked: read once for each question, and empty until it is there or if it cannot be read. */
export function useSaid(question: Question, lastEvent: string | undefined): string {
  const { api } = useHub();
  const [said, setSaid] = useState("");
  const known = lastEvent !== undefined && question.agent_id === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: while it is open its agent says nothing more
  useEffect(() => {
    if (!known) return;
    const stop = new AbortController();
    const from = eventNumber(lastEvent) - mostEvents;
    const after = from > 0 ? `${lastEvent.slice(0, lastEvent.indexOf(":"))}:${from}` : undefined;
    api
      .call("get-events", {
        params: { id: question.session },
        query: { limit: mostEvents, ...(after ? { after } : {}) },
        signal: stop.signal,
      })
      .then(
        (page) => {
          const talk = new Talk();
          for (const event of page.events ?? []) talk.event(event);
          setSaid(lastText(talk.top, (id) => talk.item(id)));
        },
        () => {}, // it is an aid: what is asked is there without it
      );
    return () => stop.abort();
  }, [api, question.id, known]);
  return said;
}
