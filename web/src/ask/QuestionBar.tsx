import { useLayoutEffect, useRef, useState } from "react";
import type { Question } from "../api/types";
import { isField, useKeys } from "../app/keys";
import { type OpenSession, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui";
import css from "./Bar.module.css";
import { listedKeys } from "./card";
import { ListGuard, useListGuard, useMoveGuard } from "./guard";
import { later, putOff } from "./later";
import { isMine } from "./mine";
import { QuestionCard } from "./QuestionCard";
import { focusCard } from "./QuestionRow";
import { asked, SettledLine } from "./Settled";

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
 * When the question that had the focus is settled, the next one gets it, so that one after the other can be answered by keyboard. Not if
 * somebody was typing: the rest of what they type must not answer anything.
 */
function useFocusOfNext(bar: { current: HTMLElement | null }, id: string | undefined): void {
  const had = useRef(false);
  const before = useRef<string>(undefined);
  useLayoutEffect(() => {
    const note = () => {
      const active = document.activeElement;
      had.current = bar.current?.contains(active) === true && !isField(active);
    };
    // Whoever presses where nothing takes the focus has left it as well, without an event of it.
    const leave = (e: PointerEvent) => {
      if (!(e.target instanceof Node && bar.current?.contains(e.target))) had.current = false;
    };
    document.addEventListener("focusin", note);
    document.addEventListener("pointerdown", leave);
    return () => {
      document.removeEventListener("focusin", note);
      document.removeEventListener("pointerdown", leave);
    };
  }, [bar]);
  useLayoutEffect(() => {
    const lost = document.activeElement === document.body || document.activeElement === null;
    const settled = before.current;
    before.current = id;
    // One that comes up after a while without any takes the focus from nobody.
    if (settled === undefined || !had.current || !lost) return;
    if (id !== undefined) focusCard(id);
    else document.querySelector<HTMLElement>("[data-composer]")?.focus();
  }, [id]);
}
