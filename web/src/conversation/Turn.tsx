import { Ban, Check, RotateCw, X } from "lucide-react";
import { useAct } from "../steer/act";
import { type OpenSession, useHub } from "../store/hub";
import { usePart, useReadable } from "../store/readable";
import { useWho } from "../store/who";
import type { Turn } from "../talk/item";
import { pretty } from "../talk/json";
import { conversationTexts as t } from "../texts/conversation";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { LongText } from "../ui/code/Code";
import { formatTokens } from "../ui/format";
import { ErrorNote } from "../ui/notes";
import { Duration, Money } from "../ui/values";
import styles from "./Turn.module.css";

/** The end of a turn: how it went, how long it took and what it cost. */
export function TurnBody({ session, item }: { session: OpenSession; item: Turn }) {
  const who = useWho();
  const tokens = item.tokens;
  const read = tokens ? tokens.input + tokens.cacheRead + tokens.cacheWrite : 0;
  const failed = item.failed && !item.interrupted;
  return (
    <div className={classes(styles.turn, failed && styles.failed)}>
      <p className={styles.line}>
        <span className={styles.word}>
          <Sign item={item} /> {headline(item, who)}
        </span>
        {item.ms === undefined ? null : <Duration ms={item.ms} />}
        {item.usd === undefined ? null : <Money usd={item.usd} />}
        {tokens && read + tokens.output > 0 ? (
          <span title={t.tokensDetail(tokens)}>{t.tokens(formatTokens(read), formatTokens(tokens.output))}</span>
        ) : null}
        {item.turns === undefined ? null : <span>{t.steps(item.turns)}</span>}
        {item.denials && !item.interrupted ? <span>{t.denials(item.denials)}</span> : null}
      </p>
      {failed ? <p className={styles.error}>{reason(item)}</p> : null}
      {failed ? <Retry session={session} turn={item.id} /> : null}
      {item.output === undefined ? null : (
        <figure>
          <figcaption className={styles.caption}>{t.output}</figcaption>
          <LongText text={pretty(item.output).text} lang="json" wrap />
        </figure>
      )}
    </div>
  );
}

function headline(item: Turn, who: (by: string) => string): string {
  if (item.interrupted) return item.by ? t.turnStoppedBy(who(item.by)) : t.turnStopped;
  return item.failed ? t.turnFailed : t.turnDone;
}

/** Has the hub send the prompt of a turn that failed once more. Only the last turn has it, while nothing else goes on. */
function Retry({ session, turn }: { session: OpenSession; turn: string }) {
  const hub = useHub();
  const { ids } = useReadable(session.order);
  const failed = usePart(session.snapshot, ({ session: known }) => known?.failed === true);
  const last = ids.findLast((id) => {
    const kind = session.item(id).get()?.kind;
    return kind === "prompt" || kind === "turn" || kind === "tool";
  });
  const { pending, error, run } = useAct();
  if (!failed || last !== turn || !hub.can("prompt")) return null;
  return (
    <div className={styles.retry}>
      <Button
        size="s"
        icon={<RotateCw size={14} />}
        isPending={pending}
        onPress={() => void run(() => hub.api.call("retry-session", { params: { id: session.id } }))}
      >
        {t.retry}
      </Button>
      <ErrorNote error={error} />
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
  const error = known !== undefined && item.error === item.subtype ? undefined : item.error && plainError(item.error);
  return [known, error].filter(Boolean).join(": ") || item.subtype;
}

/** What the API said, without what is meant for programs: "API Error: 529 {"type":"error","error":{"message":"Overloaded"}}". */
function plainError(error: string): string {
  const match = /^API Error: (\d{3})\s*(.*)$/s.exec(error);
  if (!match) return error.replace(/^API Error: /, "");
  const [, status = "", said = ""] = match;
  const message = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(said)?.[1];
  return t.apiAnswered(status, message === undefined ? (said.startsWith("{") ? "" : said) : decoded(message));
}

function decoded(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
