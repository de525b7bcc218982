import { MessageSquareText, Search } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { SearchHit } from "../api/types";
import { PageHeader } from "../app/PageHeader";
import { go, href } from "../app/router";
import { MachineName } from "../machines/MachineName";
import { useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { sessionsTexts } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { TextInput } from "../ui/fields";
import { EmptyState, ErrorNote } from "../ui/notes";
import { Spinner, StateDot } from "../ui/signs";
import { Ago, Path } from "../ui/values";
import { arrange, stateOf, titleOf } from "./list";
import { Marked } from "./Marked";
import { type Page, usePages } from "./pages";
import css from "./SearchPage.module.css";
import { useSettled } from "./useSettled";

const t = sessionsTexts.search;
const pageSize = 50;
/** How many sessions are shown that have the words in their titles. */
const mostTitles = 5;

/** Full-text search over the conversations of all sessions. What is searched for stands in the address. */
export function SearchPage({ q }: { q: string }) {
  const hub = useHub();
  const [typed, setTyped] = useState(q);
  const input = useRef<HTMLInputElement>(null);
  const settled = useSettled(typed.trim(), 250);

  // The address follows what is typed, and the field follows the address when somebody goes back.
  const written = useRef(q);
  useEffect(() => {
    if (settled === written.current) return;
    written.current = settled;
    go({ page: "search", q: settled }, { replace: true });
  }, [settled]);
  useEffect(() => {
    if (q === written.current) return;
    written.current = q;
    setTyped(q);
  }, [q]);
  useEffect(() => input.current?.focus(), []);

  const read = useCallback(
    async (cursor: string | undefined, signal: AbortSignal): Promise<Page<SearchHit>> => {
      const page = await hub.api.call("search", { query: { q, cursor, limit: pageSize }, signal });
      return { items: page.hits ?? [], next: page.next || undefined };
    },
    [hub, q],
  );
  const hits = usePages(q ? read : undefined);
  const { byId } = useReadable(hub.sessions);
  const asked = q !== "";
  return (
    <div className={css.page}>
      <PageHeader title={t.title} />
      <div className={css.scroll}>
        <div className={css.inner}>
          <TextInput
            type="search"
            label={t.label}
            hideLabel
            placeholder={t.placeholder}
            icon={<Search size={16} aria-hidden="true" />}
            hint={t.hint}
            inputRef={input}
            value={typed}
            onChange={setTyped}
          />
          {asked && <Titles q={q} />}
          <p className={css.status} role="status">
            {asked && (hits.loading ? t.loading : hits.items.length > 0 ? t.found(hits.items.length, hits.more) : "")}
          </p>
          <ErrorNote error={hits.error} onRetry={hits.next} />
          <ol className={css.hits} aria-label={t.hits}>
            {hits.items.map((hit) => (
              <li key={`${hit.session} ${hit.event_id}`} className={css.hit}>
                <div className={css.head}>
                  <a className={css.title} href={href({ page: "session", id: hit.session, event: hit.event_id })}>
                    {titleOf(hit)}
                  </a>
                  <Ago time={hit.time} className={css.faint} />
                </div>
                <p className={css.snippet}>
                  <span className={css.by}>{t.by[hit.kind] ?? hit.kind}</span> <Marked text={hit.snippet} marks={hit.marks} />
                </p>
                <span className={css.where}>
                  <MachineName node={byId.get(hit.session)?.node} className={css.faint} />
                  {hit.dir && <Path path={hit.dir} most={60} className={css.faint} />}
                </span>
              </li>
            ))}
          </ol>
          {hits.loading && hits.items.length === 0 && asked && <Spinner />}
          {!hits.loading && hits.more && (
            <Button className={css.more} onPress={hits.next}>
              {t.more}
            </Button>
          )}
          {asked && !hits.loading && !hits.error && hits.items.length === 0 && (
            <EmptyState icon={<MessageSquareText />} title={t.none(q)}>
              <p>{t.noneHint}</p>
            </EmptyState>
          )}
        </div>
      </div>
    </div>
  );
}

/** The sessions that have the words in their title or folder: often that is what somebody looks for. */
function Titles({ q }: { q: string }) {
  const { byId } = useReadable(useHub().sessions);
  const found = useMemo(
    () => arrange(byId.values(), { text: q, states: "all", group: "none", sort: "updated" }).slice(0, mostTitles),
    [byId, q],
  );
  if (found.length === 0) return null;
  return (
    <section aria-label={t.inTitles}>
      <h2 className={css.section}>{t.inTitles}</h2>
      <ul className={css.titles}>
        {found.map(
          (row) =>
            row.kind === "session" && (
              <li key={row.id}>
                <a className={css.session} href={href({ page: "session", id: row.id })}>
                  <StateDot state={stateOf(row.session)} />
                  {titleOf(row.session)}
                  <MachineName node={row.session.node} className={css.faint} />
                </a>
              </li>
            ),
        )}
      </ul>
    </section>
  );
}
