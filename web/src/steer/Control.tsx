import { useState } from "react";
import type { Json, Session } from "../api/types";
import { secretDraft } from "../store/drafts";
import { type OpenSession, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { pretty } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { CopyLine } from "../ui/CopyButton";
import { TextArea } from "../ui/fields";
import { ActPanel } from "./ActPanel";
import { useAct } from "./act";
import css from "./Form.module.css";
import { readJson } from "./json";
import { refusal } from "./useSession";

/** Sends the CLI a request of its own protocol, for those who know it. */
export function ControlPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const act = useAct();
  const cell = secretDraft(`control.${session.id}`);
  const text = useReadable(cell);
  const [problem, setProblem] = useState<string>();
  const [answer, setAnswer] = useState<{ body: Json }>();
  const why = refusal(hub, snapshot, { scope: "admin", running: true });
  const send = async () => {
    setAnswer(undefined);
    const { value: request, problem: wrong } = readJson(text);
    setProblem(wrong);
    if (!request) return;
    const result = await act.run(() => hub.api.call("control-session", { params: { id: session.id }, body: { request } }));
    if (result) setAnswer({ body: result.response ?? null });
  };
  const shown = answer && pretty(answer.body).text;
  return (
    <ActPanel
      title={t.control}
      size="l"
      isDismissable={false}
      act={act}
      action={t.controlSend}
      why={why}
      isDisabled={text.trim() === ""}
      onAct={send}
      leave={t.close}
      answer={shown !== undefined && <CopyLine text={shown} name={t.controlAnswer} />}
    >
      <p className={css.dim}>{t.controlText}</p>
      <TextArea
        label={t.controlLabel}
        mono
        value={text}
        onChange={cell.set}
        error={problem}
        placeholder={t.controlExample}
        minRows={3}
        input={{ spellCheck: false }}
      />
    </ActPanel>
  );
}
