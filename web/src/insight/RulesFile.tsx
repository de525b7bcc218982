import { useCallback, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import type { RulesFile as File, RulesTested } from "../api/types";
import { Link } from "../app/router";
import { draft } from "../store/drafts";
import { useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { insightTexts } from "../texts/insight";
import { Button } from "../ui/buttons";
import { Select, TextArea } from "../ui/fields";
import { ErrorNote, Note } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { toast } from "../ui/toast";
import { visible } from "../ui/visible";
import css from "./Rules.module.css";
import { useLoad } from "./useLoad";
import { useSessionItems } from "./useSessionItems";

const t = insightTexts.rules;
const newest = { id: "", label: t.newest };
/** What is typed is kept together with the text that it was made from: saving is refused if the file is another one by then. */
const kept = draft("rules-file");

/** The text of the rules file, to be changed and tried out. */
export function RulesFile({ onSaved }: { onSaved: () => void }) {
  const hub = useHub();
  if (hub.can("admin")) return <Editor onSaved={onSaved} />;
  return (
    <>
      <section className={css.section}>
        <h2 className={css.heading}>{t.edit}</h2>
        <p className={css.muted}>{t.needAdminText}</p>
      </section>
      <Test text={undefined} />
    </>
  );
}

interface Draft {
  text: string;
  hash: string;
}

function readDraft(stored: string): Draft | undefined {
  try {
    const value: unknown = JSON.parse(stored);
    if (typeof value !== "object" || value === null || !("text" in value) || !("hash" in value)) return undefined;
    return typeof value.text === "string" && typeof value.hash === "string" ? { text: value.text, hash: value.hash } : undefined;
  } catch {
    return undefined;
  }
}

function Editor({ onSaved }: { onSaved: () => void }) {
  const hub = useHub();
  const {
    value: file,
    error,
    loading,
    again,
  } = useLoad(useCallback((signal: AbortSignal) => hub.api.call("get-rules-file", { signal }), [hub]));
  const edited = readDraft(useReadable(kept));
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  if (!file) {
    return (
      <section className={css.section}>
        <h2 className={css.heading}>{t.edit}</h2>
        <ErrorNote error={error} onRetry={again} />
        {loading && <Spinner />}
      </section>
    );
  }
  const text = edited?.text ?? file.text;
  const changed = edited !== undefined && edited.text !== file.text;
  const moved = edited !== undefined && edited.hash !== file.hash && changed;
  const write = (next: string) =>
    kept.set(JSON.stringify({ text: next, hash: (changed ? edited?.hash : undefined) ?? file.hash } satisfies Draft));
  const save = async (over: string) => {
    setPending(true);
    setFailure(undefined);
    try {
      const policy = await hub.api.call("replace-rules-file", { body: { text, hash: over } });
      toast({ title: policy.pending ? t.savedPending : t.saved, tone: policy.pending ? "warn" : "ok" });
      onSaved();
      // Until the file has been read again the text that was saved stands for it, and nothing can be typed over the old one.
      if (await again()) kept.set("");
    } catch (e) {
      setFailure(asApiError(e));
      await again();
    }
    setPending(false);
  };
  return (
    <>
      <section className={css.section}>
        <h2 className={css.heading}>{t.edit}</h2>
        <TextArea
          label={t.editor}
          hideLabel
          hint={t.editHint}
          placeholder={t.example}
          value={text}
          onChange={write}
          isReadOnly={pending}
          mono
          minRows={8}
          maxRows={30}
          className={css.editor}
          input={{ spellCheck: false, autoCapitalize: "off", autoCorrect: "off" }}
        />
        {moved && <Moved file={file} isPending={pending} onSave={() => void save(file.hash)} />}
        {!(moved && failure?.code === "conflict") && <ErrorNote error={failure} />}
        <div className={css.actions}>
          <Button
            variant="primary"
            isDisabled={!changed || moved}
            isPending={pending && !moved}
            onPress={() => void save(edited?.hash ?? file.hash)}
          >
            {t.save}
          </Button>
          {text.trim() === "" && (
            <Button isDisabled={pending} onPress={() => write(t.example)}>
              {t.useExample}
            </Button>
          )}
          <Button
            isDisabled={!changed || pending}
            onPress={() => {
              kept.set("");
              setFailure(undefined);
            }}
          >
            {t.discard}
          </Button>
          {changed && <span className={css.muted}>{t.unsaved}</span>}
        </div>
      </section>
      <Test text={changed ? text : undefined} />
    </>
  );
}

/** Somebody else has changed the file: both texts are there, and nobody's is lost without being asked. */
function Moved({ file, isPending, onSave }: { file: File; isPending: boolean; onSave: () => void }) {
  return (
    <Note tone="warn" title={t.conflict}>
      <p>{t.conflictHint}</p>
      <details className={css.details}>
        <summary>{t.current}</summary>
        <pre className={css.current}>{file.text}</pre>
      </details>
      <Button size="s" isPending={isPending} onPress={onSave} className={css.anyway}>
        {t.saveAnyway}
      </Button>
    </Note>
  );
}

/** Tries rules out on what agents did: the text that is given, else the rules in force. */
function Test({ text }: { text: string | undefined }) {
  const hub = useHub();
  const sessions = useSessionItems(newest);
  const [session, setSession] = useState("");
  const [pending, setPending] = useState(false);
  const [last, setResult] = useState<{ text: string | undefined; session: string; tested?: RulesTested; error?: ApiError }>();
  // What was found with another text, or for another session, is not the answer any more.
  const result = last && last.text === text && last.session === session ? last : undefined;
  const run = async () => {
    setPending(true);
    try {
      // No text at all would stand for the rules in force; an empty line stands for no rules.
      const rules = text === "" ? "\n" : text;
      const tested = await hub.api.call("test-rules", { body: { text: rules, sessions: session ? [session] : undefined } });
      setResult({ text, session, tested });
    } catch (e) {
      setResult({ text, session, error: asApiError(e) });
    }
    setPending(false);
  };
  return (
    <section className={css.section}>
      <h2 className={css.heading}>{t.test}</h2>
      <p className={css.muted}>{text === undefined ? t.testInForce : t.testHint}</p>
      <div className={css.actions}>
        <Select label={t.testSession} hideLabel value={session} onChange={setSession} items={sessions} className={css.tool} />
        <Button isPending={pending} onPress={() => void run()}>
          {t.testRun}
        </Button>
      </div>
      <div aria-live="polite">
        <ErrorNote error={result?.error} />
        {result?.tested && <Tested tested={result.tested} />}
      </div>
    </section>
  );
}

function Tested({ tested }: { tested: RulesTested }) {
  const changed = tested.changed ?? [];
  return (
    <>
      <p>
        <strong>{t.tested(tested.calls)}</strong>: {t.counts(tested.allowed, tested.asked, tested.denied)}.{" "}
        {changed.length === 0 ? t.unchanged : t.changed(changed.length)}
      </p>
      {changed.length > 0 && (
        <ul className={css.rules}>
          {changed.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same call may be made many times; the list does not change
            <li key={`${i} ${row.session}`} className={css.rule}>
              <span className={css.was}>{t.was(row.was, row.now)}</span>
              <span className={css.ruleText}>
                <span>
                  <strong>{row.tool}</strong> <code>{visible(row.title ?? "")}</code>
                </span>
                {row.rule && <span className={css.message}>{row.rule.rule}</span>}
              </span>
              <span className={css.scope}>
                <Link to={{ page: "session", id: row.session, event: row.event_id }}>{insightTexts.audit.open}</Link>
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
