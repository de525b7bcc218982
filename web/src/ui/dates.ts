// One format for dates and times in the whole console, in the reader's own zone: 17 Nov, 17 Nov 2026, 21:33.

type When = string | number | Date;

function valid(when: When): Date | undefined {
  const date = new Date(when);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** A time of day: "21:33". Empty if it is no time. */
export function formatTime(when: When): string {
  return valid(when)?.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }) ?? "";
}

/** A day: "17 Nov", with the year if it is another one than now. Empty if it is no time. */
export function formatDay(when: When, now: number = Date.now()): string {
  const date = valid(when);
  if (!date) return "";
  const year = date.getFullYear() === new Date(now).getFullYear() ? undefined : "numeric";
  // Browsers abbreviate September otherwise than the other months.
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year }).replace("Sept", "Sep");
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
  return `${formatDay(date, 0)}, ${date.toLocaleTimeString("en-GB")}`;
}
