import { CircleCheck } from "lucide-react";
import { useCallback } from "react";
import type { DriftItem } from "../api/types";
import { useHub } from "../store/hub";
import { insightTexts } from "../texts/insight";
import { EmptyState, ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import css from "./Drift.module.css";
import { useLoad } from "./useLoad";

const t = insightTexts.drift;

/** What agents write that this server does not know. */
export function Drift() {
  const hub = useHub();
  const { value, error, loading, again } = useLoad(
    useCallback((signal: AbortSignal) => hub.api.call("get-drift", { signal }), [hub]),
  );
  const versions = new Map<string, DriftItem[]>();
  for (const item of value?.items ?? []) versions.set(item.version ?? "", [...(versions.get(item.version ?? "") ?? []), item]);
  return (
    <div className={css.page}>
      <p className={css.lead}>{t.lead}</p>
      <ErrorNote error={error} onRetry={again} />
      {!value && loading && <Spinner />}
      {value && versions.size === 0 && (
        <EmptyState icon={<CircleCheck size={24} />} title={t.empty}>
          {t.emptyHint}
        </EmptyState>
      )}
      {[...versions].map(([version, items]) => (
        <section key={version}>
          <h2 className={css.heading}>{version ? t.version(version) : t.noVersion}</h2>
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">{t.columns.name}</th>
                <th scope="col">{t.columns.kind}</th>
                <th scope="col" className={css.count}>
                  {t.columns.count}
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((item) => (
                <tr key={`${item.kind} ${item.name}`}>
                  <th scope="row" className={css.name}>
                    {item.name}
                  </th>
                  <td>{t.kind[item.kind] ?? item.kind}</td>
                  <td className={css.count}>{item.count.toLocaleString("en")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </div>
  );
}
