import { Check } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { Choice } from "../api/types";
import { arr, isObject, str } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { TextArea } from "../ui/fields";
import { Note } from "../ui/notes";
import { visible } from "../ui/visible";
import { choose, deny, type Given, isAnswerable, isGiven, nothingGiven, withLabel, withSkip, withText } from "./answers";
import css from "./Card.module.css";
import look from "./Choice.module.css";
import { useCard, useCardKeys } from "./card";
import { useDraft, useDraftOf } from "./drafts";
import { Facts, Reason, RevealedJson } from "./parts";
import { choicesOf } from "./request";

/** What was chosen so far, as it was kept. */
export function readGiven(stored: unknown): readonly Given[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  return stored.map((g: unknown) => ({
    labels: arr(g, "labels").filter((l) => typeof l === "string"),
    text: str(g, "text"),
    notes: str(g, "notes"),
    skip: isObject(g) && g.skip === true,
  }));
}

/** One or more questions with options. */
export function ChoiceForm() {
  const { question, answer, complain, refused, off, sends, may, focus } = useCard();
  const choices = choicesOf(question);
  const answerable = isAnswerable(question);
  const [draft, setDraft] = useDraftOf(question.id, "choice", readGiven);
  const [reason, setReason] = useDraft(question.id, "reason");
  const [none, setNone] = useState<"none" | "stop">();
  const [missing, setMissing] = useState<number>();
  const [at, setAt] = useState(0);
  const [writing, setWriting] = useState<number>();
  const root = useRef<HTMLDivElement>(null);
  const given = choices.map((c, i) => kept(c, draft?.[i] ?? nothingGiven));
  const skipped = given.length > 0 && given.every((g) => g.skip);

  const change = (i: number, g: Given) => {
    setDraft(given.map((old, j) => (j === i ? g : old)));
    setMissing(undefined);
    complain(undefined);
  };
  const send = () => {
    if (refused) {
      complain(refused);
      return;
    }
    const result = choose(question, given);
    if ("answer" in result) {
      answer(result.answer);
      return;
    }
    setMissing(result.missing);
    root.current?.querySelectorAll<HTMLElement>("fieldset")[result.missing]?.querySelector<HTMLElement>("input")?.focus();
  };
  // Numbers choose in the question that has the focus, else in the current one.
  const current = (): number => {
    const sets = [...(root.current?.querySelectorAll("fieldset") ?? [])];
    const focused = sets.findIndex((s) => s.contains(document.activeElement));
    return focused >= 0 ? focused : at;
  };
  // After what answers a question at once comes the next one without an answer.
  const next = (i: number) => {
    const open = choices.findIndex((_, j) => j !== i && !isGiven(given[j] ?? nothingGiven));
    setAt(open >= 0 ? open : i);
  };
  const pick = (number: number) => {
    const i = current();
    const c = choices[i];
    const option = c?.options?.[number];
    if (!c || !option) return;
    if (c.multiple) setAt(i);
    else next(i);
    change(i, withLabel(given[i] ?? nothingGiven, option.label, labelsOf(c), c.multiple === true));
  };
  const skip = () => {
    const i = current();
    const g = given[i];
    if (!g) return;
    next(i);
    change(i, withSkip(g, !g.skip));
  };
  const ownWords = () => {
    const i = current();
    setWriting(i);
    setAt(i);
    // It may be there already.
    fieldOf(i)?.focus();
  };
  const fieldOf = (i: number) => root.current?.querySelectorAll("fieldset")[i]?.querySelector("textarea");
  const digits = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [String(i + 1), () => pick(i)]));
  const open = (what: "none" | "stop") => may(() => setNone(what));
  const back = () => {
    setNone(undefined);
    focus();
  };
  const keys = { ...(answerable ? { ...digits, Enter: send, "-": skip, o: ownWords } : {}), n: open("none"), s: open("stop") };
  // While a reason is written, no key decides.
  useCardKeys(none ? { Escape: back } : keys);

  return (
    <>
      <Facts question={question} />
      {!answerable && choices.length > 0 && <Note tone="warn">{t.choiceTwins}</Note>}
      {!answerable && <RevealedJson value={question.request} />}
      {answerable && (
        <div ref={root} className={look.questions}>
          {choices.map((c, i) => (
            <OneQuestion
              key={c.question}
              choice={c}
              given={given[i] ?? nothingGiven}
              current={choices.length > 1 && i === at}
              onFocus={() => setAt(i)}
              writing={writing === i}
              error={missing === i ? t.missing : undefined}
              onChange={(g) => change(i, g)}
              onSend={send}
            />
          ))}
          {skipped && <Note>{t.allSkipped}</Note>}
        </div>
      )}
      {none ? (
        <NoneReason
          stop={none === "stop"}
          value={reason}
          onChange={setReason}
          onBack={back}
          onDone={() => answer(deny(reason, none === "stop"))}
        />
      ) : (
        <div className={classes(css.actions, css.foot)}>
          {answerable && (
            <Button variant="primary" kbd="enter" onPress={send} {...sends}>
              {choices.length > 1 ? t.sendAll : t.send}
            </Button>
          )}
          <span className={css.gap} />
          <Button kbd="n" onPress={open("none")} {...off}>
            {t.answerNone}
          </Button>
          <Button kbd="s" variant="quiet" onPress={open("stop")} {...off}>
            {t.noneStop}
          </Button>
        </div>
      )}
    </>
  );
}

