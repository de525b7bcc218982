import { useCallback, useEffect, useState } from "react";
import type { Policy, RulesFile } from "../api/types";
import { Link } from "../app/router";
import { useHub } from "../store/hub";
import { askTexts as t } from "../texts/ask";
import { Button, ErrorNote, Note, Path, Spinner } from "../ui";
import { visible } from "../ui/diff";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";
import { ruleLines, withRules } from "./rulesText";

interface Props {
  rules: readonly string[];
  onBack(): void;
  /** The rules hold, and what was asked still waits: it can be allowed. */
  onDone(): void;
}

interface Found {
  file?: RulesFile;
  policy?: Policy;
  error?: Error;
}

/**
 * Shows rules that are about to apply to all sessions, and the file that has them, and adds them on demand. The hub refuses if the file has
 * changed since it was shown.
 */
export function AllSessions({ rules, onBack, onDone }: Props) {
  const { api } = useHub();
  const { question, sending, focus } = useCard();
  const [found, setFound] = useState<Found>({});
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<Error>();
  useCardKeys({ Escape: onBack });
  // The button that led here is gone. The card itself has the focus then, so that Escape goes back and no key confirms.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it comes up
  useEffect(focus, []);

  const load = useCallback(
    (signal?: AbortSignal) =>
      Promise.all([api.call("get-rules-file", { signal }), api.call("get-policy", { signal })]).then(
        ([file, policy]) => setFound({ file, policy }),
        (e: unknown) => !signal?.aborted && setFound({ error: e instanceof Error ? e : new Error(String(e)) }),
      ),
    [api],
  );
  useEffect(() => {
    const stop = new AbortController();
    void load(stop.signal);
    return () => stop.abort();
  }, [load]);

  const add = async (file: RulesFile) => {
    setPending(true);
    setFailure(undefined);
    try {
      const policy = await api.call("replace-rules-file", { body: { text: withRules(file.text, rules), hash: file.hash } });
      // Nothing else waited when the rules were shown, so that what waits now are these.
      if (policy.pending) await api.call("confirm-policy", { body: { sum: policy.pending.sum } });
      // The hub answers what waits by the rules that hold now. What they do not cover is still to be allowed.
      const waits = await api.call("get-question", { params: { id: question.id } }).then(
        (q) => q.state === "open",
        () => true,
      );
      if (waits) onDone();
    } catch (e) {
      setFailure(e instanceof Error ? e : new Error(String(e)));
      await load();
    }
    setPending(false);
  };
  const { file, policy, error } = found;
  const blocked = policy?.pending ? t.allPending : policy?.problem ? t.allProblem : undefined;
  return (
    <div className={css.entry}>
      <p>{t.allText}</p>
      <pre className={css.json}>{visible(ruleLines(rules))}</pre>
      {file?.path && (
        <p className={css.whole}>
          {t.allFile} <Path path={file.path} most={60} />
        </p>
      )}
      {!file && !error && <Spinner label={t.allLoading} />}
      <ErrorNote error={error} />
      {blocked && (
        <Note tone="warn">
          {blocked} <Link to={{ page: "insight", tab: "rules" }}>{t.allRules}</Link>
        </Note>
      )}
      <ErrorNote error={failure} />
      <div className={css.actions}>
        <Button
          variant="primary"
          isPending={pending || sending}
          {...(file && policy && !blocked ? {} : { isDisabled: true, isPending: false })}
          onPress={() => file && void add(file)}
        >
          {t.allAdd(rules.length)}
        </Button>
        <Button onPress={onBack} isDisabled={pending}>
          {t.back}
        </Button>
      </div>
    </div>
  );
}
