import { ArrowDown, ArrowUp, Inbox } from "lucide-react";
import { type FocusEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { asError } from "../api/error";
import type { Question } from "../api/types";
import { useCommands } from "../app/commands";
import { isField, useKeys } from "../app/keys";
import { NotifyHint } from "../app/NotifyHint";
import { PageHeader } from "../app/PageHeader";
import { useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui/buttons";
import { Checkbox } from "../ui/fields";
import { EmptyState, ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { cardId, focusCard, listedKeys } from "./card";
import { ListGuard, useListGuard, useMoveGuard } from "./guard";
import css from "./Inbox.module.css";
import { later, putOff } from "./later";
import { pageAt, pageBefore, pageHolding, pageSize, type QuestionPage, withoutOldSettled } from "./page";
import { QuestionCard } from "./QuestionCard";
import { alikeOf, likeness, Together } from "./Together";
import { headline } from "./words";

/** Every open question of every session, the oldest first. */
export function InboxPage({ question }: { question?: string }) {
  const hub = useHub();
  const questions = useReadable(hub.questions);
  const off = useReadable(later);
  const seen = useSeenOpen(questions.list);
  // What was settled while it was on the page stays in its place for as long as the hub tells, and says who and what.
  const shown = withoutOldSettled(questions.list.filter((q) => q.state === "open" || seen.has(q.id)));
  const put = shown.filter((q) => q.state === "open" && off.has(q.id) && q.id !== question);
  const now = shown.filter((q) => !put.includes(q));
  const all = [...now, ...put];
  const open = all.filter((q) => q.state === "open");
  const { page, turnTo } = usePage(all);
  const drawn = new Set(page.list);
  const guard = useListGuard(page.list.map((q) => `${q.id}:${q.state}`).join(" "));
  const moves = useMoveGuard<HTMLDivElement>(guard.place);
  const { selected, select, onFocus, move } = useSelection(open, page, question, turnTo);
  const turn = (to: Question | undefined) => to && select(to.id);
  const chosen = useChosen(open);

  useKeys(t.keys, [
    { keys: "j", label: t.keyNext, run: () => move(1) },
    { keys: "k", label: t.keyPrevious, run: () => move(-1) },
  ]);
  useKeys(t.keysOfCard, listedKeys);
  const oldest = open[0];
  useCommands(t.keys, oldest ? [{ id: "ask.oldest", label: t.commandNext, run: () => select(oldest.id) }] : []);

  const item = (q: Question, isOff: boolean) => (
    <li key={q.id} className={css.item} data-selected={q.id === selected}>
      <QuestionCard
        question={q}
        select={
          chosen.canHave(q) && (
            <Checkbox isSelected={chosen.has(q)} onChange={(on) => chosen.set(q, on)} aria-label={t.select(headline(q))}>
              {t.selectWord}
            </Checkbox>
          )
        }
        onLater={isOff ? undefined : () => putOff(q.id, true)}
      />
      {isOff && (
        <Button size="s" variant="quiet" onPress={() => putOff(q.id, false)}>
          {t.now}
        </Button>
      )}
    </li>
  );
  return (
    <ListGuard value={guard}>
      <div className={css.page}>
        <PageHeader title={t.inbox} />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it only takes note of where the focus is */}
        <div className={css.scroll} onFocus={onFocus}>
          <NotifyHint />
          {/* No live region: the page around it tells of questions that come. */}
          <p className={css.count}>
            {questions.loaded && (open.length === 0 ? t.inboxNone : t.inboxCount(open.length))}
            {page.open < open.length && `, ${t.inboxPage(page.before + 1, page.before + page.open)}`}
            {open.length > 0 && <span className={css.hint}>{t.keysHint}</span>}
          </p>
          {chosen.list.length > 0 && (
            <Together
              list={chosen.list}
              more={chosen.others.length}
              guard={guard}
              onMore={() => chosen.add(chosen.others)}
              onClear={chosen.clear}
            />
          )}
          <ErrorNote error={questions.error} onRetry={hub.retry} />
          {!questions.loaded && !questions.error && (
            <p className={css.loading}>
              <Spinner /> {t.inboxLoading}
            </p>
          )}
          {question && questions.loaded && !questions.list.some((q) => q.id === question) && (
            <SettledBefore key={question} id={question} />
          )}
          <div {...moves}>
            {page.before > 0 && (
              <p className={css.turn}>
                <Button size="s" icon={<ArrowUp size={14} />} onPress={() => turn(open[Math.max(0, page.before - pageSize)])}>
                  {t.pageBefore(Math.min(pageSize, page.before))}
                </Button>
              </p>
            )}
            <ol className={css.list}>{now.filter((q) => drawn.has(q)).map((q) => item(q, false))}</ol>
            {put.some((q) => drawn.has(q)) && (
              <>
                <h2 className={css.later}>{t.laterGroup(put.length)}</h2>
                <ol className={css.list}>{put.filter((q) => drawn.has(q)).map((q) => item(q, true))}</ol>
              </>
            )}
            {page.after > 0 && (
              <p className={css.turn}>
                <Button size="s" icon={<ArrowDown size={14} />} onPress={() => turn(open[page.before + page.open])}>
                  {t.pageAfter(Math.min(pageSize, page.after))}
                </Button>
              </p>
            )}
          </div>
          {questions.loaded && shown.length === 0 && (
            <EmptyState icon={<Inbox size={28} />} title={t.inboxEmpty}>
              {t.inboxEmptyMore}
            </EmptyState>
          )}
        </div>
      </div>
    </ListGuard>
  );
}

/** A question that a link leads to and that does not wait any more: what became of it. */
function SettledBefore({ id }: { id: string }) {
  const { api } = useHub();
  const [found, setFound] = useState<{ question?: Question; error?: Error }>({});
  useEffect(() => {
    const stop = new AbortController();
    api.call("get-question", { params: { id }, signal: stop.signal }).then(
      (question) => setFound({ question }),
      (error: unknown) => !stop.signal.aborted && setFound({ error: asError(error) }),
    );
    return () => stop.abort();
  }, [api, id]);
  return (
    <div className={css.linked}>
      {found.question && <QuestionCard question={found.question} />}
      <ErrorNote error={found.error} />
    </div>
  );
}

/** The questions that are to be answered together: only such as are like others, and only while they are open. */
function useChosen(open: readonly Question[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const groups = alikeOf(open);
  const list = open.filter((q) => ids.has(q.id) && likeness(q) !== undefined);
  const likes = new Set(list.map(likeness));
  const others = open.filter((q) => !ids.has(q.id) && likes.has(likeness(q) ?? ""));
  const change = (questions: readonly Question[], on: boolean) =>
    setIds((before) => {
      const after = new Set(before);
      for (const q of questions) on ? after.add(q.id) : after.delete(q.id);
      return after;
    });
  return {
    list,
    /** Those that are like the chosen ones. */
    others,
    canHave: (q: Question) => ids.has(q.id) || groups.has(likeness(q) ?? ""),
    has: (q: Question) => ids.has(q.id),
    set: (q: Question, on: boolean) => change([q], on),
    add: (questions: readonly Question[]) => change(questions, true),
    clear: () => setIds(new Set()),
  };
}

/** The ids of questions that were open while the page was there. */
function useSeenOpen(list: readonly Question[]): ReadonlySet<string> {
  const seen = useRef(new Set<string>());
  for (const q of list) if (q.state === "open") seen.current.add(q.id);
  return seen.current;
}

/**
 * The page of the list that is drawn. It begins at a question rather than at a place: what is settled before it must not move what
 * somebody reads.
 */
function usePage(all: readonly Question[]) {
  const [first, setFirst] = useState<string>();
  const place = useRef(0);
  const at = first === undefined ? 0 : all.findIndex((q) => q.id === first);
  if (at >= 0) place.current = at;
  const page = pageAt(all, place.current);
  // What it began at may be gone: it then begins at what has taken that place.
  const begins = page.list[0] === all[0] ? undefined : page.list[0]?.id;
  if (first !== undefined && begins !== first) setFirst(begins);
  /** Has the page drawn that holds a question: the one before or behind this one if it is there, else as counted from the beginning. */
  const turnTo = (id: string) => {
    const to = all.findIndex((q) => q.id === id);
    if (to < 0) return;
    const from = page.list[0] ? all.indexOf(page.list[0]) : 0;
    const end = from + page.list.length;
    if (to >= from && to < end) return; // it is there, but could not be drawn
    const before = pageBefore(all, from);
    const begin = to >= end && to < end + pageSize ? end : to < from && to >= before ? before : pageHolding(all, id);
    setFirst(begin === 0 ? undefined : all[begin]?.id);
  };
  return { page, turnTo };
}

/**
 * The question that keys are about: the one that has the focus, or had it last. When it is settled the next one is, and gets the focus
 * unless somebody was typing: the rest of what they type must not answer anything.
 */
function useSelection(
  open: readonly Question[],
  page: QuestionPage,
  wanted: string | undefined,
  turnTo: (question: string) => void,
) {
  const [selected, setSelected] = useState<string>();
  const typing = useRef(false);
  const place = useRef(0);
  const ids = open.map((q) => q.id);
  const at = selected === undefined ? -1 : ids.indexOf(selected);
  if (at >= 0) place.current = at;

  // A card on another page gets the focus when that page is drawn.
  const coming = useRef<string>(undefined);
  const select = (id: string) => {
    setSelected(id);
    coming.current = undefined;
    if (focusCard(id)) return;
    coming.current = id;
    turnTo(id);
  };
  useLayoutEffect(() => {
    const id = coming.current;
    if (id === undefined || !page.list.some((q) => q.id === id)) return;
    coming.current = undefined;
    focusCard(id);
  });
  const wantedIsOpen = wanted !== undefined && ids.includes(wanted);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each link that is followed
  useEffect(() => {
    if (wanted !== undefined && wantedIsOpen && !isField(document.activeElement)) select(wanted);
  }, [wanted, wantedIsOpen]);

  const gone = selected !== undefined && at < 0;
  const next = ids[Math.min(place.current, ids.length - 1)];
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each question that is settled
  useLayoutEffect(() => {
    if (!gone) return;
    const lost = document.activeElement === document.body || document.activeElement === null;
    setSelected(next);
    if (next !== undefined && lost && !typing.current) select(next);
  }, [gone, next]);

  const onFocus = (e: FocusEvent) => {
    typing.current = isField(e.target);
    const id = open.find((q) => document.getElementById(cardId(q.id))?.contains(e.target))?.id;
    if (id !== undefined) setSelected(id);
  };
  const move = (by: number) => {
    // One that is selected and has lost the focus gets it back first.
    if (selected !== undefined && at >= 0 && !document.getElementById(cardId(selected))?.contains(document.activeElement)) {
      select(selected);
      return;
    }
    const seen = { first: page.before, last: page.before + page.open - 1 };
    const to = at < 0 ? (by > 0 ? seen.first : seen.last) : Math.max(0, Math.min(ids.length - 1, at + by));
    const id = ids[to];
    if (id !== undefined) select(id);
  };
  return { selected, select, onFocus, move };
}
