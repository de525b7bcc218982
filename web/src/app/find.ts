import type { Question, SessionSummary } from "../api/types";
import { titleOf } from "../sessions/list";
import { appTexts as t } from "../texts/app";
import { stateWord } from "../ui/signs";
import { visible } from "../ui/visible";
import type { CommandGroup } from "./commands";
import { go } from "./router";

export interface Found {
  id: string;
  label: string;
  hint?: string;
  keys?: string;
  group: string;
  run(): void;
}

// More than this nobody reads: another letter is quicker.
const most = 60;
// Of questions and of sessions no more than this: hundreds of them would leave no room for the commands.
const mostOfKind = 12;

/**
 * How well a text fits what was typed: 0 not at all. All words must occur; the beginning of the text is worth more than
 * the beginning of a word, and that more than the middle of one.
 */
export function score(text: string, query: string): number {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const where = text.toLowerCase();
  let sum = 1;
  for (const word of words) {
    const at = where.indexOf(word);
    if (at < 0) return 0;
    if (at === 0) sum += 4;
    else if (new RegExp(`[^\\p{L}\\p{N}]${escapeRegExp(word)}`, "u").test(where)) sum += 2;
    else sum += 1;
  }
  return sum;
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** What the palette shows for what was typed, the best of each group first. */
export function find(
  query: string,
  groups: readonly CommandGroup[],
  sessions: Iterable<SessionSummary>,
  questions: readonly Question[],
): Found[] {
  const found: { entry: Found; score: number }[] = [];
  const offer = (entry: Found, worth: number) => {
    const fits = score(`${entry.label} ${entry.hint ?? ""}`, query);
    if (fits > 0) found.push({ entry, score: fits + worth });
  };
  const all = [...sessions];
  const names = new Map(all.map((session) => [session.id, titleOf(session)]));
  for (const question of questions) {
    if (question.state !== "open") continue;
    offer(
      {
        id: `question ${question.id}`,
        label: visible(question.title ?? question.tool ?? question.kind),
        // Which agent asks: what it asks may be the same for several.
        hint: [names.get(question.session), visible(question.description ?? question.kind)].filter(Boolean).join(" · "),
        group: t.palette.questions,
        run: () => go({ page: "inbox", question: question.id }),
      },
      0.5,
    );
  }
  for (const group of [...groups].reverse()) {
    for (const command of group.commands) {
      offer({ ...command, id: `command ${group.name} ${command.id}`, group: group.name, run: () => command.run() }, 0.4);
    }
  }
  for (const session of all) {
    // Without a word typed, only the newest sessions would be in the way of the commands.
    if (!query.trim()) break;
    offer(
      {
        id: `session ${session.id}`,
        label: titleOf(session),
        hint: [stateWord(session.state), session.node && visible(session.node), session.dir].filter(Boolean).join(" · "),
        group: t.palette.sessions,
        run: () => go({ page: "session", id: session.id }),
      },
      0.2,
    );
  }
  // The groups by their best entry; of equal ones those of the page come before those that are always there.
  const best = new Map<string, number>();
  for (const { entry, score: s } of found) best.set(entry.group, Math.max(best.get(entry.group) ?? 0, s));
  const rank = new Map([...best.keys()].map((name, at) => [name, (best.get(name) ?? 0) - at / 1000]));
  found.sort((a, b) => (rank.get(b.entry.group) ?? 0) - (rank.get(a.entry.group) ?? 0) || b.score - a.score);
  const taken = new Map<string, number>();
  const fits = found.filter(({ entry }) => {
    const n = (taken.get(entry.group) ?? 0) + 1;
    taken.set(entry.group, n);
    return n <= mostOfKind || (entry.group !== t.palette.questions && entry.group !== t.palette.sessions);
  });
  const shown = fits.slice(0, most).map(({ entry }) => entry);
  const q = query.trim();
  if (q) shown.push({ id: "search", label: t.palette.searchFor(q), group: t.pages.search, run: () => go({ page: "search", q }) });
  return shown;
}
