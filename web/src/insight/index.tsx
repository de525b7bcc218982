import { PageHeader } from "../app/PageHeader";
import { go } from "../app/router";
import { insightTexts } from "../texts/insight";
import { Tabs } from "../ui/panes";
import { Audit } from "./Audit";
import { Costs } from "./Costs";
import { Drift } from "./Drift";
import css from "./Insight.module.css";
import { Rules } from "./Rules";

export { TimelinePage } from "./Timeline";

const t = insightTexts;
const tabs = ["costs", "audit", "drift"] as const;

/** The page of costs, decisions and drift. */
export function InsightPage({ tab }: { tab: string }) {
  const value = tabs.find((id) => id === tab) ?? "costs";
  const view = { costs: <Costs />, audit: <Audit />, drift: <Drift /> };
  return (
    <div className={css.page}>
      <PageHeader title={t.title} />
      <Tabs
        label={t.tabs.label}
        className={css.tabs}
        value={value}
        onChange={(id) => go({ page: "insight", tab: id })}
        items={tabs.map((id) => ({ id, label: t.tabs[id], children: id === value ? view[id] : null }))}
      />
    </div>
  );
}

/** The page of the rules for all sessions. */
export function RulesPage() {
  return (
    <div className={css.page}>
      <PageHeader title={t.rules.title} />
      <div className={css.tabs}>
        <Rules />
      </div>
    </div>
  );
}
