import { Shield, ShieldAlert, ShieldCheck, ShieldOff } from "lucide-react";
import type { ReactNode } from "react";
import { Button, Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import type { Sandbox } from "../api/types";
import { sandboxTexts as t } from "../texts/sandbox";
import { classes } from "../ui/classes";
import { sentence } from "../ui/format";
import unseen from "../ui/unseen.module.css";
import { visible } from "../ui/visible";
import css from "./Sandbox.module.css";

/** How a sandbox is shown: what is asked for and not enforced is loud, what is off is quiet. */
type Look = "off" | "loud" | "deny" | "strict";

function lookOf(s: Sandbox): Look {
  if (s.mode === "off") return "off";
  if (s.enforcer === "none") return "loud";
  return s.mode === "strict" ? "strict" : "deny";
}

const icons = { off: ShieldOff, loud: ShieldAlert, deny: Shield, strict: ShieldCheck };

/** What holds the processes of an agent back, as a badge; a press says what it means. */
export function SandboxBadge({ sandbox }: { sandbox: Sandbox }) {
  const look = lookOf(sandbox);
  const Icon = icons[look];
  return (
    <DialogTrigger>
      <Button className={classes(css.badge, css[look])}>
        <Icon size={13} aria-hidden="true" />
        <span className={css.words}>
          {look !== "off" && <span className={unseen.unseen}>{t.badge(sandbox)}</span>}
          {visible(words(sandbox, look))}
        </span>
        {(look === "deny" || look === "strict") && (
          <span className={css.enforcer}>
            <span className={unseen.unseen}>{t.badgeBy}</span>
            {visible(t.enforcerOf(sandbox.enforcer))}
          </span>
        )}
      </Button>
      <Popover className={css.popover ?? ""} placement="bottom start" offset={6}>
        <Dialog className={css.dialog ?? ""}>
          <Heading slot="title" level={2} className={css.title}>
            {t.title(sandbox)}
          </Heading>
          <Meaning sandbox={sandbox} look={look} />
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function words(s: Sandbox, look: Look): string {
  if (look === "off") return t.off;
  return look === "loud" ? t.notEnforced(s.reason ?? "") : t.nameOf(s.mode);
}

/** What a sandbox means for what the agent's commands can do. */
function Meaning({ sandbox: s, look }: { sandbox: Sandbox; look: Look }) {
  if (look === "off") return <p>{t.open}</p>;
  if (look === "loud") {
    return (
      <>
        <p>{t.unenforced(s.mode)}</p>
        {s.reason && (
          <dl className={css.facts}>
            <Fact name={t.why}>{visible(sentence(s.reason))}</Fact>
          </dl>
        )}
      </>
    );
  }
  return (
    <dl className={css.facts}>
      <Fact name={t.enforcedBy}>{visible(t.enforcerOf(s.enforcer))}</Fact>
      <Fact name={t.hidden}>{t.hiddenOf(s.hidden ?? 0)}</Fact>
      <Fact name={t.writable}>{t.writableOf(s)}</Fact>
      <Fact name={t.network}>{t.networkOf(s)}</Fact>
      <Fact name={t.commands}>{t.commandsOf(s.auto_allow ?? false)}</Fact>
      {s.limits && s.limits.length > 0 && (
        <Fact name={t.limits}>
          <ul className={css.limits}>
            {s.limits.map((limit) => (
              <li key={limit}>{visible(sentence(limit))}</li>
            ))}
          </ul>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={css.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
