import { useCallback } from "react";
import { keptDraft } from "../app/drafts";
import { draft } from "../store/drafts";
import { type Cell, useReadable } from "../store/readable";

/** What can be typed about a question. */
const parts = ["reason", "edit", "edited", "rule", "choice", "plan", "feedback", "form", "dialog"] as const;

export type DraftPart = (typeof parts)[number];

const key = (question: string, part: DraftPart): string => `ask.${question}.${part}`;

/** What is said to the agent outlives the tab. What is filled in for a tool or a server may hold secrets, and goes with it. */
const outlive: ReadonlySet<DraftPart> = new Set<DraftPart>(["reason", "choice", "plan", "feedback"]);

function cellOf(question: string, part: DraftPart): Cell<string> {
  const name = key(question, part);
  return outlive.has(part) ? keptDraft(name, "apart") : draft(name);
}

/** Something that is being typed about a question. It outlives a reload, and goes once the question is answered. */
export function useDraft(question: string, part: DraftPart): [string, (text: string) => void] {
  const cell = cellOf(question, part);
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
  for (const part of parts) cellOf(question, part).set("");
}
