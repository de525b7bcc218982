import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Json, Question } from "../api/types";
import { isObject, obj } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { sandboxTexts } from "../texts/sandbox";
import { ToolPreview } from "../tools";
import { Button } from "../ui/buttons";
import { TextArea } from "../ui/fields";
import { Note } from "../ui/notes";
import { AlwaysForm } from "./AlwaysForm";
import { allow, alwaysSuggestion, deny, hostRuleOf, suggestionsOf, suggestionText } from "./answers";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";
import { useDraft, useDraftOf } from "./drafts";
import { isExact, parseObject, problemText } from "./exact";
import { holdsHidden, isTooLong, mayBeFolded } from "./hidden";
import { Fact, Facts, Reason, RevealedJson, ScrollBox } from "./parts";
import { callOf, canAlways, canEdit, enterPlanMode, isOfSandbox, type ToolCall, writesFile } from "./request";
import { headline } from "./words";

type Step = "ask" | "always" | "edit" | "deny" | "stop";

/** An input that was edited, and what it was before: of another call it is worth nothing. */
interface Edited {
  readonly base: string;
  readonly input: Json;
}

function readEdited(stored: unknown): Edited | undefined {
  if (!isObject(stored) || typeof stored.base !== "string" || stored.input === undefined) return undefined;
  return { base: stored.base, input: stored.input };
}

/** May a tool be used? */
export function PermissionForm() {
  const { question, answer, focus } = useCard();
  const call = callOf(question);
  const base = useMemo(() => JSON.stringify(callOf(question).input ?? null), [question]);
  const [step, setStep] = useState<Step>("ask");
  const [draft, setDraft] = useDraftOf(question.id, "edited", readEdited);
  const [reason, setReason] = useDraft(question.id, "reason");
  const edited = draft && draft.base === base ? draft.input : undefined;
  const input = edited ?? call.input;
  const back = () => {
    setStep("ask");
    focus();
  };
  // A file may be long, and its beginning says what it is.
  const writes = writesFile(call.tool);
  const cut = useMemo(() => !writes && input !== undefined && isTooLong(input), [writes, input]);
  const look = { look: !writes, cut };

  return (
    <>
      {call.hook && <Note>{t.hookOnce}</Note>}
      {call.defaultNo && <Note tone="warn">{t.decideOnPurpose}</Note>}
      {step !== "edit" && <Asked call={call} input={input} edited={edited !== undefined} onUndo={() => setDraft(undefined)} />}
      <Facts question={question}>
        <Fact name={t.purpose} value={purposeOf(question, call)} />
        {canAlways(call) && (
          <Fact
            name={t.coveredBy}
            value={suggestionsOf(question)
              .map((s) => suggestionText(s.suggestion))
              .join("; ")}
          />
        )}
      </Facts>
      <Raw call={call} edited={edited} />
      {step === "ask" && <Buttons call={call} edited={edited} look={look} onStep={setStep} />}
      {step === "always" && (
        <AlwaysForm tool={call.tool} onBack={back} onDone={(always) => answer(allow({ input: edited, always }), look)} />
      )}
      {step === "edit" && call.input !== undefined && (
        <EditForm
          tool={call.tool}
          input={input ?? null}
          original={call.input}
          onBack={back}
          onDone={(changed) => {
            setDraft(changed === undefined ? undefined : { base, input: changed });
            back();
          }}
        />
      )}
      {(step === "deny" || step === "stop") && (
        <Reason
          title={step === "stop" ? t.stopTitle : isOfSandbox(question) ? sandboxTexts.denyTitle : t.denyTitle}
          placeholder={t.noReason}
          value={reason}
          onChange={setReason}
          action={step === "stop" ? t.stopNow : t.denyNow}
          variant="danger"
          onSubmit={() => answer(deny(reason, step === "stop"))}
          onBack={back}
        />
      )}
    </>
  );
}

/** What the agent says that the call is for, unless the call itself says it: in a member of its own, or as the end of its path. */
function purposeOf(q: Question, call: ToolCall): string {
  const said = q.description ?? "";
  return Object.values(obj(call.input)).some((v) => v === said || (typeof v === "string" && v.endsWith(`/${said}`))) ? "" : said;
}

/** What the tool would do: all of it, since nobody may allow what they could not see. */
function Asked({ call, input, edited, onUndo }: { call: ToolCall; input: Json | undefined; edited: boolean; onUndo(): void }) {
  const { dir, question } = useCard();
  const hidden = useMemo(() => holdsHidden(input), [input]);
  const folded = useMemo(() => input !== undefined && !writesFile(call.tool) && mayBeFolded(input), [input, call.tool]);
  if (input === undefined) return <Note tone="warn">{t.notKnown}</Note>;
  if (call.tool === enterPlanMode && isObject(input) && Object.keys(input).length === 0) return null;
  return (
    <>
      {edited && (
        <p className={css.edited}>
          {t.asEdited}
          <Button size="s" variant="quiet" onPress={onUndo}>
            {t.undoEdit}
          </Button>
        </p>
      )}
      <ScrollBox label={headline(question)}>
        <ToolPreview name={call.tool} input={input} {...(dir ? { cwd: dir } : {})} />
        {hidden && <Note tone="warn">{t.hiddenCharacters}</Note>}
        {!hidden && folded && <p className={css.whole}>{t.rawInput}</p>}
        {(hidden || folded) && <RevealedJson value={input} />}
      </ScrollBox>
    </>
  );
}

