import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { Session, SessionRule } from "../api/types";
import { draft } from "../store/drafts";
import { type OpenSession, useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { useReadable } from "../store/readable";
import { oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { Button, IconButton } from "../ui/buttons";
import { Dialog } from "../ui/dialogs";
import { Select, TextInput } from "../ui/fields";
import { formatMoment } from "../ui/format";
import { ErrorNote } from "../ui/notes";
import { Badge, type Tone } from "../ui/signs";
import { toast } from "../ui/toast";
import { visible } from "../ui/visible";
import { useAct } from "./act";
import css from "./Form.module.css";
import { keepable, keepRules } from "./keepRules";
import { closePanel } from "./panels";
import { refusal } from "./useSession";

const tones: Readonly<Record<string, Tone>> = { allow: "ok", ask: "warn", deny: "danger" };
const decisions = ["allow", "ask", "deny"] as const;
type Decision = (typeof decisions)[number];

/** How long a rule can hold, in seconds; none is as long as the session. */
const spans = [0, 600, 3600, 8 * 3600] as const;

function spanLabel(seconds: number): string {
  if (seconds === 0) return t.ruleForever;
  return seconds < 3600 ? t.ruleMinutes(seconds / 60) : t.ruleHours(seconds / 3600);
}

/** The session's own rules: those that there are, and another one. */
export function RulesPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const rules = snapshot.rules ?? [];
  return (
    <Dialog title={t.rules} isOpen onClose={closePanel} size="l" isDismissable={false}>
      <div className={css.form}>
        <p className={css.dim}>{t.rulesText}</p>
        {rules.length === 0 ? (
          <p>{t.rulesNone}</p>
        ) : (
          <ul className={css.items}>
            {rules.map((rule) => (
              <Rule key={rule.id} session={session} snapshot={snapshot} rule={rule} />
            ))}
          </ul>
        )}
        <KeepRules snapshot={snapshot} />
        <AddRule session={session} snapshot={snapshot} />
      </div>
    </Dialog>
  );
}

/** Has the person's new sessions in this folder begin with the rules of this one. */
function KeepRules({ snapshot }: { snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const rules = keepable(snapshot.rules ?? []);
  const dir = snapshot.dir;
  if (rules.length === 0 || !dir) return null;
  const why = refusal(hub, snapshot, { scope: "admin" });
  const keep = async () => {
    if (await act.run(() => keepRules(hub, dir, rules))) toast({ title: t.rulesKept, tone: "ok" });
  };
  return (
    <>
      <ErrorNote error={act.error} />
      <div className={css.keep}>
        <Button size="s" isPending={act.pending} isDisabled={why !== undefined} reason={why} onPress={() => void keep()}>
          {t.rulesKeep}
        </Button>
        <span className={css.dim}>{t.rulesKeepHint}</span>
      </div>
    </>
  );
}

function Rule({ session, snapshot, rule }: { session: OpenSession; snapshot: Session; rule: SessionRule }) {
  const hub = useHub();
  const act = useAct();
  // Without a rule that denies or asks, more is allowed.
  const why = refusal(hub, snapshot, { scope: rule.decision === "allow" ? "approve" : "admin" });
  return (
    <li>
      <Badge tone={tones[rule.decision] ?? "neutral"}>{t.decisionName(rule.decision)}</Badge>
      <code>{visible(oneLine(rule.rule, 500))}</code>
      {rule.message && <span className={css.dim}>{oneLine(rule.message, 200)}</span>}
      {rule.expires && (
        <span className={css.dim}>
          {t.ruleExpires} <time dateTime={rule.expires}>{formatMoment(rule.expires)}</time>
        </span>
      )}
      {rule.pending && <Badge>{t.rulePending}</Badge>}
      {rule.by && <span className={css.dim}>{t.ruleBy(oneLine(rule.by, 60))}</span>}
      <ErrorNote error={act.error} />
      <IconButton
        size="s"
        icon={<Trash2 size={14} />}
        label={t.ruleRemove(oneLine(rule.rule, 60))}
        isPending={act.pending}
        isDisabled={why !== undefined}
        reason={why}
        onPress={() => void act.run(() => hub.api.call("remove-rule", { params: { id: session.id, rule: rule.id } }))}
      />
    </li>
  );
}

function AddRule({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const clientIds = useClientIds();
  const cell = draft(`rule.${session.id}`);
  const rule = useReadable(cell);
  const [decision, setDecision] = useState<Decision>("allow");
  const [span, setSpan] = useState(0);
  const [message, setMessage] = useState("");
  const why = refusal(hub, snapshot, { scope: decision === "allow" || rule.trim() === "*" ? "admin" : "approve" });
  const add = async () => {
    const body = {
      decision,
      rule: rule.trim(),
      ...(span > 0 ? { for: span } : {}),
      ...(decision === "deny" && message.trim() ? { message: message.trim() } : {}),
    };
    const added = await act.run(() =>
      hub.api.call("add-rule", { params: { id: session.id }, body: { ...body, client_id: clientIds.of(body) } }),
    );
    if (!added) return;
    clientIds.done();
    cell.set("");
    setMessage("");
  };
  return (
    <>
      <div className={css.pair}>
        <Select
          label={t.decision}
          items={decisions.map((id) => ({ id, label: t.decisionName(id) }))}
          value={decision}
          onChange={(id) => setDecision(decisions.find((d) => d === id) ?? "ask")}
        />
        <Select
          label={t.ruleFor}
          items={spans.map((s) => ({ id: String(s), label: spanLabel(s) }))}
          value={String(span)}
          onChange={(id) => setSpan(Number(id))}
        />
      </div>
      <TextInput
        label={t.rule}
        hint={t.ruleHint}
        mono
        value={rule}
        onChange={cell.set}
        input={{ spellCheck: false, autoCapitalize: "none" }}
      />
      {decision === "deny" && <TextInput label={t.ruleMessage} value={message} onChange={setMessage} />}
      <ErrorNote error={act.error} />
      <Button
        variant="primary"
        className={css.apply}
        isPending={act.pending}
        isDisabled={why !== undefined || rule.trim() === ""}
        reason={why}
        onPress={() => void add()}
      >
        {t.ruleAdd}
      </Button>
    </>
  );
}
