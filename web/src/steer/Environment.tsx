import { useState } from "react";
import type { Session } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { steerTexts as t } from "../texts/steer";
import { TextInput } from "../ui/fields";
import { Note } from "../ui/notes";
import { ActPanel } from "./ActPanel";
import { useAct } from "./act";
import css from "./Form.module.css";
import { refusal } from "./useSession";

/** What the name of a variable looks like. */
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Sets a variable of the agent's environment. Its value is kept nowhere: it is gone with the field. */
export function EnvironmentPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState<string>();
  const [done, setDone] = useState<string>();
  const why = refusal(hub, snapshot, { scope: "admin", running: true });
  const send = async () => {
    setDone(undefined);
    const typed = name.trim();
    const wrong = variableName.test(typed) ? undefined : t.environmentName;
    setProblem(wrong);
    if (wrong) return;
    const sent = await act.run(async () => {
      await hub.api.call("set-environment", { params: { id: session.id }, body: { variables: { [typed]: value } } });
      return true;
    });
    if (!sent) return;
    setDone(typed);
    setName("");
    setValue("");
  };
  return (
    <ActPanel
      title={t.environment}
      isDismissable={false}
      act={act}
      action={t.environmentSet}
      why={why}
      isDisabled={name.trim() === ""}
      onAct={send}
      leave={t.close}
      answer={done !== undefined && <Note tone="ok">{t.environmentDone(done)}</Note>}
    >
      <p className={css.dim}>{t.environmentText}</p>
      <TextInput
        label={t.environmentNameLabel}
        mono
        value={name}
        onChange={setName}
        error={problem}
        placeholder="DEPLOY_TOKEN"
        input={{ spellCheck: false, autoCapitalize: "none", autoComplete: "off" }}
      />
      <TextInput
        label={t.environmentValue}
        hint={t.environmentHint}
        mono
        value={value}
        onChange={setValue}
        input={{ type: "password", autoComplete: "new-password", spellCheck: false }}
      />
    </ActPanel>
  );
}