/** All of the input, as it is or was edited. */
function Raw({ call, edited }: { call: ToolCall; edited: Json | undefined }) {
  if (call.input === undefined || (isObject(call.input) && Object.keys(call.input).length === 0)) return null;
  return (
    <details className={css.raw}>
      <summary>{t.rawInput}</summary>
      <RevealedJson value={edited ?? call.input} />
    </details>
  );
}

function Buttons({
  call,
  edited,
  look,
  onStep,
}: {
  call: ToolCall;
  edited: Json | undefined;
  look: { look: boolean; cut: boolean };
  onStep(step: Step): void;
}) {
  const { question, admin, answer, refused, off, sends, complain } = useCard();
  const host = hostRuleOf(question);
  const stops = !call.hook && !isOfSandbox(question);
  const plan = call.tool === enterPlanMode;
  const known = call.input !== undefined;
  const why = refused ?? (known ? undefined : t.notKnown);
  const yes = () => {
    if (why) complain(why);
    else answer(allow({ input: edited }), look);
  };
  const open = (step: Step, possible: boolean) => () => {
    if (refused) complain(refused);
    else if (possible) onStep(step);
  };
  const always = canAlways(call) && known;
  useCardKeys({
    y: yes,
    a: host && !admin ? () => complain(refused ?? t.needsAdmin) : open("always", always),
    e: open("edit", canEdit(call)),
    n: open("deny", true),
    s: open("stop", stops),
  });
  return (
    <div className={css.actions}>
      <Button
        variant={call.defaultNo ? "plain" : "primary"}
        kbd="y"
        onPress={yes}
        {...(why ? { isDisabled: true, reason: why } : sends)}
      >
        {plan ? t.enterPlan : edited === undefined ? t.allow : t.allowEdited}
      </Button>
      {always && host && (
        <Button onPress={() => answer(allow({ always: alwaysSuggestion(host.index, "session") }), look)} {...off}>
          {sandboxTexts.allowSession}
        </Button>
      )}
      {always && (
        <Button kbd="a" onPress={open("always", true)} {...(host && !admin ? { isDisabled: true, reason: t.needsAdmin } : off)}>
          {t.always}
        </Button>
      )}
      {canEdit(call) && (
        <Button kbd="e" onPress={open("edit", true)} {...off}>
          {edited === undefined ? t.edit : t.editAgain}
        </Button>
      )}
      <span className={css.gap} />
      <Button kbd="n" onPress={open("deny", true)} {...off}>
        {plan ? t.notEnterPlan : t.deny}
      </Button>
      {stops && (
        <Button kbd="s" variant="quiet" onPress={open("stop", true)} {...off}>
          {t.denyStop}
        </Button>
      )}
    </div>
  );
}

/** What became of an edit: the input as it is now, or what is wrong with it. */
type EditResult = { input: Json } | { error: string };

/** The text that a person edits: the command itself of Bash, else all of the input as JSON. */
function editable(tool: string, input: Json): { text: string; command: boolean } {
  const command = tool === "Bash" && isObject(input) && Object.hasOwn(input, "command") ? input.command : undefined;
  if (typeof command === "string") return { text: command, command: true };
  return { text: JSON.stringify(input, undefined, 2), command: false };
}

/** The input with what was edited in it. */
function applyEdit(tool: string, input: Json, text: string): EditResult {
  if (editable(tool, input).command && isObject(input)) {
    if (text.trim() === "") return { error: t.commandEmpty };
    // The rest of it was never written by a person, but a number in it must not become another one either.
    if (!isExact({ ...input })) return { error: t.notExact };
    return { input: { ...input, command: text } };
  }
  const parsed = parseObject(text);
  return "value" in parsed ? { input: parsed.value } : { error: problemText(parsed) };
}

interface Props {
  tool: string;
  /** The input as it is to be edited, and as it came. */
  input: Json;
  original: Json;
  onBack(): void;
  /** Gets the input as it was edited; undefined if it is what it was. */
  onDone(input: Json | undefined): void;
}

/** Edits what a tool gets. It is then shown once more, before anybody allows it. */
function EditForm({ tool, input, original, onBack, onDone }: Props) {
  const { question } = useCard();
  const before = editable(tool, input);
  const [draft, setDraft] = useDraft(question.id, "edit");
  const [error, setError] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const text = draft === "" ? before.text : draft;
  useEffect(() => field.current?.focus(), []);
  useCardKeys({ Escape: onBack });

  const done = () => {
    const result = applyEdit(tool, input, field.current?.value ?? text);
    if ("error" in result) {
      setError(result.error);
      return;
    }
    setDraft("");
    onDone(JSON.stringify(result.input) === JSON.stringify(original) ? undefined : result.input);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "Escape") onBack();
    else if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) done();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div className={css.entry}>
      <TextArea
        label={before.command ? t.editCommand : t.editInput}
        mono
        value={text}
        onChange={(value) => {
          // An empty draft would bring the old text back: what was emptied on purpose stays so.
          setDraft(value === "" ? " " : value);
          setError(undefined);
        }}
        error={error}
        inputRef={field}
        minRows={3}
        maxRows={18}
        input={{ onKeyDown, spellCheck: "false", autoCapitalize: "off", autoCorrect: "off" }}
      />
      <div className={css.actions}>
        <Button variant="primary" kbd="mod+enter" onPress={done}>
          {t.useEdit}
        </Button>
        <Button onPress={onBack}>{t.back}</Button>
      </div>
    </div>
  );
}
