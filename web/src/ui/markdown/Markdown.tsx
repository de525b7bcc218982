import { useMemo, useState } from "react";
import { conversationTexts as t } from "../../texts/conversation";
import { LongText } from "../code";
import { Button, classes } from "../index";
import { Block } from "./Block";
import styles from "./Markdown.module.css";
import { Growing } from "./parse";

/** Texts above this are shown as they are: laying them out would hold up the page. */
export const formattedMost = 200_000;
// Beyond this not even on request: it would take the page with it.
const formattableMost = 1_000_000;

/** A text in Markdown. What an agent wrote becomes harmless markup; while it `streaming`s only its last block is drawn again. */
export function Markdown({ text, streaming, className }: { text: string; streaming?: boolean; className?: string }) {
  const [anyway, setAnyway] = useState(false);
  if (text.length <= formattedMost || anyway) return <Formatted text={text} streaming={streaming} className={className} />;
  return (
    <div className={className}>
      <p className={styles.note}>
        {t.asText}{" "}
        {text.length <= formattableMost ? (
          <Button variant="quiet" size="s" onPress={() => setAnyway(true)}>
            {t.asMarkdown}
          </Button>
        ) : null}
      </p>
      <LongText text={text} wrap />
    </div>
  );
}

function Formatted({ text, streaming, className }: { text: string; streaming?: boolean; className?: string }) {
  const [growing] = useState(() => new Growing());
  const blocks = useMemo(() => (streaming ? growing.read(text) : growing.finish(text)), [growing, text, streaming]);
  return (
    <div className={classes(styles.markdown, className)}>
      {blocks.map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text only grows at its end, so a block keeps its place
        <Block key={i} token={block.token} growing={streaming === true && i === blocks.length - 1} />
      ))}
    </div>
  );
}
