import { ImagePlus, X } from "lucide-react";
import { type ChangeEvent, type ClipboardEvent, useRef, useState } from "react";
import { confirmBypass } from "../steer/bypass";
import { isObject } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { Button, IconButton } from "../ui/buttons";
import { Checkbox, TextArea } from "../ui/fields";
import { Markdown } from "../ui/markdown/Markdown";
import { Note } from "../ui/notes";
import { Tabs } from "../ui/panes";
import { visible } from "../ui/visible";
import { allow, deny } from "./answers";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";
import { useDraft, useDraftOf } from "./drafts";
import { hidesInMarkdown, revealed } from "./hidden";
import look from "./Plan.module.css";
import { Fact, Facts, Reason, ScrollBox } from "./parts";
import {
  approve,
  approves,
  canBypass,
  canStop,
  type ImageBlock,
  type Outcome,
  outline,
  type PlanChoice,
  planChoices,
  reject,
  revise,
} from "./plan";
import { planText } from "./request";
import { outcomeLabel } from "./words";

type Step = "ask" | "revise" | "reject" | "stop" | "no";

/** A plan that was edited, and what it was made from. */
interface Edited {
  readonly base: string;
  readonly text: string;
}

function readEdited(stored: unknown): Edited | undefined {
  return isObject(stored) && typeof stored.base === "string" && typeof stored.text === "string"
    ? { base: stored.base, text: stored.text }
    : undefined;
}

/** The review of a plan, with every outcome that there is. */
export function PlanReview() {
  const { question, answer, complain, refused, off, sends, may, admin, compact: small, focus } = useCard();
  const given = planText(question);
  const choices = planChoices(question);
  const rare = rareOf(choices);
  const [step, setStep] = useState<Step>("ask");
  const [view, setView] = useState("read");
  const [draft, setDraft] = useDraftOf(question.id, "plan", readEdited);
  const [reason, setReason] = useDraft(question.id, "reason");
  const [bypass, setBypass] = useState(false);
  const [compact, setCompact] = useState(false);
  const [noPrompts, setNoPrompts] = useState(false);
  // Where there is little room, it is the plan's. What is set in there stays in sight.
  const [unfolded, setMore] = useState(!small);
  const more = unfolded || bypass || compact;
  const [images, setImages] = useState<readonly Attached[]>([]);
  const edited = draft && draft.text !== given ? draft.text : undefined;
  const text = edited ?? given;
  const prompts = question.plan?.prompts ?? [];
  const approvable = choices.some((c) => approves(c.outcome));
  const mayBypass = approvable && question.plan?.bypass === true;
  const back = () => {
    setStep("ask");
    focus();
  };
  const toggleBypass = () => {
    if (bypass) setBypass(false);
    else void confirmBypass().then((agreed) => agreed && setBypass(true));
  };

  const take = (outcome: Outcome) => {
    if (refused) {
      complain(refused);
      return;
    }
    switch (outcome) {
      case "revise":
      case "reject":
        setStep(outcome);
        return;
      case "outline":
        answer(outline);
        return;
      default:
        if (edited !== undefined && edited.trim() === "") complain(t.planEmpty);
        else
          answer(
            approve(question, outcome, {
              ...(edited === undefined ? {} : { edited }),
              bypass: bypass && admin,
              compact,
              noPrompts,
            }),
          );
    }
  };
  const keys: Record<string, () => void> = Object.fromEntries(choices.map((c) => [c.key, () => take(c.outcome)]));
  if (canStop(question)) keys.s = may(() => setStep("stop"));
  if (mayBypass && admin) keys.b = toggleBypass;
  if (approvable && !question.stale) keys.c = () => setCompact(!compact);
  if (approvable && prompts.length > 0) keys.x = () => setNoPrompts(!noPrompts);
  if (approvable && given !== "") keys.e = () => setView(view === "edit" ? "read" : "edit");
  if (choices.length === 0) {
    keys.y = may(() => answer(allow()));
    keys.n = may(() => setStep("no"));
  }
  // While something is written instead, no key decides.
  useCardKeys(step === "ask" ? keys : { Escape: back });

  return (
    <>
      {question.stale && <Note tone="warn">{t.planStale}</Note>}
      <Facts question={question}>
        <Fact name={t.planFile} value={question.plan?.path} code />
      </Facts>
      {given !== "" && (
        <PlanText
          given={given}
          text={text}
          editable={approvable}
          view={view}
          onView={setView}
          onEdit={(changed) => setDraft({ base: draft?.base ?? given, text: changed })}
        />
      )}
      {edited !== undefined && (
        <p className={css.edited}>
          {t.planEdited}
          <Button size="s" variant="quiet" onPress={() => setDraft(undefined)}>
            {t.planUndo}
          </Button>
        </p>
      )}
      {edited !== undefined && draft && draft.base !== given && <Note tone="warn">{t.planChangedBelow}</Note>}

      {step === "ask" && choices.length > 0 && (
        <>
          {approvable && prompts.length > 0 && (
            <div>
              <Checkbox isSelected={!noPrompts} onChange={(on) => setNoPrompts(!on)}>
                {t.prompts}
              </Checkbox>
              <ul className={look.prompts}>
                {prompts.map((p) => (
                  <li key={`${p.tool}\n${p.prompt}`}>{visible(t.prompt(p.tool, p.prompt))}</li>
                ))}
              </ul>
            </div>
          )}
          <div className={css.foot}>
            <Outcomes choices={choices.filter((c) => !rare.includes(c))} bypass={bypass && admin} onTake={take} />
            {(mayBypass || (approvable && !question.stale) || rare.length > 0 || canStop(question)) && (
              <details
                className={look.rare}
                open={more}
                onToggle={(e) => {
                  // What is set in there is not folded away.
                  if (bypass || compact) e.currentTarget.open = true;
                  setMore(e.currentTarget.open);
                }}
              >
                <summary>{t.morePlan}</summary>
                <div className={look.along}>
                  {mayBypass && (
                    <Checkbox
                      isSelected={bypass && admin}
                      onChange={toggleBypass}
                      isDisabled={!admin}
                      hint={admin ? undefined : t.needsAdmin}
                    >
                      {t.bypass}
                    </Checkbox>
                  )}
                  {approvable && !question.stale && (
                    <Checkbox isSelected={compact} onChange={setCompact}>
                      {t.compact}
                    </Checkbox>
                  )}
                </div>
                <Outcomes choices={rare} bypass={false} onTake={take} />
                {canStop(question) && (
                  <div className={css.actions}>
                    <Button kbd="s" variant="quiet" onPress={() => setStep("stop")} {...off}>
                      {t.rejectStop}
                    </Button>
                  </div>
                )}
              </details>
            )}
          </div>
        </>
      )}
      {step === "ask" && choices.length === 0 && (
        <div className={css.actions}>
          <Button variant="primary" kbd="y" onPress={() => answer(allow())} {...sends}>
            {t.yes}
          </Button>
          <Button kbd="n" onPress={() => setStep("no")} {...off}>
            {t.no}
          </Button>
        </div>
      )}
      {step === "revise" && <FeedbackForm edited={edited !== undefined} images={images} onImages={setImages} onBack={back} />}
      {(step === "reject" || step === "stop" || step === "no") && (
        <Reason
          title={{ reject: t.rejectTitle, stop: t.rejectStopTitle, no: t.noTitle }[step]}
          placeholder={t.noReason}
          value={reason}
          onChange={setReason}
          action={{ reject: t.rejectNow, stop: t.rejectStopNow, no: t.noNow }[step]}
          variant="danger"
          onSubmit={() => answer(step === "no" ? deny(reason) : reject(reason, step === "stop"))}
          onBack={back}
        />
      )}
    </>
  );
}

