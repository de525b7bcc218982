import { uiTexts as t } from "../texts/ui";

// One format for dates and times in the whole console, in the reader's own zone: 17 Nov, 17 Nov 2026, 21:33.

type When = string | number | Date;

function valid(when: When): Date | undefined {
  const date = new Date(when);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

// Made once: each is dear, and a page has many dates.
const timeFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const secondsFormat = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const yearFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** A time of day: "21:33". Empty if it is no time. */
export function formatTime(when: When): string {
  const date = valid(when);
  return date ? timeFormat.format(date) : "";
}

/** A day: "17 Nov", with the year if it is another one than now. Empty if it is no time. */
export function formatDay(when: When, now: number = Date.now()): string {
  const date = valid(when);
  if (!date) return "";
  const format = date.getFullYear() === new Date(now).getFullYear() ? dayFormat : yearFormat;
  // Browsers abbreviate September otherwise than the other months.
  return format.format(date).replace("Sept", "Sep");
}

/** A moment: "17 Nov 2026, 21:33". The year is left out if it is that of now, the day if it is today. Empty if it is no time. */
export function formatMoment(when: When, now: number = Date.now()): string {
  const date = valid(when);
  if (!date) return "";
  if (date.toDateString() === new Date(now).toDateString()) return formatTime(date);
  return `${formatDay(date, now)}, ${formatTime(date)}`;
}

/** The whole of a moment, for tooltips: "17 Nov 2026, 21:33:05". */
export function formatExactly(when: When): string {
  const date = valid(when);
  if (!date) return "";
  return `${formatDay(date, 0)}, ${secondsFormat.format(date)}`;
}

/** How long ago something was: "now", "42s ago", "3h ago", "5d ago", then the date. */
export function formatAgo(time: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - time) / 1000));
  if (seconds < 10) return t.ago.now;
  if (seconds < 60) return t.ago.seconds(seconds);
  if (seconds < 3600) return t.ago.minutes(Math.floor(seconds / 60));
  if (seconds < 86_400) return t.ago.hours(Math.floor(seconds / 3600));
  if (seconds < 7 * 86_400) return t.ago.days(Math.floor(seconds / 86_400));
  return formatDay(time, now);
}

/** An amount of dollars: cents up to a hundred dollars, more digits for what is less than a cent. */
export function formatMoney(usd: number): string {
  if (!Number.isFinite(usd)) return "–";
  const size = Math.abs(usd);
  if (size !== 0 && size < 0.01) return `$${usd.toFixed(4)}`;
  if (size >= 10_000) return `$${Math.round(usd).toLocaleString("en-US")}`;
  return `$${usd.toFixed(2)}`;
}

/** A number of tokens: 950, 12.3k, 1.2M. */
export function formatTokens(n: number): string {
  if (!Number.isFinite(n)) return "–";
  if (n < 1000) return String(Math.round(n));
  if (n < 99_950) return `${trim((n / 1000).toFixed(1))}k`;
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${trim((n / 1_000_000).toFixed(1))}M`;
}

/** A span of time: 850ms, 4.2s, 3m 20s, 2h 5m, 3d 4h. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  const size = Math.max(0, ms);
  if (size < 1000) return `${Math.round(size)}ms`;
  if (size < 9950) return `${trim((size / 1000).toFixed(1))}s`;
  const seconds = Math.round(size / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return two(Math.floor(seconds / 60), "m", seconds % 60, "s");
  if (seconds < 86_400) return two(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "m");
  return two(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3600), "h");
}

/** A text that begins as a sentence does. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Shortens a path in the middle, whole parts at a time: the beginning says whose, the end says what. */
export function shortenPath(path: string, most = 40): string {
  if (path.length <= most) return path;
  const parts = path.split("/");
  let end = parts.length - 1;
  let tail = parts[end] ?? "";
  const head = parts[0] === "" ? `/${parts[1] ?? ""}` : (parts[0] ?? "");
  if (tail.length + head.length + 3 > most) return `…${path.slice(-(most - 1))}`;
  while (end > 2 && head.length + 3 + (parts[end - 1] ?? "").length + 1 + tail.length <= most) {
    end--;
    tail = `${parts[end] ?? ""}/${tail}`;
  }
  return `${head}/…/${tail}`;
}

function trim(decimal: string): string {
  return decimal.endsWith(".0") ? decimal.slice(0, -2) : decimal;
}

function two(a: number, unitA: string, b: number, unitB: string): string {
  return b === 0 ? `${a}${unitA}` : `${a}${unitA} ${b}${unitB}`;
}

/** A line of Markdown without the marks of code and emphasis, for where it is not rendered. */
export function withoutMarks(line: string): string {
  return line.replace(/\*\*|__|`/g, "");
}
