import { CircleHelp } from "lucide-react";
import type { Unknown } from "../talk/item";
import { pretty } from "../talk/json";
import { conversationTexts as t } from "../texts/conversation";
import { LongText } from "../ui/code/Code";
import { Fold } from "./Foldable";
import styles from "./Prompt.module.css";

/** A line of a type that the console does not know: it is never dropped, but shown as it is. */
export function UnknownBody({ item }: { item: Unknown }) {
  return (
    <Fold id={item.id} icon={<CircleHelp size={14} />} title={t.unknownLine(item.type)}>
      <div className={styles.synthetic}>
        <p>{t.unknownHint}</p>
        <LongText text={pretty(item.raw).text} lang="json" wrap />
      </div>
    </Fold>
  );
}