/** The outcomes that are wanted now and then: they are folded away until they are, if there are many. */
function rareOf(choices: readonly PlanChoice[]): readonly PlanChoice[] {
  return choices.length > 3 ? choices.filter((c) => c.outcome === "reject" || c.outcome === "outline") : [];
}

function Outcomes(props: { choices: readonly PlanChoice[]; bypass: boolean; onTake(outcome: Outcome): void }) {
  const { question, off } = useCard();
  if (props.choices.length === 0) return null;
  return (
    <ul className={look.outcomes} aria-label={t.outcomes}>
      {props.choices.map((c) => (
        <li key={c.outcome}>
          <Button className={look.outcome} variant="plain" kbd={c.key} onPress={() => props.onTake(c.outcome)} {...off}>
            <span className={look.words}>
              <span className={look.label}>
                {outcomeLabel(question, c.outcome, props.bypass && canBypass(question, c.outcome))}
              </span>
              <span className={look.hint}>{hintOf(c.outcome, question.stale === true)}</span>
            </span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

function hintOf(outcome: Outcome, stale: boolean): string {
  if (stale && outcome === "revise") return t.reviseStale;
  if (stale && outcome === "reject") return t.rejectStale;
  return t.outcomeHint[outcome];
}

/** How much of a plan is drawn as Markdown; a longer one is shown as it is written. */
const mostDrawn = 200_000;

interface TextProps {
  given: string;
  text: string;
  editable: boolean;
  view: string;
  onView(view: string): void;
  onEdit(text: string): void;
}

/** The plan: drawn, as it is written, and to be edited. */
function PlanText({ given, text, editable, view, onView, onEdit }: TextProps) {
  const source = (
    <ScrollBox label={t.planSource}>
      <pre className={look.source}>{revealed(text)}</pre>
    </ScrollBox>
  );
  const items = [
    {
      id: "read",
      label: t.planRead,
      children: (
        <div className={look.read}>
          {hidesInMarkdown(text) && <Note tone="warn">{t.planHides}</Note>}
          {text.length > mostDrawn ? (
            source
          ) : (
            <ScrollBox label={t.planRead}>
              <Markdown text={text} />
            </ScrollBox>
          )}
        </div>
      ),
    },
    { id: "source", label: t.planSource, children: source },
  ];
  if (editable) {
    items.push({
      id: "edit",
      label: t.planEdit,
      children: (
        <TextArea
          label={t.planLabel}
          hideLabel
          mono
          value={text}
          onChange={onEdit}
          minRows={Math.min(18, Math.max(6, given.split("\n").length + 1))}
          maxRows={24}
          error={text.trim() === "" ? t.planEmpty : undefined}
        />
      ),
    });
  }
  return <Tabs label={t.planViews} items={items} value={view} onChange={onView} className={look.views} />;
}

/** An image that goes along with what is said about a plan. */
interface Attached {
  readonly id: string;
  readonly name: string;
  readonly block: ImageBlock;
}

interface FeedbackProps {
  /** Whether there are edits of the plan, which do not go along. */
  edited: boolean;
  /** The images so far, which outlive a look at the plan. */
  images: readonly Attached[];
  onImages(change: (before: readonly Attached[]) => readonly Attached[]): void;
  onBack(): void;
}

/** What a plan lacks, in words and images. */
function FeedbackForm({ edited, images, onImages: setImages, onBack }: FeedbackProps) {
  const { question, answer } = useCard();
  const [text, setText] = useDraft(question.id, "feedback");
  const [error, setError] = useState<string>();
  const picker = useRef<HTMLInputElement>(null);

  const add = async (files: readonly File[]) => {
    setError(undefined);
    for (const file of files) {
      const read = await readImage(file);
      if ("error" in read) setError(read.error);
      else setImages((before) => [...before, { id: crypto.randomUUID(), name: file.name, block: read.block }]);
    }
  };
  const onPaste = (e: ClipboardEvent) => {
    const files = [...e.clipboardData.files].filter(isImage);
    if (files.length === 0) return;
    e.preventDefault();
    void add(files);
  };
  const onPick = (e: ChangeEvent<HTMLInputElement>) => {
    const files = [...(e.target.files ?? [])];
    e.target.value = ""; // so that the same one can be taken again
    void add(files);
  };
  const submit = () => {
    const said = revise(
      text,
      images.map((i) => i.block),
    );
    if (said) answer(said);
    else setError(t.reviseNothing);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: images can be pasted into the field within, and chosen with the button
    <div
      onPaste={onPaste}
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        void add([...e.dataTransfer.files]);
      }}
    >
      <Reason
        title={t.reviseLabel}
        placeholder={t.revisePlaceholder}
        value={text}
        onChange={setText}
        action={t.reviseNow}
        error={error}
        onSubmit={submit}
        onBack={onBack}
      >
        {edited && <Note tone="warn">{t.planEditsStay}</Note>}
        {images.length > 0 && (
          <ul className={look.images}>
            {images.map((i) => (
              <li key={i.id}>
                <img src={`data:${i.block.source.media_type};base64,${i.block.source.data}`} alt={visible(i.name)} />
                <IconButton
                  size="s"
                  icon={<X size={14} />}
                  label={t.removeImage(visible(i.name))}
                  onPress={() => setImages((before) => before.filter((other) => other.id !== i.id))}
                />
              </li>
            ))}
          </ul>
        )}
        <div>
          <input ref={picker} type="file" accept="image/png,image/jpeg,image/gif,image/webp" multiple hidden onChange={onPick} />
          <Button size="s" variant="quiet" icon={<ImagePlus size={14} />} onPress={() => picker.current?.click()}>
            {t.addImage}
          </Button>
        </div>
      </Reason>
    </div>
  );
}

const kinds: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** How large an image may be that the model takes, in bytes. */
const mostBytes = 5 * 1024 * 1024;

/** Whether a file is an image that the model takes. */
function isImage(file: File): boolean {
  return kinds.includes(file.type);
}

/** Reads a file as an image block, or says why it is none. */
async function readImage(file: File): Promise<{ block: ImageBlock } | { error: string }> {
  if (!isImage(file)) return { error: t.imageKind(file.name) };
  if (file.size > mostBytes) return { error: t.imageSize(file.name) };
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    return { error: t.imageUnreadable(file.name) };
  }
  let binary = "";
  // In pieces: so many arguments of one call would be too many.
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return { block: { type: "image", source: { type: "base64", media_type: file.type, data: btoa(binary) } } };
}
