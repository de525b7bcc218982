import { useEffect, useState } from "react";
import { readBeside } from "./beside";
import { languageNamed } from "./languages";
import { readLines, type Seen } from "./lines";
import { Recent } from "./recent";
import styles from "./tokens.module.css";

/** A piece of a line of code, with the class of its colour. */
export interface Token {
  readonly text: string;
  readonly cls?: string;
}

export type TokenLine = readonly Token[];

/** Texts above this are not coloured: it would hold up the page. */
export const colourLimit = 50_000;

// Nor are those with a longer word or line than people write, such as a file in base64 within a command: what the highlighter takes
// grows with the square of it or worse.
const tooLong = /\w{101}|[^\n]{2001}/;

function isColoured(text: string): boolean {
  return text.length <= colourLimit && !tooLong.test(text);
}

const kept = new Recent<readonly TokenLine[]>(1_000_000);

function cached(text: string, language: string): readonly TokenLine[] | undefined {
  return kept.get(`${language}\n${text}`);
}

/**
 * The lines of a text in colours. Undefined, to be drawn plain, if the language is not known, the text too large or the
 * highlighter cannot be loaded or does not come to an end; it never rejects.
 */
export async function highlightLines(text: string, lang: string | undefined): Promise<readonly TokenLine[] | undefined> {
  const language = lang === undefined ? undefined : languageNamed(lang);
  if (!language || !isColoured(text)) return undefined;
  const before = cached(text, language);
  if (before) return before;
  try {
    // Where there are no workers, there is no page that could be held up.
    const seen = await (typeof Worker === "undefined" ? readLines(text, language) : readBeside(text, language));
    // What was not coloured in time is not tried again.
    const lines = seen?.map(inClasses) ?? text.split("\n").map((line) => [{ text: line }]);
    kept.set(`${language}\n${text}`, lines);
    return lines;
  } catch {
    // Code without colours is fine.
    return undefined;
  }
}

function inClasses(line: readonly Seen[]): TokenLine {
  return line.map(({ text, look }) => (look ? { text, cls: styles[look] } : { text }));
}

/** The lines of a text in colours, once they are there; undefined means to draw it plain. */
export function useColoured(text: string, lang: string | undefined): readonly TokenLine[] | undefined {
  const language = lang === undefined ? undefined : languageNamed(lang);
  const [found, setFound] = useState<{ text: string; language: string; lines: readonly TokenLine[] | undefined }>();
  useEffect(() => {
    if (!language || !isColoured(text)) return;
    let current = true;
    void highlightLines(text, language).then((lines) => {
      if (current) setFound({ text, language, lines });
    });
    return () => {
      current = false;
    };
  }, [text, language]);
  if (!language || !isColoured(text)) return undefined;
  return found?.text === text && found.language === language ? found.lines : cached(text, language);
}
