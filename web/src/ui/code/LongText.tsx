import { useState } from "react";
import { conversationTexts as t } from "../../texts/conversation";
import { Button } from "../index";
import { Code } from "./Code";

/** How much of a text is drawn unless somebody asks for the rest. */
export const drawnMost = 100_000;

// More than this is not drawn at once: the page would stand still for seconds.
const stepMost = 2_000_000;

/** A text that may be of any length: its beginning, and the rest if it is asked for, in steps if it is huge. */
export function LongText({ text, lang, wrap, most = drawnMost }: { text: string; lang?: string; wrap?: boolean; most?: number }) {
  const [asked, setAsked] = useState(0);
  const shown = most + asked;
  const left = text.length - shown;
  return (
    <>
      <Code text={left > 0 ? text.slice(0, shown) : text} lang={lang} wrap={wrap} />
      {left > 0 ? (
        <Button variant="quiet" size="s" onPress={() => setAsked(asked + Math.min(left, stepMost))}>
          {left <= stepMost ? t.showAll(size(text.length)) : t.showMore(size(shown), size(text.length))}
        </Button>
      ) : null}
    </>
  );
}

/** A number of characters, as people read it. */
export function size(characters: number): string {
  if (characters < 1000) return `${characters} B`;
  if (characters < 1_000_000) return `${(characters / 1000).toFixed(0)} kB`;
  return `${(characters / 1_000_000).toFixed(1)} MB`;
}
