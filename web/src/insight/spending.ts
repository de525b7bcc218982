import type { CostItem, Costs } from "../api/types";
import { formatDuration, formatMoney, formatTokens } from "../ui/format";

/** What a chart shows of the costs. */
export type Measure = "usd" | "turns" | "ms" | "tokens";

export type TokenCount = NonNullable<Costs["tokens"]>;
export type Spent = CostItem;
export type Spending = Costs;

/** All tokens of a count together. */
export function allTokens(count: TokenCount | undefined): number {
  return count ? count.input + count.output + count.cache_read + count.cache_write : 0;
}

/** How much of a measure a part of the costs is. */
export function amount(spent: Spent | Spending, measure: Measure): number {
  switch (measure) {
    case "usd":
      return spent.usd;
    case "turns":
      return spent.turns ?? 0;
    case "ms":
      return spent.ms ?? 0;
    case "tokens":
      return allTokens(spent.tokens);
  }
}

export function formatAmount(measure: Measure, n: number): string {
  switch (measure) {
    case "usd":
      return formatMoney(n);
    case "turns":
      return Math.round(n).toLocaleString("en");
    case "ms":
      return formatDuration(n);
    case "tokens":
      return formatTokens(n);
  }
}

/** A part of the whole, in words. */
export function percent(share: number): string {
  return share > 0 && share < 0.01 ? "<1%" : `${Math.round(share * 100)}%`;
}

export type Step = "day" | "week" | "month";

/** A bar of the chart over time. */
export interface Bucket {
  /** Its first day: 2026-01-31. */
  readonly from: string;
  /** Its last day. */
  readonly to: string;
  readonly amount: number;
}

const dayMs = 86_400_000;
/** How many bars there may be before several days become one. */
const mostDays = 100;
const mostWeeks = 100;

/**
 * The costs by day as bars from one day to another, days without costs too. More days than a screen has room for are put together by week
 * or by month.
 */
export function buckets(
  items: readonly Spent[],
  measure: Measure,
  from: string | undefined,
  today: string,
): { step: Step; list: Bucket[] } {
  const days = new Map(items.filter((i) => parseDay(i.key) !== undefined).map((i) => [i.key, amount(i, measure)]));
  const oldest = [...days.keys()].sort()[0];
  const first = parseDay(from ?? oldest ?? today) ?? 0;
  const newest = [...days.keys()].sort().at(-1);
  const last = Math.max(first, parseDay(today) ?? 0, parseDay(newest ?? today) ?? 0);
  const count = Math.round((last - first) / dayMs) + 1;
  const step: Step = count <= mostDays ? "day" : count <= 7 * mostWeeks ? "week" : "month";
  const list: Bucket[] = [];
  for (let at = first; at <= last; ) {
    const next = step === "day" ? at + dayMs : step === "week" ? startOfWeek(at) + 7 * dayMs : startOfNextMonth(at);
    const end = Math.min(last, next - dayMs);
    let sum = 0;
    for (let day = at; day <= end; day += dayMs) sum += days.get(formatDay(day)) ?? 0;
    list.push({ from: formatDay(at), to: formatDay(end), amount: sum });
    at = next;
  }
  return { step, list };
}

/** The day of a time on the clock of this browser. */
export function localDay(time: number): string {
  const d = new Date(time);
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}`;
}

/** The first day of the last so many, today among them. */
export function firstDay(days: number, now: number): string {
  const d = new Date(now);
  return localDay(new Date(d.getFullYear(), d.getMonth(), d.getDate() - days + 1).getTime());
}

/** When a day begins on the clock of this browser, as the server wants times. */
export function dayBegin(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date).toISOString();
}

/** A day for people: "3 Feb", with the year if it is another one. */
export function dayName(day: string, today: string): string {
  const at = parseDay(day);
  if (at === undefined) return day;
  const year = day.slice(0, 4) === today.slice(0, 4) ? undefined : "numeric";
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year, timeZone: "UTC" });
}

/** What a bar stands for, in words. */
export function bucketName(bucket: Bucket, today: string): string {
  return bucket.from === bucket.to
    ? dayName(bucket.from, today)
    : `${dayName(bucket.from, today)} – ${dayName(bucket.to, today)}`;
}

/** Marks for an axis from nothing to at least a number: at most five, at round values. */
export function ticks(most: number, measure: Measure): number[] {
  if (most <= 0) return [0];
  const step = measure === "ms" ? roundTime(most / 4) : roundStep(most / 4, measure === "turns" || measure === "tokens");
  const list: number[] = [];
  for (let n = 0; n <= Math.ceil(most / step - 1e-9); n++) list.push(n * step);
  return list;
}

function roundStep(raw: number, whole: boolean): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw) ?? raw;
  return whole ? Math.max(1, Math.ceil(step)) : step;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const times = [
  second,
  5 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  6 * hour,
  12 * hour,
];

function roundTime(raw: number): number {
  return times.find((n) => n >= raw) ?? Math.ceil(raw / dayMs) * dayMs;
}

function parseDay(day: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The Monday of a day's week. */
function startOfWeek(at: number): number {
  return at - ((new Date(at).getUTCDay() + 6) % 7) * dayMs;
}

function startOfNextMonth(at: number): number {
  const d = new Date(at);
  return Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 1);
}

function pad(n: number): string {
  return String(n).padStart(2, "0");
}
