import { Clock3 } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Question } from "../api/types";
import { isField } from "../app/keys";
import { Link } from "../app/router";
import { MachineName } from "../machines/MachineName";
import { titleOf } from "../sessions/list";
import { type OpenSession, useHub } from "../store/hub";
import { usePart, useReadable } from "../store/readable";
import { oneLine } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui/buttons";
import { Contained, ErrorNote, Note } from "../ui/notes";
import { Kbd } from "../ui/signs";
import unseen from "../ui/unseen.module.css";
import { Ago, Path } from "../ui/values";
import { visible } from "../ui/visible";
import { useAnswer } from "./answering";
import css from "./Card.module.css";
import { ChoiceForm } from "./ChoiceForm";
import { answerKeys, type Card, CardContext, type CardKeys, cardId } from "./card";
import { DialogForm, UnknownQuestion } from "./DialogForm";
import { FormForm } from "./FormForm";
import { changedTime, guardTime, missedPress, useGuardMark, useGuards } from "./guard";
import { PermissionForm } from "./PermissionForm";
import { PlanReview } from "./PlanReview";
import { Facts } from "./parts";
import { sameMeaning } from "./request";
import { SettledLine } from "./Settled";
import { useSaid, useSaidHere } from "./said";
import { headline } from "./words";

export interface QuestionCardProps {
  question: Question;
  /** The session that is on the screen already: the card then does not name it. */
  session?: OpenSession;
  /** Takes the focus when it comes up, unless somebody is typing. */
  autoFocus?: boolean;
  /** A control in the card's head with which a list selects it. */
  select?: ReactNode;
  /** What to do when the question is to be answered later; without it, that is not offered. */
  onLater?: () => void;
}

/** A question, with everything that can be answered. Once it is settled, by whomever, it says who and what. */
export function QuestionCard({ question, session, autoFocus, select, onLater }: QuestionCardProps) {
  const answering = useAnswer(question);
  if (answering.settled) return <SettledLine question={answering.settled} session={session ? undefined : question.session} />;
  return (
    <Contained of={question} hint={t.notDrawn(question.id)}>
      <OpenCard
        question={question}
        session={session}
        autoFocus={autoFocus}
        select={select}
        onLater={onLater}
        answering={answering}
      />
    </Contained>
  );
}

