import { classes } from "./classes";
import { formatAgo, formatDuration, formatExactly, formatMoney, shortenPath } from "./format";
import { useNow } from "./hooks";
import css from "./values.module.css";

/** How long ago a time is, kept current; the time itself in the tooltip. */
export function Ago({ time, className }: { time: string | number | undefined; className?: string }) {
  const at = time === undefined ? Number.NaN : typeof time === "number" ? time : Date.parse(time);
  const young = Date.now() - at < 60_000;
  const now = useNow(young ? 1000 : 20_000);
  if (Number.isNaN(at)) return null;
  const date = new Date(at);
  return (
    <time className={classes(css.value, className)} dateTime={date.toISOString()} title={formatExactly(at)}>
      {formatAgo(at, now)}
    </time>
  );
}

export function Money({ usd, className }: { usd: number | undefined; className?: string }) {
  if (usd === undefined) return null;
  return (
    <span className={classes(css.value, className)} title={`$${usd}`}>
      {formatMoney(usd)}
    </span>
  );
}

export function Duration({ ms, className }: { ms: number | undefined; className?: string }) {
  if (ms === undefined) return null;
  return <span className={classes(css.value, className)}>{formatDuration(ms)}</span>;
}

/** A path, shortened in the middle; the whole of it in the tooltip. */
export function Path({ path, most = 40, className }: { path: string; most?: number; className?: string }) {
  return (
    <span className={classes(css.path, className)} title={path}>
      {shortenPath(path, most)}
    </span>
  );
}
