import { useState } from "react";
import type { Hold, Release, Session } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { Select, TextInput } from "../ui/fields";
import { ActPanel } from "./ActPanel";
import { useAct } from "./act";
import css from "./Form.module.css";
import { closePanel } from "./panels";
import { refusal } from "./useSession";

/** What a hold of a budget counts: usd, turns, wall or idle. */
function unitOf(snapshot: Session, hold: Hold | undefined): string {
  const over = snapshot.budgets?.filter((b) => b.name === hold?.budget) ?? [];
  return (over.find((b) => b.over) ?? over[0])?.unit ?? "turns";
}

/** What is granted, as the hub takes it; undefined if what was written is no amount. */
export function grant(unit: string, text: string): Pick<Release, "usd" | "turns" | "seconds"> | undefined {
  if (text.trim() === "") return {};
  const n = Number(text.trim().replace(",", "."));
  if (!Number.isFinite(n) || n <= 0) return undefined;
  if (unit === "usd") return { usd: n };
  if (!Number.isInteger(n)) return undefined;
  return unit === "turns" ? { turns: n } : { seconds: n };
}

/** Asks how much more a session may use that a budget holds back. */
export function HoldPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const clientIds = useClientIds();
  const holds = snapshot.holds ?? [];
  const [chosen, setChosen] = useState(holds.find((h) => h.kind === "budget")?.id ?? holds[0]?.id ?? "");
  const [amount, setAmount] = useState("");
  const hold = holds.find((h) => h.id === chosen) ?? holds[0];
  const unit = unitOf(snapshot, hold);
  const granted = grant(unit, amount);
  const why = refusal(hub, snapshot, { scope: "admin" });
  const release = async () => {
    if (!granted || !hold) return;
    const body: Release = { hold: hold.id, ...granted };
    const done = await act.run(() =>
      hub.api.call("release-session", {
        params: { id: session.id },
        body: { ...body, client_id: clientIds.of(body) },
      }),
    );
    if (done) closePanel();
  };
  return (
    <ActPanel
      title={t.holdTitle}
      size="s"
      isDismissable={false}
      act={act}
      action={t.release}
      why={why}
      isDisabled={!granted || !hold}
      onAct={release}
    >
      <p>{t.holdText}</p>
      {holds.length > 1 && (
        <Select
          label={t.holdAll}
          items={holds.map((h) => ({ id: h.id, label: oneLine(h.reason, 120) }))}
          value={chosen}
          onChange={setChosen}
        />
      )}
      {holds.length === 1 && hold && <blockquote className={css.quote}>{oneLine(hold.reason, 300)}</blockquote>}
      <TextInput
        label={t.holdAmount(unit)}
        value={amount}
        onChange={setAmount}
        error={granted ? undefined : t.holdWrong}
        input={{ inputMode: "decimal" }}
      />
    </ActPanel>
  );
}
