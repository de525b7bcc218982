import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import { go } from "../app/router";
import { useHub } from "../store/hub";
import { sessionsTexts } from "../texts/sessions";
import { Button, Checkbox, CopyButton, Dialog, ErrorNote, Note, TextArea, TextInput } from "../ui";
import css from "./ByHand.module.css";
import { dialLine } from "./dialLine";
import { FolderField } from "./FolderField";
import { folderProblem } from "./form";
import { intentIds } from "./intent";

const t = sessionsTexts.byHand;

/** What was made: the session, and the command that starts its agent, which the hub tells once and nobody keeps. */
interface Made {
  readonly session: string;
  readonly line: string | undefined;
}

/** The dialog that makes a place for a Claude Code which somebody starts in a terminal, and says how. */
export function ByHand({ dir: preset, onClose }: { dir?: string; onClose(): void }) {
  const hub = useHub();
  const [dir, setDir] = useState(preset ?? "");
  const [title, setTitle] = useState("");
  const [prompt, setPrompt] = useState("");
  const [post, setPost] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const [pending, setPending] = useState(false);
  const [made, setMade] = useState<Made>();
  const [clientId] = useState(intentIds);
  const done = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (made) done.current?.focus();
  }, [made]);

  const submit = async (): Promise<void> => {
    if (pending || made || !hub.can("admin")) return;
    const problem = folderProblem(dir);
    setWrong(problem);
    setError(undefined);
    if (problem) return;
    const request = {
      dir: dir.trim(),
      transport: post ? ("hybrid" as const) : ("websocket" as const),
      ...(title.trim() ? { title: title.trim() } : {}),
      ...(prompt.trim() ? { prompt } : {}),
    };
    setPending(true);
    try {
      const session = await hub.api.call("create-session", { body: { ...request, client_id: clientId(request) } });
      setMade({ session: session.id, line: dialLine(request.dir, session, post) });
    } catch (e) {
      setError(asApiError(e));
    } finally {
      setPending(false);
    }
  };
  const onKeyDown = (e: KeyboardEvent): void => {
    if (e.key !== "Enter" || !(e.metaKey || e.ctrlKey)) return;
    e.preventDefault();
    void submit();
  };
  const open = (id: string): void => {
    onClose();
    go({ page: "session", id });
  };

  return (
    <Dialog
      title={t.title}
      isOpen
      size="l"
      isDismissable={false}
      onClose={onClose}
      actions={
        made ? (
          <Button variant="primary" onPress={() => open(made.session)}>
            {t.open}
          </Button>
        ) : (
          <>
            <ErrorNote className={css.error} error={error} />
            <Button onPress={onClose}>{sessionsTexts.create.cancel}</Button>
            <Button
              variant="primary"
              kbd="mod+enter"
              isPending={pending}
              isDisabled={!hub.can("admin")}
              reason={sessionsTexts.scopes.admin}
              onPress={() => void submit()}
            >
              {t.submit}
            </Button>
          </>
        )
      }
    >
      {made ? (
        <div className={css.form}>
          <h3 ref={done} tabIndex={-1} className={css.made}>
            {made.line ? t.made : t.lost}
          </h3>
          {made.line ? (
            <>
              <div className={css.line}>
                <pre className={css.code}>{made.line}</pre>
                <CopyButton text={made.line} label={t.copy} />
              </div>
              <Note tone="warn">{t.once}</Note>
              <p className={css.dim}>{t.versions}</p>
            </>
          ) : (
            <Note tone="warn">{t.lostHint}</Note>
          )}
        </div>
      ) : (
        <form
          className={css.form}
          noValidate
          onKeyDown={onKeyDown}
          onSubmit={(e) => {
            e.preventDefault();
            void submit();
          }}
        >
          <p className={css.dim}>
            {t.intro} {t.versions}
          </p>
          <FolderField
            value={dir}
            onChange={(to) => {
              setDir(to);
              setWrong(undefined);
            }}
            error={wrong}
            autoFocus
          />
          <TextInput label={sessionsTexts.create.name} hint={sessionsTexts.create.nameHint} value={title} onChange={setTitle} />
          <TextArea
            label={sessionsTexts.create.prompt}
            hint={t.promptHint}
            minRows={2}
            maxRows={8}
            value={prompt}
            onChange={setPrompt}
          />
          <Checkbox isSelected={post} onChange={setPost} hint={t.postHint}>
            {t.post}
          </Checkbox>
        </form>
      )}
    </Dialog>
  );
}
