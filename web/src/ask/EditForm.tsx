import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { Json } from "../api/types";
import { isObject } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { Button, TextArea } from "../ui";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";
import { useDraft } from "./drafts";
import { isExact, type JsonProblem, parseObject } from "./exact";

export function problemText(problem: JsonProblem): string {
  switch (problem.problem) {
    case "syntax":
      return t.notJson(problem.detail);
    case "number":
      return t.notExact;
    case "object":
      return t.notObject;
  }
}

/** What became of an edit: the input as it is now, or what is wrong with it. */
export type EditResult = { input: Json } | { error: string };

/** The text that somebody edits: the command itself of Bash, else all of the input as JSON. */
export function editable(tool: string, input: Json): { text: string; command: boolean } {
  const command = tool === "Bash" && isObject(input) && Object.hasOwn(input, "command") ? input.command : undefined;
  if (typeof command === "string") return { text: command, command: true };
  return { text: JSON.stringify(input, undefined, 2), command: false };
}

/** The input with what was edited in it. */
export function applyEdit(tool: string, input: Json, text: string): EditResult {
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
export function EditForm({ tool, input, original, onBack, onDone }: Props) {
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
