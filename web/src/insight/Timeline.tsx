import { Download, FileText, ListTree, ScrollText } from "lucide-react";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { asApiError } from "../api/error";
import type { Question, TimelineItem } from "../api/types";
import { PageHeader } from "../app/PageHeader";
import { parseEventId } from "../store/eventData";
import { type Hub, useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { insightTexts } from "../texts/insight";
import { Button, MenuButton } from "../ui/buttons";
import { formatDuration, formatMoney } from "../ui/format";
import { useNow } from "../ui/hooks";
import { EmptyState, ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { toastError } from "../ui/toast";
import { visible } from "../ui/visible";
import { percent } from "./spending";
import css from "./Timeline.module.css";
import { TurnRow } from "./TurnRow";
import { groupTurns, type Totals, totals } from "./turns";
import { useAfterChange, useLoad } from "./useLoad";

const t = insightTexts.timeline;
/** How many events are looked at: the newest at first, as many again for each time that somebody asks for earlier ones. */
const reach = 5000;

/** What happened in a session, along the time: turns, tools, and waits for people. */
export function TimelinePage({ id }: { id: string }) {
  const hub = useHub();
  const [back, setBack] = useState(reach);
  const read = useCallback((signal: AbortSignal) => readTimeline(hub, id, back, signal), [hub, id, back]);
  const { value, error, loading, again } = useLoad(read);
  const last = usePart(hub.sessions, (s) => s.byId.get(id)?.last_event_id);
  useAfterChange(last, 2000, again);
  const working = value?.state === "running" || value?.state === "requires_action";
  const now = useNow(working ? 1000 : 60_000);
  const groups = useMemo(
    () => (value ? groupTurns(value.items, { questions: value.questions, now, working, before: value.before }) : []),
    [value, now, working],
  );
  const [folded, setFolded] = useState<boolean>();

  return (
    <div className={css.page}>
      <PageHeader
        title={value?.title ? `${t.title}: ${visible(value.title)}` : t.title}
        backTo={{ page: "session", id }}
        alwaysBack
        actions={<Export id={id} />}
      />
      <div className={css.body}>
        <ErrorNote error={error} onRetry={again} />
        {!value && loading && <Spinner />}
        {value && groups.length === 0 && <EmptyState icon={<ListTree size={24} />} title={t.empty} />}
        {groups.length > 0 && (
          <>
            <Summary sum={totals(groups)} />
            <div className={css.bar}>
              {value?.earlier && (
                <Button size="s" isPending={loading} onPress={() => setBack(back + reach)}>
                  {t.earlier}
                </Button>
              )}
              <Button size="s" variant="quiet" onPress={() => setFolded(folded !== true)} className={css.fold}>
                {folded === true ? t.unfoldAll : t.foldAll}
              </Button>
            </div>
            <ol className={css.turns} aria-label={t.overview}>
              {groups.map((g, i) => (
                <TurnRow
                  key={`${g.id} ${folded}`}
                  session={id}
                  group={g}
                  initiallyOpen={folded === undefined ? i >= groups.length - 5 : !folded}
                />
              ))}
            </ol>
          </>
        )}
      </div>
    </div>
  );
}

interface Read {
  title?: string;
  state: string;
  items: TimelineItem[];
  questions: Question[];
  /** Whether there is something before, and how many turns. */
  earlier: boolean;
  before: number;
}

async function readTimeline(hub: Hub, id: string, back: number, signal: AbortSignal): Promise<Read> {
  const session = await hub.api.call("get-session", { params: { id }, signal });
  const end = parseEventId(session.last_event_id);
  const from = end ? Math.max(0, end.seq - back) : 0;
  const items: TimelineItem[] = [];
  let after = end && from > 0 ? `${end.epoch}:${from}` : undefined;
  for (;;) {
    const page = await hub.api.call("get-timeline", { params: { id }, query: { after, limit: 1000 }, signal });
    items.push(...(page.items ?? []));
    if (!page.more || !page.next || page.next === after) break;
    after = page.next;
  }
  const questions: Question[] = [];
  let cursor: string | undefined;
  do {
    const page = await hub.api.call("list-questions", { query: { session: id, cursor }, signal });
    questions.push(...(page.questions ?? []));
    cursor = page.next;
  } while (cursor);
  const told = items.filter((i) => i.kind === "turn").length;
  return {
    title: session.title,
    state: session.state,
    items,
    questions,
    earlier: from > 0,
    before: from > 0 ? Math.max(0, (session.cost?.turns ?? 0) - told) : 0,
  };
}

function Summary({ sum }: { sum: Totals }) {
  const model = Math.max(0, sum.working - sum.tools);
  const whole = Math.max(1, model + sum.tools + sum.waited);
  const shares = [
    { id: "thinking", ms: model },
    { id: "tools", ms: sum.tools },
    { id: "waiting", ms: sum.waited },
  ] as const;
  return (
    <section className={css.summary}>
      <dl className={css.facts}>
        <Fact name={t.summary.turns}>{sum.turns.toLocaleString("en")}</Fact>
        <Fact name={t.summary.working}>{formatDuration(sum.working)}</Fact>
        <Fact name={t.summary.tools}>{formatDuration(sum.tools)}</Fact>
        <Fact name={t.summary.waited}>{formatDuration(sum.waited)}</Fact>
        <Fact name={t.summary.usd}>{formatMoney(sum.usd)}</Fact>
      </dl>
      <div className={css.shares} aria-hidden="true">
        {shares.map(
          (s) => s.ms > 0 && <span key={s.id} className={css[s.id]} style={{ flexGrow: Math.max(0.005, s.ms / whole) }} />,
        )}
      </div>
      <ul className={css.legend} aria-label={t.shares}>
        {shares.map((s) => (
          <li key={s.id}>
            <span className={`${css.swatch} ${css[s.id]}`} aria-hidden="true" />
            {t.share[s.id]} {percent(s.ms / whole)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Downloads a session in one of its forms. */
function Export({ id }: { id: string }) {
  const hub = useHub();
  const [pending, setPending] = useState(false);
  const save = async (format: "jsonl" | "events" | "markdown") => {
    setPending(true);
    try {
      const name = { jsonl: `${id}.jsonl`, events: `${id}.events.jsonl`, markdown: `${id}.md` }[format];
      await hub.api.download("export-session", { params: { id }, query: { format } }, name);
    } catch (e) {
      toastError(asApiError(e));
    }
    setPending(false);
  };
  return (
    <MenuButton
      label={t.export}
      icon={<Download size={16} />}
      isPending={pending}
      items={[
        {
          id: "markdown",
          label: t.markdown,
          hint: t.markdownHint,
          icon: <FileText size={14} />,
          run: () => void save("markdown"),
        },
        { id: "jsonl", label: t.jsonl, hint: t.jsonlHint, icon: <ScrollText size={14} />, run: () => void save("jsonl") },
        { id: "events", label: t.events, hint: t.eventsHint, icon: <ListTree size={14} />, run: () => void save("events") },
      ]}
    >
      {t.export}
    </MenuButton>
  );
}
