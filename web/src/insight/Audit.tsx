import { ScrollText } from "lucide-react";
import { useCallback, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import type { AuditItem, SandboxRefusal } from "../api/types";
import { Link } from "../app/router";
import { type Hub, useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { youOr } from "../store/who";
import { oneLine } from "../talk/json";
import { insightTexts } from "../texts/insight";
import { sandboxTexts } from "../texts/sandbox";
import { Button } from "../ui/buttons";
import { Select } from "../ui/fields";
import { EmptyState, ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { Ago } from "../ui/values";
import { visible } from "../ui/visible";
import css from "./Audit.module.css";
import { Decision } from "./Decision";
import { dayBegin, firstDay } from "./spending";
import { useAfterChange, useLoad } from "./useLoad";
import { useSessionItems, useSessionTitle } from "./useSessionItems";

const t = insightTexts.audit;
const all = { id: "", label: t.allSessions };
const days: Record<string, number> = { day: 1, week: 7, month: 30 };

interface Further {
  /** The first page, which they come after. */
  first: object;
  items: readonly AuditItem[];
  next?: string;
  pending: boolean;
  failure?: ApiError;
}

/** What was decided about calls of agents: by whom, or by which rule. */
export function Audit() {
  const hub = useHub();
  const sessions = useSessionItems(all);
  const [session, setSession] = useState("");
  const [who, setWho] = useState("");
  const [since, setSince] = useState("ever");
  // Further pages belong to the first page that they follow: another one is the beginning of another list.
  const [further, setFurther] = useState<Further>();

  const read = useCallback(
    (cursor?: string, signal?: AbortSignal) => {
      const count = days[since];
      return hub.api.call("get-audit", {
        query: {
          session: session || undefined,
          automatic: who === "true" || who === "false" ? who : undefined,
          refused: who === "refused" ? true : undefined,
          since: count ? dayBegin(firstDay(count, Date.now())) : undefined,
          cursor,
        },
        signal,
      });
    },
    [hub, session, who, since],
  );
  const { value, error, loading, again } = useLoad(useCallback((signal: AbortSignal) => read(undefined, signal), [read]));
  const more = further && further.first === value ? further : undefined;
  useAfterChange(
    usePart(hub.questions, (q) => q.list),
    2000,
    () => {
      if (!more) void again();
    },
  );

  const items = [...(value?.items ?? []), ...(more?.items ?? [])];
  const next = more ? more.next : value?.next;
  const pending = more?.pending ?? false;
  const readMore = async () => {
    if (!value) return;
    const so = { first: value, items: more?.items ?? [], next };
    // What comes when the list has become another one is not for it.
    const then = (state: Further) => setFurther((now) => (now?.first === value ? state : now));
    setFurther({ ...so, pending: true });
    try {
      const page = await read(next);
      then({ ...so, items: [...so.items, ...(page.items ?? [])], next: page.next, pending: false });
    } catch (e) {
      then({ ...so, pending: false, failure: asApiError(e) });
    }
  };

  return (
    <div className={css.page}>
      <div className={css.controls}>
        <Select
          label={t.who}
          hideLabel
          size="s"
          value={who}
          onChange={setWho}
          items={[
            { id: "", label: t.everyone },
            { id: "false", label: t.people },
            { id: "true", label: t.rules },
            { id: "refused", label: t.sandbox },
          ]}
        />
        <Select
          label={t.since}
          hideLabel
          size="s"
          value={since}
          onChange={setSince}
          items={[
            { id: "ever", label: insightTexts.range.all },
            { id: "day", label: t.day },
            { id: "week", label: t.week },
            { id: "month", label: t.month },
          ]}
        />
        <Select
          label={t.session}
          hideLabel
          size="s"
          value={session}
          onChange={setSession}
          items={sessions}
          className={css.session}
        />
        {loading && value && <Spinner />}
      </div>
      <ErrorNote error={error ?? more?.failure} onRetry={error ? again : undefined} />
      {!value && loading && <Spinner />}
      {value && items.length === 0 && (
        <EmptyState icon={<ScrollText size={24} />} title={t.empty}>
          {t.emptyHint}
        </EmptyState>
      )}
      {items.length > 0 && (
        <ul className={css.list} aria-label={t.list}>
          {items.map((item) => (
            <Entry key={`${item.session} ${item.event_id} ${item.question ?? ""}`} item={item} />
          ))}
        </ul>
      )}
      {next && (
        <Button isPending={pending} onPress={() => void readMore()} className={css.more}>
          {insightTexts.more}
        </Button>
      )}
    </div>
  );
}

function Entry({ item }: { item: AuditItem }) {
  const hub = useHub();
  const title = useSessionTitle(item.session);
  return (
    <li className={css.entry}>
      <span className={css.decision}>
        <Decision decision={item.decision} answer={item.question !== undefined} />
      </span>
      <span className={css.what}>
        {item.refusal ? (
          <Refused refusal={item.refusal} />
        ) : (
          <>
            {item.tool && <strong>{item.tool}</strong>} <code className={css.code}>{visible(item.title ?? "")}</code>
          </>
        )}
      </span>
      <span className={css.who}>
        {whoOf(item, hub)}
        {item.reason ? `: ${item.reason}` : ""}
      </span>
      <span className={css.where}>
        <Link className={css.title} to={{ page: "session", id: item.session, event: item.event_id }} title={t.open}>
          {title}
        </Link>
        <Ago time={item.time} className={css.ago} />
      </span>
    </li>
  );
}

/** What the sandbox refused, and to which program. */
function Refused({ refusal }: { refusal: SandboxRefusal }) {
  return (
    <>
      {visible(sandboxTexts.refused(refusal))}{" "}
      {refusal.command && <code className={css.code}>{visible(oneLine(refusal.command, 300))}</code>}
    </>
  );
}

function whoOf(item: AuditItem, hub: Pick<Hub, "me">): string {
  if (item.rule?.scope === "sandbox") return t.sandbox;
  if (item.rule) return t.byRule(item.rule.rule);
  if (item.refusal) return t.sandbox;
  if (item.by) return youOr(hub, item.by);
  if (item.source === "hub") return t.byHub;
  return item.source === "agent" ? t.byAgent : t.bySomebody;
}
