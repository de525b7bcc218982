import { useMemo } from "react";
import type { SessionSummary } from "../api/types";
import { useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { insightTexts as t } from "../texts/insight";
import { shortenPath } from "../ui/format";
import { visible } from "../ui/visible";

/** How many sessions are offered: a list that nobody can read through helps nobody. */
const most = 200;

/** The sessions to choose from, the most recently updated first, after one that stands for all or none. */
export function useSessionItems(first: { id: string; label: string }): { id: string; label: string; hint?: string }[] {
  const byId = usePart(useHub().sessions, (s) => s.byId);
  return useMemo(() => [first, ...sessionItems(byId)], [byId, first]);
}

function sessionItems(byId: ReadonlyMap<string, SessionSummary>): { id: string; label: string; hint?: string }[] {
  return [...byId.values()]
    .sort((a, b) => (a.updated < b.updated ? 1 : -1))
    .slice(0, most)
    .map((s) => ({
      id: s.id,
      label: visible(s.title ?? "") || t.costs.untitled,
      hint: [s.node && visible(s.node), s.dir && shortenPath(s.dir)].filter(Boolean).join(" · ") || undefined,
    }));
}

/** The title of a session, as far as it is known. */
export function useSessionTitle(id: string): string {
  return visible(usePart(useHub().sessions, (s) => s.byId.get(id)?.title) ?? "") || t.costs.untitled;
}
