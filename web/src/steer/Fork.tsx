import { useMemo, useState } from "react";
import type { Session } from "../api/types";
import { keptDraft } from "../app/drafts";
import { go } from "../app/router";
import { type OpenSession, useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { useReadable } from "../store/readable";
import { oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { RadioGroup, TextArea, TextInput } from "../ui/fields";
import { toast } from "../ui/toast";
import { ActPanel } from "./ActPanel";
import { useAct } from "./act";
import css from "./Form.module.css";
import { findMessage } from "./message";
import { closePanel } from "./panels";
import { refusal } from "./useSession";

/** Asks how to go on with a copy of the conversation. */
export function ForkPanel({ session, snapshot, uuid }: { session: OpenSession; snapshot: Session; uuid: string | undefined }) {
  const hub = useHub();
  const act = useAct();
  const clientIds = useClientIds();
  const found = useMemo(() => (uuid ? findMessage(session, uuid) : undefined), [session, uuid]);
  const isPrompt = found?.item.kind === "prompt";
  const [where, setWhere] = useState(isPrompt && found?.before ? "before" : "after");
  const [title, setTitle] = useState("");
  const cell = keptDraft(`fork.${session.id}.${uuid ?? ""}`);
  const kept = useReadable(cell);
  // Whoever goes back to before a message most often wants to write it anew: its text is what to begin with.
  const [prompt, setPromptText] = useState(kept || (where === "before" ? (found?.text ?? "") : ""));
  const setPrompt = (text: string) => {
    cell.set(text);
    setPromptText(text);
  };
  const chooseWhere = (to: string) => {
    setWhere(to);
    if (to === "before" && prompt === "") setPrompt(found?.text ?? "");
    if (to === "after" && prompt === found?.text) setPrompt("");
  };
  const why = refusal(hub, snapshot, { scope: "admin" });

  const fork = async () => {
    const at = where === "before" ? found?.before : uuid;
    const body = {
      ...(at ? { at } : {}),
      ...(title.trim() ? { title: title.trim() } : {}),
      ...(prompt.trim() ? { prompt } : {}),
    };
    const created = await act.run(() =>
      hub.api.call("fork-session", {
        params: { id: session.id },
        body: { ...body, client_id: clientIds.of(body) },
      }),
    );
    if (!created) return;
    cell.set("");
    closePanel();
    toast({ title: t.forked, tone: "ok" });
    go({ page: "session", id: created.id });
  };

  return (
    <ActPanel title={t.fork} isDismissable={false} act={act} action={t.forkAction} why={why} onAct={fork}>
      <p>{t.forkText}</p>
      {!uuid && <p className={css.dim}>{t.forkWhole}</p>}
      {found && <blockquote className={css.quote}>{oneLine(found.text, 300)}</blockquote>}
      {uuid && isPrompt && found?.before && (
        <RadioGroup
          label={t.forkWhere}
          value={where}
          onChange={chooseWhere}
          items={[
            { id: "before", label: t.forkBefore },
            { id: "after", label: t.forkAfter },
          ]}
        />
      )}
      <TextInput label={t.forkTitle} hint={t.forkTitleHint} value={title} onChange={setTitle} maxLength={512} />
      <TextArea label={t.forkPrompt} hint={t.forkPromptHint} value={prompt} onChange={setPrompt} minRows={3} />
    </ActPanel>
  );
}
