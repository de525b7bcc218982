import { Brain } from "lucide-react";
import type { Thinking } from "../talk/item";
import { conversationTexts as t } from "../texts/conversation";
import { Markdown } from "../ui/markdown/Markdown";
import { Fold } from "./Foldable";
import styles from "./Thinking.module.css";

/** What the agent thought, folded: one line, with the newest words while it thinks. */
export function ThinkingBody({ item }: { item: Thinking }) {
  if (item.redacted || (item.text === "" && !item.streaming)) {
    return (
      <p className={styles.hidden}>
        <Brain size={14} aria-hidden="true" /> {t.thoughtHidden}
      </p>
    );
  }
  return (
    <Fold
      id={item.id}
      icon={<Brain size={14} />}
      title={item.streaming ? t.thinking : t.thought}
      hint={item.streaming ? newest(item.text) : beginning(item.text)}
    >
      <Markdown text={item.text} streaming={item.streaming} className={styles.text} />
    </Fold>
  );
}

function newest(text: string): string {
  return text.slice(-400).trimEnd().split("\n").at(-1)?.slice(-120) ?? "";
}

function beginning(text: string): string {
  return text.slice(0, 400).trim().split("\n", 1)[0]?.slice(0, 120) ?? "";
}
