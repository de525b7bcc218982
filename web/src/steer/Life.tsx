import { useState } from "react";
import type { Resume, Session, SessionOptions } from "../api/types";
import { keptDraft } from "../app/drafts";
import { SandboxField } from "../sessions/SandboxField";
import { type OpenSession, useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { useReadable } from "../store/readable";
import { dangerousMode, modes } from "../texts/modes";
import { isSandboxMode } from "../texts/sandbox";
import { steerTexts as t } from "../texts/steer";
import { Checkbox, Select, TextArea } from "../ui/fields";
import { ActPanel } from "./ActPanel";
import { useAct } from "./act";
import { withConfirmation } from "./bypass";
import css from "./Form.module.css";
import { closePanel } from "./panels";
import { modelsOf } from "./told";
import { refusal } from "./useSession";

/** Asks how to start another process for a session. */
export function ResumePanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const clientIds = useClientIds();
  const cell = keptDraft(`resume.${session.id}`);
  const prompt = useReadable(cell);
  const [fresh, setFresh] = useState(false);
  const [force, setForce] = useState(false);
  const wasMode = snapshot.options?.permission_mode || "default";
  const wasModel = snapshot.options?.model ?? "";
  const [mode, setMode] = useState(wasMode);
  const [model, setModel] = useState(wasModel);
  const wasSandbox = snapshot.options?.sandbox ?? "";
  const wasAuto = snapshot.options?.sandbox_auto_allow ?? false;
  const [sandbox, setSandbox] = useState<string>(wasSandbox);
  const [autoAllow, setAutoAllow] = useState(wasAuto);
  const admin = hub.can("admin");
  const why = refusal(hub, snapshot, { scope: "prompt" });
  const models = modelsOf(snapshot);
  const offered = models.some((m) => m.value === wasModel)
    ? models
    : [{ value: wasModel, label: wasModel || t.modelUnknown, hint: "" }, ...models];

  const resume = async () => {
    const auto = sandbox === "strict" && autoAllow;
    const changed = mode !== wasMode || model !== wasModel || sandbox !== wasSandbox || auto !== wasAuto;
    const { sandbox: _sandbox, sandbox_auto_allow: _auto, ...others } = snapshot.options ?? {};
    const options: SessionOptions = {
      ...others,
      permission_mode: mode,
      model,
      ...(isSandboxMode(sandbox) ? { sandbox } : {}),
      ...(auto ? { sandbox_auto_allow: true } : {}),
    };
    const body: Resume = {
      ...(prompt.trim() ? { prompt } : {}),
      ...(fresh ? { fresh } : {}),
      ...(force ? { force } : {}),
      ...(changed ? { options } : {}),
    };
    const resumed = await act.run(() =>
      hub.api.call("resume-session", {
        params: { id: session.id },
        body: { ...body, client_id: clientIds.of([snapshot.run, body]) },
      }),
    );
    if (!resumed) return;
    cell.set("");
    closePanel();
  };

  return (
    <ActPanel title={t.resumeTitle} isDismissable={false} act={act} action={t.resume} why={why} onAct={resume}>
      <p className={css.dim}>{t.resumeText}</p>
      <TextArea label={t.resumePrompt} value={prompt} onChange={cell.set} />
      <div className={css.pair}>
        <Select
          label={t.mode}
          items={modes.map((id) => ({
            id,
            label: t.modeName(id),
            hint: t.modeHint(id),
            isDisabled: id === dangerousMode && id !== wasMode && !snapshot.options?.allow_bypass,
          }))}
          value={mode}
          onChange={withConfirmation(setMode, mode)}
          isDisabled={!admin}
          hint={admin ? undefined : t.needs("admin")}
        />
        <Select
          label={t.model}
          items={offered.map((m) => ({ id: `m ${m.value}`, label: m.label, ...(m.hint ? { hint: m.hint } : {}) }))}
          value={`m ${model}`}
          onChange={(id) => setModel(id.slice(2))}
          isDisabled={!admin}
        />
      </div>
      <SandboxField mode={sandbox} autoAllow={autoAllow} onMode={setSandbox} onAutoAllow={setAutoAllow} isDisabled={!admin} />
      <Checkbox isSelected={fresh} onChange={setFresh} hint={t.resumeFreshHint}>
        {t.resumeFresh}
      </Checkbox>
      {snapshot.state === "offline" && (
        <Checkbox isSelected={force} onChange={setForce} isDisabled={!admin} hint={t.resumeForceHint}>
          {t.resumeForce}
        </Checkbox>
      )}
    </ActPanel>
  );
}

/** Asks before the agent's process is ended. */
export function StopPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const [force, setForce] = useState(false);
  const why = refusal(hub, snapshot, { scope: "admin" });
  const stop = async () => {
    const stopped = await act.run(() =>
      hub.api.call("stop-session", { params: { id: session.id }, body: force ? { force } : {} }),
    );
    if (stopped) closePanel();
  };
  return (
    <ActPanel title={t.stopTitle} size="s" role="alertdialog" act={act} action={t.stopAction} danger why={why} onAct={stop}>
      <p>{t.stopText}</p>
      <Checkbox isSelected={force} onChange={setForce}>
        {t.stopForce}
      </Checkbox>
    </ActPanel>
  );
}
