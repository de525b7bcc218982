import { createContext, useContext, useLayoutEffect } from "react";
import type { Answer, Question } from "../api/types";
import type { KeyBinding } from "../app/keys";
import { askTexts as t } from "../texts/ask";
import type { ButtonProps } from "../ui/buttons";

/** What the parts of a card share: the question, and the one way to answer it. */
export interface Card {
  readonly question: Question;
  /** Why nothing can be answered at all: a right is missing. */
  readonly refused: string | undefined;
  /** What disables a button that answers: with the reason if nothing can be answered, else while an answer is on its way. */
  readonly off: Pick<ButtonProps, "isDisabled" | "reason">;
  /** The same for the button that sends an answer: it shows that one is on its way. */
  readonly sends: Pick<ButtonProps, "isDisabled" | "isPending" | "reason">;
  /** Whether the token may also do what needs the right admin. */
  readonly admin: boolean;
  /** An answer is on its way. */
  readonly sending: boolean;
  /** Whether it stands above a composer, where there is little room. */
  readonly compact: boolean;
  /** The folder of the session, if it is known. */
  readonly dir: string | undefined;
  /**
   * Answers the question, unless it has only just come up. With `look`, what is to be allowed must have been on the screen, and with `cut`
   * it cannot have been, as it is too long: whoever answers is told so once.
   */
  answer(answer: Answer, options?: { look?: boolean; cut?: boolean }): void;
  /** Puts the focus on the card itself, where its keys count. */
  focus(): void;
  /** What a key does that answers, or leads to an answer: if nothing can be answered, it says why. */
  may(run: () => void): () => void;
  /** Says what stands against what was pressed. */
  complain(problem: string | undefined): void;
  /** Where the card has the keys that count while the focus is on it. */
  readonly keys: { current: CardKeys };
  /** Where the card knows how much of what is asked has been seen. */
  readonly seen: { current: () => boolean };
}

/** What keys do, by the names that the browser has for them. */
export type CardKeys = { readonly [key: string]: () => void };

/** Letters that answer some question: on a card that has none of them they do nothing, instead of something else on the page. */
export const answerKeys = "yaensrpbcxow1234567890-";

/** The keys of cards for the list of all keys: a card takes them itself, and only while the focus is in it. */
export const listedKeys: readonly KeyBinding[] = Object.entries(t.keyOfCard).map(([keys, label]) => ({
  keys,
  label,
  when: false,
  run: () => {},
}));

export const CardContext = createContext<Card | undefined>(undefined);

export function useCard(): Card {
  const card = useContext(CardContext);
  if (!card) throw new Error("useCard outside of a QuestionCard");
  return card;
}

/** Makes keys count while the focus is on the card. Those of what is drawn last hold. */
export function useCardKeys(keys: CardKeys): void {
  const { keys: current } = useCard();
  useLayoutEffect(() => {
    current.current = keys;
  });
}

/** The id of a card's element, by which lists find it. */
export function cardId(question: string): string {
  return `question-${question}`;
}

/** Shows the card of a question that is on the page. Reports whether there is one. */
export function focusCard(question: string): boolean {
  const card = document.getElementById(cardId(question));
  card?.scrollIntoView({ block: "nearest" });
  card?.focus({ preventScroll: true });
  return card !== null;
}