/** Does something once what was not there is. */
function useAppeared(there: boolean, run: () => void): void {
  const before = useRef(there);
  useEffect(() => {
    if (there && !before.current) run();
    before.current = there;
  });
}

function NoneReason(props: { stop: boolean; value: string; onChange(text: string): void; onBack(): void; onDone(): void }) {
  return (
    <Reason
      title={props.stop ? t.noneStopTitle : t.noneTitle}
      placeholder={t.noReason}
      value={props.value}
      onChange={props.onChange}
      action={props.stop ? t.noneStopNow : t.noneNow}
      variant="danger"
      onSubmit={props.onDone}
      onBack={props.onBack}
    />
  );
}

const labelsOf = (c: Choice): readonly string[] => (c.options ?? []).map((o) => o.label);

/** What was kept, without options that are not offered any more. */
function kept(c: Choice, g: Given): Given {
  const offered = labelsOf(c);
  const labels = g.labels.filter((l) => offered.includes(l));
  return { ...g, labels: c.multiple ? labels : labels.slice(0, 1) };
}

interface OneProps {
  choice: Choice;
  given: Given;
  /** Whether numbers choose in it. */
  current: boolean;
  /** Whether an answer of one's own was asked for by key. */
  writing: boolean;
  error: string | undefined;
  onFocus(): void;
  onChange(g: Given): void;
  onSend(): void;
}

function OneQuestion({ choice: c, given: g, current, writing, error, onFocus, onChange, onSend }: OneProps) {
  const name = useId();
  const [shown, setShown] = useState<string>();
  const [wanted, setWanted] = useState(false);
  const [noting, setNoting] = useState(g.notes !== "");
  const own = wanted || writing || g.text !== "";
  const words = useRef<HTMLTextAreaElement>(null);
  const note = useRef<HTMLTextAreaElement>(null);
  // What has just been asked for is typed into; what was there before the card was drawn is not.
  useAppeared(own, () => words.current?.focus());
  useAppeared(noting, () => note.current?.focus());
  const multiple = c.multiple === true;
  const options = c.options ?? [];
  const preview = options.find((o) => o.label === (shown ?? g.labels.at(-1)) && o.preview) ?? undefined;
  const sendOnEnter = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || e.nativeEvent.isComposing || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    e.stopPropagation();
    onSend();
  };
  return (
    <fieldset
      className={look.set}
      data-current={current}
      onFocus={onFocus}
      aria-describedby={error ? `${name}-error` : undefined}
    >
      <legend className={look.legend}>
        {c.header && <span className={look.header}>{visible(c.header)}</span>}
        <span>{visible(c.question)}</span>
        {multiple && <span className={look.several}>{t.several}</span>}
      </legend>
      <div className={look.split} data-preview={preview !== undefined}>
        <ul className={look.options}>
          {options.map((o, i) => (
            // The label of an option is its name: one that occurs twice is the same answer.
            // biome-ignore lint/suspicious/noArrayIndexKey: options never change their order
            <li key={i}>
              <label className={look.option} onMouseEnter={() => setShown(o.label)} onMouseLeave={() => setShown(undefined)}>
                <input
                  type={multiple ? "checkbox" : "radio"}
                  name={name}
                  checked={g.labels.includes(o.label)}
                  onChange={() => onChange(withLabel(g, o.label, labelsOf(c), multiple))}
                  onFocus={() => setShown(o.label)}
                  onBlur={() => setShown(undefined)}
                />
                <span className={look.words}>
                  <span className={look.label}>{visible(o.label)}</span>
                  {o.description && <span className={look.description}>{visible(o.description)}</span>}
                </span>
                {i < 9 && (
                  <span className={look.number} aria-hidden="true">
                    {i + 1}
                  </span>
                )}
              </label>
            </li>
          ))}
        </ul>
        {preview?.preview && (
          <figure className={look.preview}>
            <figcaption>{t.preview(visible(preview.label))}</figcaption>
            <pre>{visible(preview.preview.slice(0, 20_000))}</pre>
          </figure>
        )}
      </div>
      {own && (
        <TextArea
          label={multiple ? t.ownWordsBeside : t.ownWords}
          value={g.text}
          onChange={(text) => onChange(withText(g, text, multiple))}
          inputRef={words}
          minRows={1}
          maxRows={8}
          input={{ onKeyDown: sendOnEnter }}
        />
      )}
      {noting && (
        <TextArea
          label={t.noteLabel}
          value={g.notes}
          onChange={(notes) => onChange({ ...g, notes, skip: notes.trim() === "" && g.skip })}
          inputRef={note}
          minRows={1}
          input={{ onKeyDown: sendOnEnter }}
        />
      )}
      <div className={look.more}>
        {!own && (
          <Button size="s" variant="quiet" kbd="o" onPress={() => setWanted(true)}>
            {t.other}
          </Button>
        )}
        {!noting && (
          <Button size="s" variant="quiet" onPress={() => setNoting(true)}>
            {t.note}
          </Button>
        )}
        <Button
          size="s"
          variant="quiet"
          kbd="-"
          icon={g.skip ? <Check size={14} aria-hidden="true" /> : undefined}
          aria-pressed={g.skip}
          onPress={() => onChange(withSkip(g, !g.skip))}
        >
          {g.skip ? t.skipped : t.skipOne}
        </Button>
      </div>
      {error && (
        <p id={`${name}-error`} className={look.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
