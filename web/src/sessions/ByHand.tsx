import { useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import type { Created } from "../api/types";
import { go } from "../app/router";
import { quote } from "../steer/handback";
import { useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { sessionsTexts } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { CopyLine } from "../ui/CopyButton";
import { Checkbox, TextArea, TextInput } from "../ui/fields";
import { Note } from "../ui/notes";
import css from "./ByHand.module.css";
import { FolderField } from "./FolderField";
import { FormDialog } from "./FormDialog";
import { folderProblem } from "./form";

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
  const clientIds = useClientIds();
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
      const session = await hub.api.call("create-session", { body: { ...request, client_id: clientIds.of(request) } });
      setMade({ session: session.id, line: dialLine(request.dir, session, post) });
    } catch (e) {
      setError(asApiError(e));
    } finally {
      setPending(false);
    }
  };
  const open = (id: string): void => {
    onClose();
    go({ page: "session", id });
  };

  const sent = made && {
    actions: (
      <Button variant="primary" onPress={() => open(made.session)}>
        {t.open}
      </Button>
    ),
    children: (
      <>
        <h3 ref={done} tabIndex={-1} className={css.made}>
          {made.line ? t.made : t.lost}
        </h3>
        {made.line ? (
          <>
            <CopyLine text={made.line} label={t.copy} />
            <Note tone="warn">{t.once}</Note>
            <p className={css.dim}>{t.versions}</p>
          </>
        ) : (
          <Note tone="warn">{t.lostHint}</Note>
        )}
      </>
    ),
  };

  return (
    <FormDialog
      title={t.title}
      action={t.submit}
      pending={pending}
      error={error}
      onSubmit={submit}
      onCancel={onClose}
      onClose={onClose}
      sent={sent}
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
    </FormDialog>
  );
}

const flags = [
  "--print",
  "--verbose",
  "--input-format=stream-json",
  "--output-format=stream-json",
  "--include-partial-messages",
  "--replay-user-messages",
];

/**
 * The command, as a shell takes it, that starts a Claude Code which dials in: the same as `switchboard token create --session` writes. The
 * credential is in the environment, for arguments can be seen by everybody on a machine. Undefined if the answer holds none, as one that
 * is given again does not.
 */
export function dialLine(dir: string, made: Pick<Created, "token" | "url">, post: boolean): string | undefined {
  if (!made.token || !made.url) return undefined;
  return [
    `cd ${quote(dir)} &&`,
    ...(post ? ["CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1 \\"] : []),
    `CLAUDE_CODE_SESSION_ACCESS_TOKEN=${quote(made.token)} \\`,
    ["claude", quote(`--sdk-url=${made.url}`), ...flags].join(" "),
  ].join("\n");
}
