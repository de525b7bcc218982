import { ShieldCheck, TriangleAlert } from "lucide-react";
import { useCallback, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import type { Policy, PolicyRule } from "../api/types";
import { useHub } from "../store/hub";
import { insightTexts } from "../texts/insight";
import { Button } from "../ui/buttons";
import { formatMoment } from "../ui/format";
import { ErrorNote, Note } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { Ago, Path } from "../ui/values";
import { Decision } from "./Decision";
import { Explain } from "./Explain";
import css from "./Rules.module.css";
import { RulesFile } from "./RulesFile";
import { useLoad } from "./useLoad";

const t = insightTexts.rules;

/** The rules for all sessions: what is in force, what would happen, and the file that they stand in. */
export function Rules() {
  const hub = useHub();
  const { value, error, loading, again } = useLoad(
    useCallback((signal: AbortSignal) => hub.api.call("get-policy", { signal }), [hub]),
  );
  return (
    <div className={css.page}>
      <ErrorNote error={error} onRetry={again} />
      {!value && loading && <Spinner />}
      {value && (
        <>
          <Standing policy={value} />
          {value.pending && <Pending policy={value} onDone={again} />}
          <InForce rules={value.rules ?? []} />
          <Explain rules={value.rules} />
          <RulesFile onSaved={again} />
        </>
      )}
    </div>
  );
}

function Standing({ policy }: { policy: Policy }) {
  return (
    <div className={css.standing}>
      {policy.problem && (
        <Note tone="danger" icon={<TriangleAlert size={16} aria-hidden="true" />} title={t.problem}>
          <p className={css.problem}>{policy.problem}</p>
          <p>{t.problemHint}</p>
        </Note>
      )}
      <p className={css.muted}>
        {policy.file ? (
          <>
            {t.file} <Path path={policy.file} most={60} />
            {policy.missing && ` (${t.missing})`}
            {policy.loaded && !policy.missing && (
              <>
                , {t.loaded} <Ago time={policy.loaded} />
              </>
            )}
            .
          </>
        ) : (
          t.noFile
        )}{" "}
        {policy.enforce ? (t.enforce[policy.enforce] ?? "") : ""}
      </p>
    </div>
  );
}

function Pending({ policy, onDone }: { policy: Policy; onDone: () => void }) {
  const hub = useHub();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  const change = policy.pending;
  if (!change) return null;
  const confirm = async () => {
    setPending(true);
    setFailure(undefined);
    try {
      await hub.api.call("confirm-policy", { body: { sum: change.sum } });
    } catch (e) {
      setFailure(asApiError(e));
    }
    setPending(false);
    onDone();
  };
  return (
    <Note tone="warn" icon={<ShieldCheck size={16} aria-hidden="true" />} title={t.pending}>
      <p>{t.pendingHint}</p>
      <ul className={css.widens}>
        {(change.widens ?? []).map((w) => (
          <li key={w}>{w}</li>
        ))}
      </ul>
      <ErrorNote error={failure} />
      <Button
        variant="primary"
        isPending={pending}
        isDisabled={!hub.can("admin")}
        reason={t.needAdmin}
        onPress={() => void confirm()}
      >
        {t.confirm}
      </Button>
    </Note>
  );
}

function InForce({ rules }: { rules: readonly PolicyRule[] }) {
  const own = rules.filter((r) => r.scope !== "builtin");
  const builtin = rules.filter((r) => r.scope === "builtin");
  return (
    <section className={css.section}>
      <h2 className={css.heading}>{t.inForce}</h2>
      {own.length > 0 ? <RuleList rules={own} /> : <p className={css.muted}>{t.inForceNone}</p>}
      {builtin.length > 0 && (
        <details className={css.details}>
          <summary>{t.builtin(builtin.length)}</summary>
          <RuleList rules={builtin} />
        </details>
      )}
    </section>
  );
}

function RuleList({ rules }: { rules: readonly PolicyRule[] }) {
  return (
    <ul className={css.rules}>
      {rules.map((r, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same rule may stand in a file twice, and their order is what decides
        <li key={`${i} ${r.rule}`} className={css.rule}>
          <Decision decision={r.decision} />
          <span className={css.ruleText}>
            <code>{r.rule}</code>
            {r.message && <span className={css.message}>{r.message}</span>}
          </span>
          <span className={css.scope}>
            {t.scope[r.scope] ?? r.scope}
            {r.source ? ` · ${r.source}` : ""}
            {r.expires ? ` · ${t.until(formatMoment(r.expires))}` : ""}
          </span>
        </li>
      ))}
    </ul>
  );
}
