import type { Text } from "../talk/item";
import { conversationTexts as t } from "../texts/conversation";
import { classes } from "../ui/classes";
import { Markdown } from "../ui/markdown/Markdown";
import styles from "./Text.module.css";

/** What the agent says. */
export function TextBody({ item }: { item: Text }) {
  return (
    <div className={classes(styles.text, item.failed && styles.failed)}>
      <Markdown text={item.text} streaming={item.streaming} />
      {item.streaming ? (
        <span className={styles.writing} role="img" aria-label={t.writing}>
          <i />
        </span>
      ) : null}
    </div>
  );
}
