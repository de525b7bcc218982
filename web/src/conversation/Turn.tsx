import { Ban, Check, X } from "lucide-react";
import type { Turn } from "../talk/item";
import { pretty } from "../talk/json";
import { conversationTexts as t } from "../texts/conversation";
import { classes, Duration, formatTokens, Money } from "../ui";
import { LongText } from "../ui/code";
import styles from "./Turn.module.css";

/** The end of a turn: how it went, how long it took and what it cost. */
export function TurnBody({ item }: { item: Turn }) {
  const tokens = item.tokens;
  const read = tokens ? tokens.input + tokens.cacheRead + tokens.cacheWrite : 0;
  return (
    <div className={classes(styles.turn, item.failed && styles.failed)}>
      <p className={styles.line}>
        <span className={styles.word}>
          <Sign item={item} /> {item.interrupted ? t.turnStopped : item.failed ? t.turnFailed : t.turnDone}
        </span>
        {item.ms === undefined ? null : <Duration ms={item.ms} />}
        {item.usd === undefined ? null : <Money usd={item.usd} />}
        {tokens && read + tokens.output > 0 ? (
          <span title={t.tokensDetail(tokens)}>{t.tokens(formatTokens(read), formatTokens(tokens.output))}</span>
        ) : null}
        {item.turns === undefined ? null : <span>{t.steps(item.turns)}</span>}
        {item.denials ? <span>{t.denials(item.denials)}</span> : null}
      </p>
      {item.failed && !item.interrupted ? <p className={styles.error}>{reason(item)}</p> : null}
      {item.output === undefined ? null : (
        <figure>
          <figcaption className={styles.caption}>{t.output}</figcaption>
          <LongText text={pretty(item.output).text} lang="json" wrap />
        </figure>
      )}
    </div>
  );
}

function Sign({ item }: { item: Turn }) {
  if (item.interrupted) return <Ban size={14} aria-hidden="true" />;
  return item.failed ? <X size={14} aria-hidden="true" /> : <Check size={14} aria-hidden="true" />;
}

/** Why a turn failed, in words if we have them. */
export function reason(item: Pick<Turn, "subtype" | "error">): string {
  const known = Object.hasOwn(t.turnReasons, item.subtype) ? t.turnReasons[item.subtype] : undefined;
  // Where nothing was said, the error is the subtype itself.
  const error = known !== undefined && item.error === item.subtype ? undefined : item.error;
  return [known, error].filter(Boolean).join(": ") || item.subtype;
}
