import type { Question } from "../api/types";

/** How many questions wait for an answer. */
export function openQuestions({ list }: { list: readonly Question[] }): number {
  return list.reduce((n, question) => (question.state === "open" ? n + 1 : n), 0);
}
