import { MonitorSmartphone, Plus } from "lucide-react";
import type { Token } from "../api/types";
import { useHub } from "../store/hub";
import { appTexts as texts } from "../texts/app";
import { Button } from "../ui/buttons";
import { confirm, useDialog } from "../ui/dialogs";
import { ErrorNote } from "../ui/notes";
import { Badge, Spinner } from "../ui/signs";
import { toast } from "../ui/toast";
import { type Access, TokenFacts, tokensOf } from "./Access";
import { LinkDialog } from "./AccessLink";
import { Section } from "./Section";
import css from "./Settings.module.css";

const t = texts.settings;

/** The browsers and phones that are signed in, and how to add and to sign out one. */
export function Devices({ access }: { access: Access }) {
  const hub = useHub();
  const dialog = useDialog();
  const devices = tokensOf(access, "device");
  const others = devices.filter((one) => !one.current);
  const signOut = async (device: Token) => {
    const run = () => hub.api.call("revoke-token", { params: { id: device.id } });
    const [title, text] = device.current ? [t.signOutSelfTitle, t.signOutSelfText] : [t.signOutTitle(device.name), t.signOutText];
    const agreed = await confirm({ title, children: <p>{text}</p>, action: t.signOut, danger: true, run });
    if (agreed && device.current) hub.logout();
    else if (agreed) await access.load();
  };
  const signOutOthers = async () => {
    const run = async () => {
      const { revoked } = await hub.api.call("revoke-devices");
      toast({ title: t.signedOutOthers(revoked?.length ?? 0), tone: "ok" });
    };
    const title = t.signOutOthersTitle(others.length);
    if (await confirm({ title, children: <p>{t.signOutOthersText}</p>, action: t.signOutOthers, danger: true, run }))
      await access.load();
  };
  return (
    <Section title={t.devices}>
      <p className={css.why}>{t.devicesWhy}</p>
      <ErrorNote error={access.error} onRetry={() => void access.load()} />
      {!access.tokens && !access.error && <Spinner label={texts.loading} />}
      <ul className={css.tokens} aria-label={t.devices}>
        {devices.map((device) => (
          <li key={device.id} className={css.token}>
            <MonitorSmartphone size={14} aria-hidden="true" />
            <span className={css.tokenName}>
              {device.name} {device.current && <Badge tone="accent">{t.thisDevice}</Badge>}
            </span>
            <Button size="s" variant="danger" onPress={() => void signOut(device)}>
              {t.signOut}
            </Button>
            <TokenFacts token={device} created={t.signedIn} />
          </li>
        ))}
      </ul>
      <div className={css.row}>
        <Button icon={<Plus size={16} />} onPress={dialog.open}>
          {t.makeLink}
        </Button>
        {others.length > 0 && (
          <Button variant="danger" onPress={() => void signOutOthers()}>
            {t.signOutOthers}
          </Button>
        )}
      </div>
      {dialog.isOpen && <LinkDialog onClose={dialog.close} />}
    </Section>
  );
}
