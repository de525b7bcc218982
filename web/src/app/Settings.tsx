import { ChevronRight, LogOut, Server, TriangleAlert } from "lucide-react";
import { type Scope, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { appTexts as texts } from "../texts/app";
import { Button } from "../ui/buttons";
import { RadioGroup, Switch } from "../ui/fields";
import { Note } from "../ui/notes";
import { toastError } from "../ui/toast";
import { AccessSections } from "./Access";
import { forgetKeptDrafts } from "./drafts";
import type { NewsKind } from "./news";
import { enableNotifications, notifySettings, permission, setNotifySettings, showTest } from "./notifications";
import { PageHeader } from "./PageHeader";
import { Link } from "./router";
import { Section } from "./Section";
import css from "./Settings.module.css";
import { setTheme, type Theme, theme } from "./theme";

const t = texts.settings;

/** What concerns this browser, and who else may use the hub. */
export function SettingsPage() {
  return (
    <div className={css.page}>
      <PageHeader title={texts.pages.settings} />
      <div className={css.scroll}>
        <div className={css.sections}>
          <Appearance />
          <Notifications />
          <AccessSections />
          <Machines />
          <About />
        </div>
      </div>
    </div>
  );
}

const themes: readonly Theme[] = ["system", "light", "dark"];

function Appearance() {
  const chosen = useReadable(theme);
  return (
    <Section title={t.appearance}>
      <RadioGroup
        label={texts.theme.label}
        orientation="horizontal"
        value={chosen}
        items={themes.map((id) => ({ id, label: texts.theme[id] }))}
        onChange={(id) => setTheme(themes.find((one) => one === id) ?? "system")}
      />
    </Section>
  );
}

const newsKinds: readonly NewsKind[] = ["asks", "done", "failed"];

function Notifications() {
  const allowed = useReadable(permission);
  const { kinds } = useReadable(notifySettings);
  const n = texts.notify;
  return (
    <Section title={n.title}>
      <p className={css.why}>{n.why}</p>
      {allowed === "unsupported" && <Note>{n.unsupported}</Note>}
      {allowed === "denied" && <Note tone="warn">{n.denied}</Note>}
      {allowed === "default" && (
        <div>
          <Button variant="primary" onPress={() => void enableNotifications()}>
            {n.enable}
          </Button>
        </div>
      )}
      {allowed === "granted" && (
        <>
          <div>
            {newsKinds.map((kind) => (
              <Switch
                key={kind}
                isSelected={kinds[kind]}
                onChange={(on) => setNotifySettings({ kinds: { ...kinds, [kind]: on } })}
              >
                {n.kinds[kind]}
              </Switch>
            ))}
          </div>
          <div>
            <Button size="s" onPress={() => void showTest().catch(toastError)}>
              {n.test}
            </Button>
          </div>
        </>
      )}
    </Section>
  );
}

/** Leads to the page of machines, for which a narrow bar of pages has no room. */
function Machines() {
  return (
    <Section title={texts.pages.machines}>
      <p className={css.why}>{t.machinesWhy}</p>
      <div>
        <Link to={{ page: "machines" }} className={css.leads}>
          <Server size={16} aria-hidden="true" />
          {t.machines}
          <ChevronRight size={16} aria-hidden="true" />
        </Link>
      </div>
    </Section>
  );
}

const scopes: readonly Scope[] = ["observe", "prompt", "approve", "admin"];

function About() {
  const hub = useHub();
  const info = useReadable(hub.info);
  const logout = async () => {
    // Other people may use this browser: what waits in other tabs is kept by them.
    forgetKeptDrafts();
    try {
      await hub.api.call("logout");
    } catch {
      // Without the hub the browser forgets its half of the token, without which the rest is worth nothing.
    }
    hub.logout();
  };
  const agent = info?.simulated ? t.agentSimulated : [info?.agent, info?.agent_version].filter(Boolean).join(" ");
  const facts: [string, string | undefined][] = [
    [t.version, info?.version],
    [t.api, info?.api],
    [t.agent, agent],
    [t.storage, info?.storage],
    [t.scopes, scopes.filter((scope) => hub.can(scope)).join(", ")],
  ];
  return (
    <Section title={t.about}>
      {info?.warnings && info.warnings.length > 0 && (
        <Note tone="warn" icon={<TriangleAlert size={16} aria-hidden="true" />} title={t.warnings}>
          {info.warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Note>
      )}
      <dl className={css.facts}>
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name} className={css.fact}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <div className={css.row}>
        <Button icon={<LogOut size={16} />} onPress={() => void logout()}>
          {t.logout}
        </Button>
        <span className={css.why}>{t.logoutHint}</span>
      </div>
      <p className={css.why}>{t.license}</p>
    </Section>
  );
}
