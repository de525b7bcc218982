import { useEffect, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import type { Decision as Decided, Json, PolicyRule } from "../api/types";
import { useHub } from "../store/hub";
import { insightTexts } from "../texts/insight";
import { ComboBox, Select, TextArea, TextInput } from "../ui/fields";
import { ErrorNote } from "../ui/notes";
import { inputOf, mainMember, tools } from "./call";
import { Decision } from "./Decision";
import css from "./Rules.module.css";
import { useSessionItems } from "./useSessionItems";

const t = insightTexts.rules;
const none = { id: "", label: t.noSession };

/** Asks what the rules would decide about a call, and shows the answer as it is typed. `rules` are those that it is asked again for. */
export function Explain({ rules }: { rules: readonly PolicyRule[] | null }) {
  const hub = useHub();
  const sessions = useSessionItems(none);
  const [tool, setTool] = useState("Bash");
  const [text, setText] = useState("");
  const [session, setSession] = useState("");
  const [dir, setDir] = useState("");
  const [answer, setAnswer] = useState<{ to: string; decided?: Decided; error?: ApiError }>();
  const member = mainMember(tool);
  const input = inputOf(tool, text);
  const badDir = !session && dir !== "" && !dir.startsWith("/");
  const question = JSON.stringify([tool, text, session, dir]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other rules decide otherwise, and the input is made of tool and text
  useEffect(() => {
    if (text.trim() === "" || input === undefined || badDir) {
      setAnswer(undefined);
      return;
    }
    const gone = new AbortController();
    const timer = setTimeout(() => {
      const call = {
        tool,
        input: input as Json,
        session: session || undefined,
        dir: session ? undefined : dir || undefined,
      };
      hub.api.call("explain-call", { body: call, signal: gone.signal }).then(
        (decided) => !gone.signal.aborted && setAnswer({ to: question, decided }),
        (e: unknown) => !gone.signal.aborted && setAnswer({ to: question, error: asApiError(e) }),
      );
    }, 250);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [hub, tool, text, session, dir, rules]);

  // The answer to what was typed before is seen to be that, until the next one comes.
  const stale = answer !== undefined && answer.to !== question;
  return (
    <section className={css.section}>
      <h2 className={css.heading}>{t.explain}</h2>
      <p className={css.muted}>{t.explainHint}</p>
      <div className={css.form}>
        <ComboBox
          label={t.tool}
          value={tool}
          onInput={setTool}
          items={tools.map((id) => ({ id, label: id }))}
          filter
          className={css.tool}
        />
        {member ? (
          <TextInput
            label={t[member.label]}
            value={text}
            onChange={setText}
            mono
            className={css.wide}
            input={{ spellCheck: false }}
          />
        ) : (
          <TextArea
            label={t.input}
            value={text}
            onChange={setText}
            mono
            minRows={2}
            error={text.trim() !== "" && input === undefined ? t.badInput : undefined}
            className={css.wide}
            input={{ spellCheck: false }}
          />
        )}
        <Select label={t.where} value={session} onChange={setSession} items={sessions} className={css.tool} />
        {!session && (
          <TextInput
            label={t.dir}
            value={dir}
            onChange={setDir}
            mono
            placeholder={t.dirExample}
            error={badDir ? t.badDir : undefined}
            className={css.wide}
            input={{ spellCheck: false }}
          />
        )}
      </div>
      <div aria-live="polite" aria-busy={stale} className={stale ? css.stale : undefined}>
        <ErrorNote error={answer?.error} />
        {answer?.decided && <Verdict decided={answer.decided} />}
      </div>
    </section>
  );
}

function Verdict({ decided }: { decided: Decided }) {
  const { rule } = decided;
  return (
    <div className={css.verdict}>
      <p>
        <Decision decision={rule.decision} /> <strong>{t.decided[rule.decision] ?? rule.decision}</strong>
      </p>
      <p className={css.muted}>
        {rule.rule
          ? t.because(rule.rule, [t.scope[rule.scope] ?? rule.scope, rule.source].filter(Boolean).join(", "))
          : t.because0}
        {rule.reason ? ` ${rule.reason}` : ""}
      </p>
      {decided.message && (
        <p className={css.muted}>
          {t.told} {decided.message}
        </p>
      )}
    </div>
  );
}