function OpenCard(props: QuestionCardProps & { answering: ReturnType<typeof useAnswer> }) {
  const { question, session, autoFocus, select, onLater, answering } = props;
  const hub = useHub();
  const element = useRef<HTMLElement>(null);
  const guards = useGuards();
  const keys = useRef<CardKeys>({});
  const seen = useRef<() => boolean>(() => true);
  const warned = useRef(false);
  const [problem, setProblem] = useState<string>();
  const summary = usePart(
    hub.sessions,
    useCallback((s) => s.byId.get(question.session), [question.session]),
  );
  const offline = useReadable(hub.link).status !== "online";

  useLayoutEffect(() => {
    guards.own.hold(guardTime);
    if (autoFocus && !isField(document.activeElement)) element.current?.focus();
  }, [guards, autoFocus]);
  useGuardMark(element, guards);

  // If it means something else now, what was about to be pressed was not meant for that.
  const before = useRef(question);
  useLayoutEffect(() => {
    if (!sameMeaning(before.current, question)) {
      guards.own.hold(changedTime);
      warned.current = false;
      setProblem(t.changedJustNow);
    }
    before.current = question;
  }, [question, guards]);

  useLayoutEffect(() => {
    const card = element.current;
    const missed = () => setProblem(t.cameJustNow);
    card?.addEventListener(missedPress, missed);
    return () => card?.removeEventListener(missedPress, missed);
  }, []);

  const said = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (problem) said.current?.scrollIntoView({ block: "nearest" });
  }, [problem]);

  const { send, sending } = answering;
  const refused = hub.can("approve") ? undefined : t.cannotAnswer;
  const card: Card = useMemo(
    () => ({
      question,
      refused,
      off: refused ? { isDisabled: true, reason: refused } : { isDisabled: sending },
      sends: refused ? { isDisabled: true, reason: refused } : { isPending: sending },
      admin: hub.can("admin"),
      sending,
      compact: session !== undefined,
      dir: summary?.dir,
      keys,
      seen,
      complain: setProblem,
      may: (run) => () => (refused ? setProblem(refused) : run()),
      focus: () => element.current?.focus({ preventScroll: true }),
      answer: (answer, options) => {
        if (!hub.can("approve")) return;
        if (!guards.takes()) {
          setProblem(t.cameJustNow);
          return;
        }
        if (!warned.current && (options?.cut || (options?.look && !seen.current()))) {
          warned.current = true; // who insists knows
          setProblem(t.moreBelow);
          return;
        }
        setProblem(undefined);
        // Out of the field in which it was written: whoever has sent an answer is not typing any more.
        element.current?.focus({ preventScroll: true });
        send(answer);
      },
    }),
    [question, hub, refused, sending, session, summary?.dir, guards, send],
  );

  const onKeyDown = (e: KeyboardEvent) => {
    if (e.defaultPrevented || e.nativeEvent.isComposing || e.ctrlKey || e.metaKey || e.altKey || isField(e.target)) return;
    // A list or a menu of the card comes up elsewhere on the page, and has its keys for itself.
    if (!(e.target instanceof Node) || !element.current?.contains(e.target) || belongsToControl(e)) return;
    const run = Object.hasOwn(keys.current, e.key) ? keys.current[e.key] : undefined;
    if (!run && !(e.key.length === 1 && answerKeys.includes(e.key))) return;
    e.preventDefault();
    e.stopPropagation();
    // Who holds a key down decides nothing with it.
    if (!run || e.repeat || sending) return;
    if (!guards.takesKey()) {
      setProblem(t.cameJustNow);
      return;
    }
    setProblem(undefined);
    run();
  };

  const kind = t.kind[question.kind] ?? t.otherKind;
  const name = summary ? titleOf(summary) : t.untitled;
  return (
    // The card takes the focus for its keys; everything that it does can also be done with the buttons in it.
    <CardContext value={card}>
      <article
        ref={element}
        id={cardId(question.id)}
        className={css.card}
        tabIndex={-1}
        aria-label={t.cardLabel(kind, visible(oneLine(question.title ?? "", 200)), session ? "" : name)}
        aria-busy={sending}
        onKeyDown={onKeyDown}
        data-takes-keys=""
        data-kind={question.kind}
        data-compact={session !== undefined}
      >
        <header className={css.head}>
          {session && <h2 className={css.question}>{headline(question)}</h2>}
          {session && (
            <span className={css.reach}>
              <Kbd keys="q" /> {t.reach}
            </span>
          )}
          {select}
          {!session && (
            <Link to={{ page: "session", id: question.session }} className={css.session} title={t.openSession}>
              {name}
            </Link>
          )}
          {!session && <MachineName node={summary?.node} className={css.dir} />}
          {!session && summary?.dir && <Path path={summary.dir} className={css.dir} />}
          <span className={css.since}>
            <Clock3 size={13} aria-hidden="true" /> <Ago time={question.opened} />
          </span>
          {session && question.kind === "plan" && <Link to={{ page: "inbox", question: question.id }}>{t.moreRoom}</Link>}
          {onLater && (
            <Button size="s" variant="quiet" onPress={onLater} className={css.later}>
              {t.later}
            </Button>
          )}
        </header>
        {!session && <h2 className={css.question}>{headline(question)}</h2>}
        {session ? (
          question.kind === "choice" && <SaidHere session={session} />
        ) : (
          <Said question={question} lastEvent={summary?.last_event_id} />
        )}
        <Kind question={question} />
        {card.refused && <Note tone="warn">{card.refused}</Note>}
        {offline && <Note tone="warn">{t.offline}</Note>}
        <div ref={said} aria-live="polite" className={css.problem}>
          {problem && <Note tone="warn">{problem}</Note>}
        </div>
        <ErrorNote error={answering.error} />
      </article>
    </CardContext>
  );
}

/** What the agent said before it asked, which may say why. */
function Said({ question, lastEvent }: { question: Question; lastEvent: string | undefined }) {
  return <Words text={useSaid(question, lastEvent)} />;
}

function SaidHere({ session }: { session: OpenSession }) {
  return <Words text={useSaidHere(session)} />;
}

function Words({ text }: { text: string }) {
  if (text === "") return null;
  return (
    <p className={css.said}>
      <span className={unseen.unseen}>{t.agentSaid} </span>
      {visible(text)}
    </p>
  );
}

/** Whether a key is for the control that has the focus: enter and space for what is pressed, space and arrows for what is chosen. */
function belongsToControl(e: KeyboardEvent): boolean {
  if (!(e.target instanceof Element)) return false;
  if (e.target.closest("button, a, summary, [role=tab]") !== null)
    return e.key === "Enter" || e.key === " " || e.key.startsWith("Arrow");
  return e.target instanceof HTMLInputElement && (e.key === " " || e.key.startsWith("Arrow"));
}

function Kind({ question }: { question: Question }): ReactNode {
  switch (question.kind) {
    case "permission":
      return <PermissionForm />;
    case "choice":
      return <ChoiceForm />;
    case "plan":
      return <PlanReview />;
    case "form":
      return <FormForm />;
    case "dialog":
      return <DialogForm />;
    default:
      return (
        <>
          <UnknownQuestion />
          <Facts question={question} />
        </>
      );
  }
}
