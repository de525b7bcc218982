import { FileText, User, Webhook } from "lucide-react";
import { useContext } from "react";
import { useWho } from "../store/who";
import type { Block, Prompt } from "../talk/item";
import { pretty } from "../talk/json";
import { conversationTexts as t } from "../texts/conversation";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { drawnMost, LongText, size } from "../ui/code/Code";
import { Picture } from "../ui/markdown/Picture";
import { Badge } from "../ui/signs";
import { PlaceContext } from "./context";
import { Fold } from "./Foldable";
import { useFold } from "./fold";
import styles from "./Prompt.module.css";
import { clock } from "./Row";

// A prompt that is longer is folded: what the agent did with it is what one came for.
const foldedAt = { characters: 3000, lines: 24 };

/** What somebody, or a program, told the agent. It is shown as it was typed. */
export function PromptBody({ item }: { item: Prompt }) {
  const problem = item.delivery === "not_delivered" || item.delivery === "unknown";
  const who = useWho();
  if (item.synthetic) return <Synthetic item={item} />;
  return (
    <div className={classes(styles.prompt, item.delivery !== undefined && styles.waiting)}>
      <header className={styles.head}>
        <User size={14} aria-hidden="true" />
        <strong>{who(item.by)}</strong>
        {item.time ? <time dateTime={item.time}>{clock(item.time)}</time> : null}
        {item.delivery && item.delivery !== "picked_up" ? (
          <Badge tone={problem ? "danger" : "neutral"} title={item.reason}>
            {t.delivery[item.delivery] ?? item.delivery}
          </Badge>
        ) : null}
      </header>
      <Blocks item={item} />
      {problem && item.reason ? <p className={styles.reason}>{item.reason}</p> : null}
    </div>
  );
}

/** What nobody typed is in the conversation all the same, in one line. */
function Synthetic({ item }: { item: Prompt }) {
  const first = item.blocks.find((block) => block.type === "text");
  const title = first?.type === "text" ? first.text.trim().split("\n", 1)[0]?.slice(0, 200) : undefined;
  return (
    <Fold
      id={item.id}
      icon={<Webhook size={14} />}
      title={title || t.synthetic}
      hint={item.by ?? (title ? t.synthetic : undefined)}
    >
      <div className={styles.synthetic}>
        <Blocks item={item} />
      </div>
    </Fold>
  );
}

function Blocks({ item }: { item: Prompt }) {
  return item.blocks.map((block, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no identity but their place
    <OneBlock key={i} block={block} fold={`${item.id} ${i}`} />
  ));
}

function OneBlock({ block, fold }: { block: Block; fold: string }) {
  switch (block.type) {
    case "text":
      return <TypedText text={block.text} fold={fold} />;
    case "image":
      return <Picture mediaType={block.mediaType} data={block.data} url={block.url} />;
    case "document":
      return <Document block={block} fold={fold} />;
    case "other":
      return (
        <Fold id={fold} title={t.otherBlock}>
          <LongText text={pretty(block.raw).text} lang="json" wrap />
        </Fold>
      );
  }
}

/** What somebody typed. The orders to a simulated agent, which an example ends with, are folded: nobody would write them otherwise. */
function TypedText({ text, fold }: { text: string; fold: string }) {
  const { simulated } = useContext(PlaceContext);
  const [said, orders] = simulated ? splitOrders(text) : [text, ""];
  return (
    <>
      {said === "" ? null : <Typed text={said} fold={fold} />}
      {orders === "" ? null : (
        <Fold id={`${fold} orders`} title={t.orders}>
          <LongText text={orders} wrap />
        </Fold>
      )}
    </>
  );
}

/** What a prompt says, and the orders to the simulated agent after it. */
export function splitOrders(text: string): [said: string, orders: string] {
  const match = /^(?:Orders|Instructions) for the simulated agent:[ \t]*\n/m.exec(text);
  return match ? [text.slice(0, match.index).trim(), text.slice(match.index + match[0].length)] : [text, ""];
}

function Typed({ text, fold }: { text: string; fold: string }) {
  const [open, setOpen] = useFold(fold, false);
  const folded = shorten(text, foldedAt.characters, foldedAt.lines);
  if (folded === text) return <p className={styles.typed}>{text}</p>;
  return (
    <>
      {!open ? (
        <p className={styles.typed}>{folded}</p>
      ) : text.length > drawnMost ? (
        <LongText text={text} wrap />
      ) : (
        <p className={styles.typed}>{text}</p>
      )}
      <Button variant="quiet" size="s" onPress={() => setOpen(!open)}>
        {open ? t.showLess : t.showAll(size(text.length))}
      </Button>
    </>
  );
}

/** The beginning of a text, if it has more characters or lines than wanted. */
export function shorten(text: string, characters: number, lines: number): string {
  let end = Math.min(text.length, characters);
  for (let i = 0, at = -1; i < lines; i++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0 || at >= end) break;
    if (i === lines - 1) end = at;
  }
  // A few words more are better than a button.
  return text.length - end < 200 && text.length - end < characters / 4 && !text.slice(end).includes("\n")
    ? text
    : text.slice(0, end);
}

function Document({ block, fold }: { block: Extract<Block, { type: "document" }>; fold: string }) {
  const title = block.title || block.mediaType || t.document;
  if (block.text === undefined) {
    return (
      <p className={styles.document}>
        <FileText size={14} aria-hidden="true" /> {title}
      </p>
    );
  }
  return (
    <Fold id={fold} icon={<FileText size={14} />} title={t.attachedText(title)} hint={size(block.text.length)}>
      <LongText text={block.text} wrap />
    </Fold>
  );
}
