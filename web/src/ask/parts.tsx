import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { Json, Question } from "../api/types";
import { clip, pretty } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { TextArea } from "../ui/fields";
import { formatDuration } from "../ui/format";
import { useCoarse, useNow } from "../ui/hooks";
import { visible } from "../ui/visible";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";
import { revealed } from "./hidden";

/** What is to be known about a question of any kind: who asks, why, and the rule because of which it is asked. */
export function Facts({ question: q, children }: { question: Question; children?: ReactNode }) {
  const rule =
    q.rule &&
    [t.ruleText(q.rule.decision, q.rule.rule, q.rule.scope), q.rule.reason && t.ruleReason(q.rule.reason)]
      .filter(Boolean)
      .join(", ");
  return (
    <>
      <dl className={css.facts}>
        {children}
        <Fact name={t.askedBy} value={q.agent_id && t.subAgent(q.agent_id)} />
        <Fact name={t.why} value={saysNothing(q.why ?? "") ? undefined : q.why} />
        <Fact name={t.path} value={q.blocked_path} code />
        <Fact name={t.rule} value={rule} />
      </dl>
      {q.deadline ? <Deadline opened={q.opened} seconds={q.deadline} /> : null}
    </>
  );
}

/** Whether a reason says no more than that there is a question. */
export function saysNothing(why: string): boolean {
  return /^(this (command|tool|action|call)?\s*requires (approval|permission)|claude requested permissions? to (use|write to|edit|read) .*, but you haven['’]t granted it yet)\.?$/i.test(
    why.trim(),
  );
}

/** The beginning of a text: what an agent writes about a question must not push away what is asked. */
function brief(text: string): string {
  const { text: most, left } = clip(text, 600);
  const lines = most.split("\n");
  return lines.length > 6 ? `${lines.slice(0, 6).join("\n")} …` : left > 0 ? `${most} …` : most;
}

/** A fact, if there is one. What an agent wrote is shown with all of its characters. */
export function Fact({ name, value, code }: { name: string; value: string | undefined; code?: boolean }) {
  if (!value) return null;
  const text = visible(brief(value));
  return (
    <div className={css.fact}>
      <dt>{name}</dt>
      <dd>{code ? <code>{text}</code> : text}</dd>
    </div>
  );
}

/** The earliest time at which the hub refuses a question by itself. Nobody but the hub knows for how long it could have been seen. */
function Deadline({ opened, seconds }: { opened: string; seconds: number }) {
  const now = useNow(1000);
  const left = Date.parse(opened) + seconds * 1000 - now;
  return <p className={css.deadline}>{left > 0 ? t.deadline(formatDuration(Math.ceil(left / 1000) * 1000)) : t.deadlineNow}</p>;
}

/** A value as JSON, with characters that cannot be seen written as numbers. What is very long is drawn whole only when somebody asks. */
export function RevealedJson({ value }: { value: Json }) {
  const [all, setAll] = useState(false);
  const { text, left } = pretty(value, all ? Number.MAX_SAFE_INTEGER : undefined);
  return (
    <>
      <pre className={css.json}>{revealed(text)}</pre>
      {left > 0 && (
        <Button size="s" onPress={() => setAll(true)}>
          {t.showAll(left)}
        </Button>
      )}
    </>
  );
}

/** What is asked about, which may be long: it scrolls, and the card knows whether its end was on the screen. */
export function ScrollBox({ label, className, children }: { label: string; className?: string; children: ReactNode }) {
  const { seen } = useCard();
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  const [more, setMore] = useState(false);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let reached = 0;
    const look = () => {
      // Further down than what has been seen from the beginning on does not count: there is something between.
      if (element.scrollTop <= reached) reached = Math.max(reached, element.scrollTop + element.clientHeight);
      setScrolls(element.scrollHeight > element.clientHeight + 1);
      setMore(element.scrollTop + element.clientHeight < element.scrollHeight - 8);
    };
    look();
    seen.current = () => {
      look();
      return reached >= element.scrollHeight - 8;
    };
    element.addEventListener("scroll", look, { passive: true });
    const resized = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(look);
    resized?.observe(element);
    for (const child of element.children) resized?.observe(child);
    return () => {
      element.removeEventListener("scroll", look);
      resized?.disconnect();
      seen.current = () => true;
    };
  }, [seen]);

  return (
    <>
      {/* It can be focused only while there is something to scroll to. A group and no region: an inbox has many of these. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div
        ref={box}
        className={classes(css.box, className)}
        role="group"
        aria-label={label}
        {...(scrolls ? { tabIndex: 0 } : {})}
        data-scrolls={scrolls}
      >
        <div>{children}</div>
      </div>
      {scrolls && (
        <p className={css.more} aria-hidden="true" data-more={more}>
          {t.scrollMore}
        </p>
      )}
    </>
  );
}

interface Props {
  /** What is asked for, such as why it is denied. */
  title: string;
  placeholder?: string;
  value: string;
  onChange(text: string): void;
  /** What the button says that sends it. */
  action: string;
  variant?: "primary" | "danger";
  error?: string;
  onSubmit(): void;
  onBack(): void;
  children?: ReactNode;
}

/** A text that goes along with an answer, in the place of the buttons. Enter sends it, shift and enter begin a line, escape goes back. */
export function Reason({
  title,
  placeholder,
  value,
  onChange,
  action,
  variant = "primary",
  error,
  onSubmit,
  onBack,
  children,
}: Props) {
  const { sending } = useCard();
  const coarse = useCoarse();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  useCardKeys({ Escape: onBack });
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.nativeEvent.isComposing) return;
    if (e.key === "Escape") {
      e.preventDefault();
      e.stopPropagation();
      onBack();
    } else if (e.key === "Enter" && !e.shiftKey && !e.altKey && !(coarse && !e.ctrlKey && !e.metaKey)) {
      e.preventDefault();
      if (!e.repeat) onSubmit();
    }
  };
  return (
    <div className={css.entry}>
      <TextArea
        label={title}
        placeholder={placeholder ?? ""}
        value={value}
        onChange={onChange}
        error={error}
        inputRef={field}
        minRows={2}
        input={{ onKeyDown }}
      />
      {children}
      <div className={css.actions}>
        <Button variant={variant} onPress={onSubmit} isPending={sending}>
          {action}
        </Button>
        <Button onPress={onBack} isDisabled={sending}>
          {t.back}
        </Button>
      </div>
    </div>
  );
}
