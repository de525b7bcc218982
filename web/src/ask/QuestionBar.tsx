import { useCallback, useLayoutEffect, useRef, useState } from "react";
import type { Question } from "../api/types";
import { isField, useKeys } from "../app/keys";
import { type OpenSession, useHub } from "../store/hub";
import { usePart, useReadable } from "../store/readable";
import type { Item } from "../talk/item";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui/buttons";
import { isMine } from "./answering";
import css from "./Bar.module.css";
import { focusCard, listedKeys } from "./card";
import { ListGuard, useListGuard, useMoveGuard } from "./guard";
import { later, putOff } from "./later";
import { QuestionCard } from "./QuestionCard";
import { SettledLine } from "./Settled";
import { asked } from "./words";

/** The open questions of a session, above its composer: one of them to be answered, the others in a line each. */
export function QuestionBar({ session }: { session: OpenSession }) {
  const hub = useHub();
  const all = useReadable(hub.questions).list.filter((q) => q.session === session.id);
  const off = useReadable(later);
  const open = all.filter((q) => q.state === "open");
  const [wanted, setWanted] = useState<string>();
  const first = open.find((q) => q.id === wanted) ?? open.find((q) => !off.has(q.id));
  const others = open.filter((q) => q !== first);
  const settled = useShownBefore(first, all);
  const guard = useListGuard([first?.id, ...others.map((q) => q.id), settled?.id].join(" "));
  const { ref: bar, ...moves } = useMoveGuard<HTMLDivElement>(guard.place);
  useFocusOfNext(bar, first?.id);

  useKeys(t.keys, [{ keys: "q", label: t.keyGo, run: () => first && focusCard(first.id), when: first !== undefined }]);
  useKeys(t.keysOfCard, listedKeys);

  return (
    <ListGuard value={guard}>
      <div aria-live="polite" className={css.said}>
        {first && asked(first)}
      </div>
      {(open.length > 0 || settled) && (
        <section className={css.bar} aria-label={t.barLabel}>
          {/* Within what scrolls, whose own height tells nothing once it is full. */}
          <div ref={bar} {...moves} className={css.list}>
            {settled && <SettledLine question={settled} />}
            {first && (
              <QuestionCard
                key={first.id}
                question={first}
                session={session}
                onLater={() => {
                  setWanted(undefined);
                  putOff(first.id, true);
                }}
              />
            )}
            {others.length > 0 && (
              <ul className={css.others}>
                {others.map((q) => (
                  <li key={q.id} className={css.other}>
                    <span className={css.what}>{asked(q)}</span>
                    <Button
                      size="s"
                      onPress={() => {
                        putOff(q.id, false);
                        setWanted(q.id);
                      }}
                    >
                      {t.now}
                    </Button>
                  </li>
                ))}
              </ul>
            )}
          </div>
        </section>
      )}
    </ListGuard>
  );
}

/** The question that was shown last, once it is settled: whoever was about to answer it sees who was faster, as long as the hub tells. */
function useShownBefore(shown: Question | undefined, all: readonly Question[]): Question | undefined {
  const last = useRef<string>(undefined);
  const [before, setBefore] = useState<string>();
  useLayoutEffect(() => {
    if (last.current !== undefined && last.current !== shown?.id) setBefore(last.current);
    if (shown) last.current = shown.id;
  }, [shown]);
  return all.find((q) => q.id === before && q.state !== "open" && q.id !== shown?.id && !isMine(q.id));
}

/**
 * Keeps the keyboard with the questions while one after the other is answered: the next one gets the focus, also if it comes up only later.
 * Until then the focus goes back to where it was before, and never into a field: what is pressed for the next question must not be typed
 * into a message. A field that is typed into keeps the focus, and so does anything else on the page that was used meanwhile.
 */
function useFocusOfNext(bar: { current: HTMLElement | null }, id: string | undefined): void {
  const answering = useRef(false);
  const cameFrom = useRef<HTMLElement>(undefined);
  const moving = useRef(false);
  const before = useRef<string>(undefined);
  useLayoutEffect(() => {
    const inside = (target: EventTarget | null) => target instanceof Node && bar.current?.contains(target) === true;
    const note = (e: FocusEvent) => {
      if (moving.current) return;
      if (!inside(e.target)) {
        answering.current = false;
        return;
      }
      if (!inside(e.relatedTarget)) cameFrom.current = e.relatedTarget instanceof HTMLElement ? e.relatedTarget : undefined;
      answering.current = !isField(e.target);
    };
    // A press or a key elsewhere leaves the questions as well, without an event of the focus.
    const leave = (e: Event) => {
      if (e instanceof KeyboardEvent && (e.repeat || ["Shift", "Control", "Alt", "Meta"].includes(e.key))) return;
      if (!inside(e.target)) answering.current = false;
    };
    // In the capture phase: the card of an answered question may be gone before the event has gone up to the document.
    document.addEventListener("focusin", note);
    document.addEventListener("pointerdown", leave, true);
    document.addEventListener("keydown", leave, true);
    return () => {
      document.removeEventListener("focusin", note);
      document.removeEventListener("pointerdown", leave, true);
      document.removeEventListener("keydown", leave, true);
    };
  }, [bar]);
  useLayoutEffect(() => {
    const settled = before.current;
    before.current = id;
    if (!answering.current) return;
    const active = document.activeElement;
    // The card that is still there, or something that took the focus without an event, keeps it.
    if (active !== document.body && active !== null && active !== cameFrom.current) return;
    moving.current = true;
    if (id !== undefined) focusCard(id);
    else if (cameFrom.current?.isConnected && !isField(cameFrom.current)) cameFrom.current.focus({ preventScroll: true });
    moving.current = false;
    // One that was answered elsewhere does not say that the next is awaited here.
    if (id === undefined && settled !== undefined && !isMine(settled)) answering.current = false;
  }, [id]);
}

/** Whether an item of a conversation is what is asked below it: the card has all of it, and it need not be there twice. */
export function useAskedBelow(session: string, item: Item | undefined): boolean {
  const id =
    item?.kind === "question" ? item.question.id : item?.kind === "tool" && item.state === "asking" ? item.question : undefined;
  return usePart(
    useHub().questions,
    useCallback(
      (all) => id !== undefined && all.list.some((q) => q.id === id && q.session === session && q.state === "open"),
      [id, session],
    ),
  );
}
