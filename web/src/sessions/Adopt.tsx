import { ArrowLeft, Search } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import type { Transcript } from "../api/types";
import { keptDraft } from "../app/drafts";
import { go } from "../app/router";
import { MachineField } from "../machines/MachineField";
import { useMachines } from "../machines/useMachines";
import { useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { useReadable } from "../store/readable";
import { sessionsTexts } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { Dialog } from "../ui/dialogs";
import { TextArea, TextInput } from "../ui/fields";
import { ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { Ago, Path } from "../ui/values";
import { visible } from "../ui/visible";
import css from "./Adopt.module.css";
import { isAlive } from "./actions";
import { Marked } from "./Marked";
import { type Page, usePages } from "./pages";
import { TranscriptPreview } from "./TranscriptPreview";
import { useSettled } from "./useSettled";

const t = sessionsTexts.adopt;
const pageSize = 50;

/** The dialog that goes on with a conversation which the CLI has written to disk. */
export function Adopt({ onClose }: { onClose(): void }) {
  const { api } = useHub();
  const [typed, setTyped] = useState("");
  const q = useSettled(typed.trim(), 300);
  const machines = useMachines().value ?? [];
  const [node, setNode] = useState("");
  const [chosen, setChosen] = useState<Transcript>();
  const read = useCallback(
    async (cursor: string | undefined, signal: AbortSignal): Promise<Page<Transcript>> => {
      const page = await api.call("list-transcripts", {
        query: { q: q || undefined, node: node || undefined, cursor, limit: pageSize },
        signal,
      });
      return { items: page.transcripts ?? [], next: page.next || undefined };
    },
    [api, q, node],
  );
  const found = usePages(read);
  return (
    <Dialog title={t.title} isOpen size="xl" isDismissable={false} onClose={onClose} className={css.dialog}>
      <div className={classes(css.columns, chosen && css.hasChosen)}>
        <div className={css.left}>
          <p className={css.intro}>{machines.length > 0 ? t.introMachines : t.intro}</p>
          {machines.length > 0 && (
            <MachineField
              named
              value={node}
              nodes={machines}
              hint={t.machineHint}
              onChange={(name) => {
                setNode(name);
                setChosen(undefined);
              }}
            />
          )}
          <TextInput
            type="search"
            label={t.search}
            hideLabel
            placeholder={t.placeholder}
            icon={<Search size={16} aria-hidden="true" />}
            autoFocus
            value={typed}
            onChange={setTyped}
          />
          <div className={css.scroll}>
            <ul className={css.list} aria-label={t.list}>
              {found.items.map((transcript) => (
                <li key={transcript.conversation}>
                  <button
                    type="button"
                    className={css.item}
                    aria-pressed={chosen?.conversation === transcript.conversation}
                    onClick={() => setChosen(transcript)}
                  >
                    <span className={css.title}>{visible(transcript.title || t.untitled)}</span>
                    {transcript.snippet && (
                      <span className={css.snippet}>
                        <Marked text={transcript.snippet} marks={transcript.marks} />
                      </span>
                    )}
                    <span className={css.facts}>
                      {transcript.dir && <Path path={transcript.dir} />}
                      <Ago time={transcript.modified} />
                      <span>{t.size(transcript.bytes)}</span>
                      {transcript.session && <span className={css.taken}>{t.hasSession}</span>}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
            <ErrorNote error={found.error} onRetry={found.next} />
            {found.loading && (
              <p className={css.status}>
                <Spinner /> {t.loading}
              </p>
            )}
            {!found.loading && !found.error && found.items.length === 0 && (
              <p className={css.status}>{found.more ? t.noneYet : t.none}</p>
            )}
            {!found.loading && found.more && (
              <Button size="s" onPress={found.next}>
                {t.more}
              </Button>
            )}
          </div>
        </div>
        <div className={css.right}>
          {chosen ? (
            <Chosen
              key={chosen.conversation}
              transcript={chosen}
              node={node}
              onBack={() => setChosen(undefined)}
              onClose={onClose}
            />
          ) : (
            <p className={css.status}>{t.previewEmpty}</p>
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** The conversation that is chosen: how it goes, and what can be done with it. */
function Chosen({
  transcript,
  node,
  onBack,
  onClose,
}: {
  transcript: Transcript;
  /** The machine that it is on; empty for the hub's own. */
  node: string;
  onBack(): void;
  onClose(): void;
}) {
  const hub = useHub();
  const prompt = keptDraft(`adopt.${transcript.conversation}`);
  const text = useReadable(prompt);
  const [pending, setPending] = useState<"adopt" | "fork">();
  const [error, setError] = useState<ApiError>();
  const clientIds = useClientIds();
  const adopt = async (how: "adopt" | "fork"): Promise<void> => {
    const request = {
      dir: transcript.dir || undefined,
      node: node || undefined,
      fork: how === "fork",
      prompt: text.trim() ? text : undefined,
    };
    setPending(how);
    setError(undefined);
    try {
      const session = await hub.api.call("adopt-transcript", {
        params: { conversation: transcript.conversation },
        body: { ...request, client_id: clientIds.of(request) },
      });
      prompt.set("");
      onClose();
      go({ page: "session", id: session.id });
    } catch (e) {
      setError(asApiError(e));
      setPending(undefined);
    }
  };
  // The server refuses a second writer; that is said before somebody tries.
  const owner = useReadable(hub.sessions).byId.get(transcript.session ?? "");
  const owned = owner !== undefined && isAlive(owner);
  const button = (how: "adopt" | "fork") => {
    const reason = !hub.can("admin") ? sessionsTexts.scopes.admin : how === "adopt" && owned ? t.owned : undefined;
    return (
      <Button
        variant={how === "adopt" && !transcript.session ? "primary" : "plain"}
        isPending={pending === how}
        isDisabled={reason !== undefined || (pending !== undefined && pending !== how)}
        reason={reason}
        onPress={() => void adopt(how)}
      >
        {t[how]}
      </Button>
    );
  };
  // On a narrow screen this takes the place of the list, and who goes by keyboard is to be here then.
  useEffect(() => {
    document.getElementById("adopt-chosen")?.focus();
  }, []);
  return (
    <>
      <div className={css.chosenHead}>
        <Button className={css.back} size="s" variant="quiet" icon={<ArrowLeft size={16} />} onPress={onBack}>
          {t.back}
        </Button>
        <h3 id="adopt-chosen" tabIndex={-1} className={css.chosenTitle}>
          {visible(transcript.title || t.untitled)}
        </h3>
      </div>
      <TranscriptPreview conversation={transcript.conversation} dir={transcript.dir} node={node} />
      <ErrorNote error={error} />
      {error?.session && error.session !== transcript.session && <OpenButton id={error.session} onClose={onClose} />}
      <TextArea label={t.prompt} hint={t.promptHint} minRows={2} maxRows={6} value={text} onChange={prompt.set} />
      <div className={css.acts}>
        <span className={css.act}>
          {button("fork")}
          <span className={css.hint}>{t.forkHint}</span>
        </span>
        <span className={css.act}>
          {button("adopt")}
          <span className={css.hint}>{owned ? t.owned : t.adoptHint}</span>
        </span>
        {transcript.session && <OpenButton id={transcript.session} onClose={onClose} />}
      </div>
    </>
  );
}

/** Leads to the session that a conversation belongs to. */
function OpenButton({ id, onClose }: { id: string; onClose(): void }) {
  return (
    <Button
      variant="primary"
      onPress={() => {
        onClose();
        go({ page: "session", id });
      }}
    >
      {t.open}
    </Button>
  );
}
