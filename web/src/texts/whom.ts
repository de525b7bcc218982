/** Who, within a sentence. */
export function whom(who: string): string {
  return who === "You" ? "you" : who;
}
