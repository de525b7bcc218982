import { useCallback } from "react";
import type { SessionSummary } from "../api/types";
import { useHub } from "../store/hub";
import { type Page, type Pages, usePages } from "./pages";

/** How many are asked for at a time, and how many are shown at least before somebody asks for more. */
const pageSize = 200;
const enough = 50;

/**
 * The archived sessions. The server gives them among all others, so that a page may have few of them or none: pages are read until there are
 * enough to show.
 */
export function useArchived(wanted: boolean): Pages<SessionSummary> {
  const { api } = useHub();
  const read = useCallback(
    async (cursor: string | undefined, signal: AbortSignal): Promise<Page<SessionSummary>> => {
      const items: SessionSummary[] = [];
      let next = cursor;
      do {
        const page = await api.call("list-sessions", { query: { archived: true, limit: pageSize, cursor: next }, signal });
        items.push(...(page.sessions ?? []).filter((s) => s.archived));
        next = page.next || undefined;
      } while (next && items.length < enough);
      return { items, next };
    },
    [api],
  );
  return usePages(wanted ? read : undefined);
}
