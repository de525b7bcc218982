import { useCallback } from "react";
import { draft } from "../store/drafts";
import { useReadable } from "../store/readable";

/** What can be typed about a question. */
const parts = ["reason", "edit", "edited", "rule", "choice", "plan", "feedback", "form", "dialog"] as const;

export type DraftPart = (typeof parts)[number];

const key = (question: string, part: DraftPart): string => `ask.${question}.${part}`;

/** Something that is being typed about a question. It outlives a reload, and goes once the question is answered. */
export function useDraft(question: string, part: DraftPart): [string, (text: string) => void] {
  const cell = draft(key(question, part));
  return [useReadable(cell), cell.set];
}

/** The same for something that is no text. `read` says what a stored text means; undefined if it means nothing any more. */
export function useDraftOf<T>(
  question: string,
  part: DraftPart,
  read: (stored: unknown) => T | undefined,
): [T | undefined, (value: T | undefined) => void] {
  const [text, setText] = useDraft(question, part);
  const set = useCallback((value: T | undefined) => setText(value === undefined ? "" : JSON.stringify(value)), [setText]);
  let stored: unknown;
  try {
    stored = text === "" ? undefined : JSON.parse(text);
  } catch {
    stored = undefined;
  }
  return [stored === undefined ? undefined : read(stored), set];
}

/** Forgets what was typed about a question. */
export function forgetDrafts(question: string): void {
  for (const part of parts) draft(key(question, part)).set("");
}
