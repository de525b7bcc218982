import { Pencil } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { Session } from "../api/types";
import { titleOf as nameInList } from "../sessions/list";
import { type OpenSession, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { IconButton } from "../ui/buttons";
import { ErrorNote } from "../ui/notes";
import { visible } from "../ui/visible";
import { useAct } from "./act";
import { closePanel, openedPanel, openPanel } from "./panels";
import css from "./Title.module.css";
import { useRefusal } from "./useSession";

/** What a session is called: its title, else what it was told last, else as in the list. */
export function titleOf(session: Session): string {
  return visible(oneLine(session.title || session.prompt || "", 200)) || nameInList(session);
}

/** The title, which can be changed in its place. */
export function Title({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const { api } = useHub();
  const panel = useReadable(openedPanel);
  const editing = panel?.kind === "rename" && panel.session === session.id;
  const [text, setText] = useState("");
  const act = useAct();
  const input = useRef<HTMLInputElement>(null);
  const reason = useRefusal(snapshot, { scope: "prompt" });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the title as it is when editing begins
  useEffect(() => {
    if (!editing) return;
    setText(snapshot.title ?? "");
    input.current?.select();
  }, [editing]);

  const save = async () => {
    const title = text.trim();
    if (title === (snapshot.title ?? "")) {
      closePanel();
      return;
    }
    const saved = await act.run(() => api.call("update-session", { params: { id: session.id }, body: { title } }));
    if (saved) closePanel();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.nativeEvent.isComposing) return;
    if (e.key === "Enter") void save();
    else if (e.key === "Escape") closePanel();
    else return;
    e.preventDefault();
  };

  if (editing) {
    return (
      <div>
        <input
          ref={input}
          className={css.input}
          aria-label={t.titleLabel}
          value={text}
          maxLength={512}
          // biome-ignore lint/a11y/noAutofocus: somebody has just asked to edit it
          autoFocus
          disabled={act.pending}
          onChange={(e) => setText(e.target.value)}
          onKeyDown={onKeyDown}
          onBlur={() => void save()}
        />
        <ErrorNote error={act.error} />
      </div>
    );
  }
  return (
    <div className={css.row}>
      <h1 className={css.title} title={titleOf(snapshot)}>
        {titleOf(snapshot)}
      </h1>
      <IconButton
        size="s"
        className={css.pencil}
        icon={<Pencil size={14} />}
        label={t.rename}
        isDisabled={reason !== undefined}
        reason={reason}
        onPress={() => openPanel(session, "rename")}
      />
    </div>
  );
}
