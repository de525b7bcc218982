import {
  Archive,
  BookOpen,
  Cable,
  CircleAlert,
  CircleDot,
  CircleStop,
  FileCheck,
  Flag,
  Gauge,
  Hourglass,
  Info,
  KeyRound,
  Lightbulb,
  ListChecks,
  type LucideIcon,
  Puzzle,
  RotateCw,
  ScrollText,
  ShieldAlert,
  ShieldCheck,
  Terminal,
  TriangleAlert,
  Unplug,
  Wallet,
  Webhook,
} from "lucide-react";
import { memo } from "react";
import { Fold } from "../conversation/Foldable";
import { useWho } from "../store/who";
import type { Notice } from "../talk/item";
import { talkTexts as t } from "../texts/talk";
import { classes } from "../ui/classes";
import { formatDuration } from "../ui/format";
import { useNow } from "../ui/hooks";
import { Spinner } from "../ui/signs";
import { visible } from "../ui/visible";
import css from "./Notice.module.css";
import { Output } from "./Output";

/** A shape for what a notice is about; those that are not here have that of their level. */
const icons = new Map<string, LucideIcon>([
  ["agent", CircleStop],
  ["budget", Wallet],
  ["compaction", Archive],
  ["decision", ShieldCheck],
  ["ended", CircleStop],
  ["files", FileCheck],
  ["goal", Flag],
  ["hold", Hourglass],
  ["hook", Webhook],
  ["login", KeyRound],
  ["mcp", Cable],
  ["memory", BookOpen],
  ["mode", ShieldCheck],
  ["offline", Unplug],
  ["output", Terminal],
  ["plugin", Puzzle],
  ["rate_limit", Gauge],
  ["retry", RotateCw],
  ["rule", ShieldCheck],
  ["sandbox", ShieldAlert],
  ["started", CircleDot],
  ["suggestion", Lightbulb],
  ["summary", ScrollText],
  ["task", ListChecks],
]);

/** Details up to this are shown at once, where they matter. */
const shortLines = 4;
const shortText = 400;

/** Notices after which the conversation goes on as another: a line is drawn across it. */
const dividing = new Set(["compaction", "conversation"]);

/** A line about something that is neither said nor done by the agent. */
export const NoticeRow = memo(function NoticeRow({ item }: { item: Notice }) {
  const { topic, level, detail = "" } = item;
  const folds = detail !== "" && !showsAtOnce(item);
  const line = <Line item={item} />;
  return (
    <div className={classes(css.notice, css[level], dividing.has(topic) && level !== "warn" && css.divides)}>
      {folds ? (
        <Fold id={item.id} title={line}>
          <Output text={detail} />
        </Fold>
      ) : (
        <p className={css.line}>{line}</p>
      )}
      {detail !== "" && !folds && <Output className={css.detail} text={detail} tone={level === "bad" ? "bad" : "plain"} />}
    </div>
  );
});

function Line({ item }: { item: Notice }) {
  const { topic, level, by } = item;
  const who = useWho();
  const Icon = icons.get(topic) ?? (level === "bad" ? CircleAlert : level === "warn" ? TriangleAlert : Info);
  return (
    <span className={css.words}>
      {item.streaming ? <Spinner className={css.icon ?? ""} /> : <Icon className={css.icon} size={14} aria-hidden="true" />}
      {(level === "bad" || level === "warn") && <span className={css.unseen}>{t.topics[level]}: </span>}
      <span className={css.title}>{visible(item.title)}</span>
      {by && <span className={css.by}>{t.by(visible(who(by)))}</span>}
      {item.streaming && item.time && <Since time={item.time} />}
    </span>
  );
}

/** How long something has been going on. */
function Since({ time }: { time: string }) {
  const ms = useNow(1000) - Date.parse(time);
  return ms >= 1000 ? <span className={css.by}>{formatDuration(Math.floor(ms / 1000) * 1000)}</span> : null;
}

/** The output of a command is why somebody gave it; the rest is shown if it is short and matters. */
function showsAtOnce({ topic, level, detail = "" }: Notice): boolean {
  if (topic === "output") return true;
  return level !== "dim" && detail.length <= shortText && detail.split("\n", shortLines + 1).length <= shortLines;
}
