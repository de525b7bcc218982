import { conversationTexts as t } from "../../texts/conversation";
import { Code, languageNamed } from "../code";
import { CopyButton } from "../index";
import styles from "./Markdown.module.css";

/** A block of code within a text, with its language and a button that copies it. */
export function CodeBlock({ text, lang, growing }: { text: string; lang?: string; growing?: boolean }) {
  const name = lang?.trim().split(/[\s{,:]/, 1)[0] ?? "";
  // While it grows it has no colours: they would be made anew for each delta.
  const language = growing ? undefined : languageNamed(name);
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        <span>{name.slice(0, 40)}</span>
        <CopyButton text={text} label={t.copyCode} className={styles.copy} />
      </figcaption>
      <Code text={text} lang={language} className={styles.block} />
    </figure>
  );
}
