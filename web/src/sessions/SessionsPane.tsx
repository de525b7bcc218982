import { Archive } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import type { SessionSummary } from "../api/types";
import { useKeys } from "../app/keys";
import { go } from "../app/router";
import { useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { sessionsTexts as t } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { EmptyState, ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import type { Act } from "./actions";
import { useArchived } from "./archived";
import { BulkBar } from "./BulkBar";
import { openAdopt, openNewSession } from "./dialogs";
import { arrange } from "./list";
import { PaneFilters, PaneHead } from "./PaneHead";
import { SessionList } from "./SessionList";
import css from "./SessionsPane.module.css";
import { useActs } from "./useActs";
import { filterText, look } from "./view";

/** The list of sessions, beside the conversation or, on a narrow screen, alone. */
export function SessionsPane({ selected }: { selected?: string }) {
  const hub = useHub();
  const current = useReadable(hub.sessions);
  const view = useReadable(look);
  const text = useReadable(filterText);
  const [archive, setArchive] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const archived = useArchived(archive);
  const sessions = useMemo(
    (): readonly SessionSummary[] => (archive ? archived.items : [...current.byId.values()].filter((s) => !s.archived)),
    [archive, archived.items, current.byId],
  );
  const states = archive ? "all" : view.states;
  const rows = useMemo(() => arrange(sessions, { ...view, states, text }), [sessions, view, states, text]);
  const shown = useMemo(() => rows.flatMap((row) => (row.kind === "session" ? [row.session] : [])), [rows]);
  const acts = useActs(archived.again);

  const choose = useCallback((id: string, isChosen: boolean) => {
    setChosen((old) => {
      const next = new Set(old);
      if (isChosen) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  const { run } = acts;
  const act = useCallback((what: Act, session: SessionSummary) => void run(what, [session]), [run]);
  const selectFrom = useCallback((id: string) => setChosen(new Set([id])), []);
  const showArchive = (on: boolean): void => {
    setArchive(on);
    setChosen(undefined);
  };

  const step = (by: number): void => {
    const at = shown.findIndex((s) => s.id === selected);
    const to = shown[at < 0 ? 0 : at + by];
    if (to) go({ page: "session", id: to.id });
  };
  useKeys(t.pane, [
    { keys: "]", label: t.keys.next, run: () => step(1) },
    { keys: "[", label: t.keys.previous, run: () => step(-1) },
  ]);

  const loading = archive ? archived.loading && archived.items.length === 0 : !current.loaded && current.byId.size === 0;
  const error = archive ? archived.error : current.error;
  const filtered = text !== "" || states !== "all";
  return (
    <div className={css.pane}>
      <PaneHead
        archive={archive}
        onArchive={showArchive}
        selecting={chosen !== undefined}
        onSelecting={(on) => setChosen(on ? new Set() : undefined)}
      />
      {(sessions.length > 0 || filtered) && <PaneFilters sessions={sessions} withStates={!archive} />}
      <ErrorNote className={css.note} error={error} onRetry={archive ? archived.again : hub.retry} />
      <ErrorNote className={css.note} error={acts.error} />
      {shown.length > 0 && (
        <SessionList
          rows={rows}
          byFolder={view.group === "dir"}
          selected={selected}
          chosen={chosen}
          onChoose={choose}
          onSelect={selectFrom}
          onAct={act}
          foot={
            archive && archived.more ? (
              <Button size="s" isPending={archived.loading} onPress={archived.next}>
                {t.archive.more}
              </Button>
            ) : !archive && !current.loaded ? (
              <span className={css.older}>{t.loadingOlder}</span>
            ) : undefined
          }
        />
      )}
      {shown.length === 0 && loading && (
        <div className={css.wait}>
          <Spinner />
        </div>
      )}
      {shown.length === 0 && !loading && !error && (
        <div className={css.none}>
          {filtered && sessions.length > 0 ? (
            <EmptyState title={t.filter.none}>
              <Button
                onPress={() => {
                  filterText.set("");
                  look.set({ ...view, states: "all" });
                }}
              >
                {t.filter.clear}
              </Button>
            </EmptyState>
          ) : archive ? (
            <EmptyState icon={<Archive />} title={t.empty.archivedTitle}>
              <p>{t.empty.archivedText}</p>
            </EmptyState>
          ) : (
            <EmptyState title={t.empty.title}>
              <p>{t.empty.text}</p>
              <div className={css.starts}>
                <Button variant="primary" isDisabled={!hub.can("admin")} reason={t.scopes.admin} onPress={() => openNewSession()}>
                  {t.create.button}
                </Button>
                <Button isDisabled={!hub.can("admin")} reason={t.scopes.admin} onPress={openAdopt}>
                  {t.adopt.button}
                </Button>
              </div>
            </EmptyState>
          )}
        </div>
      )}
      {chosen && (
        <BulkBar
          archive={archive}
          all={shown}
          chosen={shown.filter((s) => chosen.has(s.id))}
          pending={acts.pending}
          onChoose={(ids) => setChosen(new Set(ids))}
          onAct={(what, on) => void run(what, on).then((left) => setChosen(left.length > 0 ? new Set(left) : undefined))}
        />
      )}
    </div>
  );
}
