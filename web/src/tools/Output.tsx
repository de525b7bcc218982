import { memo, useMemo, useState } from "react";
import { toolTexts as t } from "../texts/tools";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { parseAnsi, type Style } from "./ansi";
import { allLines, countLines, firstLines, lastLines, trimmed } from "./excerpt";
import css from "./Output.module.css";
import { Scroller } from "./Scroller";

const tail = 40; // about a screen: a card must not push the rest of the conversation away
const peek = 3;

/** What a program printed: its last lines with the colours of a terminal, and all of it on demand. */
export const Output = memo(function Output(props: { text: string; label?: string; tone?: "plain" | "bad"; className?: string }) {
  const [all, setAll] = useState(false);
  const text = useMemo(() => trimmed(props.text), [props.text]);
  const part = useMemo(() => (all ? allLines(text) : lastLines(text, tail)), [text, all]);
  const hidden = part.before > 0 || part.cut > 0;
  return (
    <div className={classes(css.output, props.tone === "bad" && css.bad, props.className)}>
      {props.label && <div className={css.label}>{props.label}</div>}
      {hidden && !all && (
        <Button variant="quiet" size="s" className={css.all} onPress={() => setAll(true)}>
          {part.before > 0 ? t.showAll(countLines(text)) : t.showAllCharacters(text.length)}
        </Button>
      )}
      <Scroller label={props.label ?? t.output} className={all ? css.scrolls : undefined}>
        <Terminal text={part.text} />
      </Scroller>
      {all && part.cut > 0 && <p className={css.label}>{t.tooLong(part.cut)}</p>}
    </div>
  );
});

/** The first lines of what a program printed. */
export const OutputPeek = memo(function OutputPeek(props: { text: string; tone?: "plain" | "bad"; lines?: number }) {
  const part = useMemo(() => firstLines(trimmed(props.text), props.lines ?? peek), [props.text, props.lines]);
  if (part.text === "") return null;
  return (
    <div className={classes(css.output, css.peek, props.tone === "bad" && css.bad)}>
      <Terminal text={part.text} />
      {part.after > 0 && <div className={css.after}>{t.moreLines(part.after)}</div>}
    </div>
  );
});

function Terminal({ text }: { text: string }) {
  const spans = useMemo(() => parseAnsi(text), [text]);
  return (
    <pre className={css.text} translate="no">
      {spans.map((span, i) => {
        const look = lookOf(span.style);
        if (look === "") return span.text;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name than their place
          <span key={i} className={look}>
            {span.text}
          </span>
        );
      })}
    </pre>
  );
}

function lookOf(s: Style): string {
  return classes(
    s.colour && css[s.colour],
    s.back && css.back,
    s.bold && css.bold,
    s.dim && css.dim,
    s.italic && css.italic,
    s.underline && css.underline,
    s.strike && css.strike,
    s.inverse && css.inverse,
  );
}
