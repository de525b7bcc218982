import { useCallback, useEffect, useRef, useState } from "react";
import { asError } from "../api/error";
import type { Always, Policy, RulesFile } from "../api/types";
import { Link } from "../app/router";
import { useHub } from "../store/hub";
import { askTexts as t } from "../texts/ask";
import { sandboxTexts } from "../texts/sandbox";
import { Button } from "../ui/buttons";
import { RadioGroup, TextInput } from "../ui/fields";
import { ErrorNote, Note } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { Path } from "../ui/values";
import { visible } from "../ui/visible";
import {
  alwaysRule,
  alwaysSuggestion,
  type Destination,
  destinationsOf,
  hostRuleOf,
  isOfTomorrow,
  rulesOf,
  suggestionsOf,
  suggestionText,
} from "./answers";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";
import { useDraft } from "./drafts";

const ownRule = "rule";
/** For rules that hold in every session: no answer makes these, but a change of the rules file. */
const everywhere = "everywhere";

/** Allows a call and what is like it from now on: what the CLI suggests, or a rule, and where that is kept. */
export function AlwaysForm({ tool, onBack, onDone }: { tool: string; onBack(): void; onDone(always?: Always): void }) {
  const { question, admin, sending } = useCard();
  const suggestions = suggestionsOf(question);
  // A host is allowed for the session elsewhere: here the rule is written, for this session or for all.
  const host = hostRuleOf(question);
  const first = host?.rule ?? tool;
  // Nothing is chosen beforehand but where there is only one, and it is kept for the session: the least that can be meant.
  const [what, setWhat] = useState<string | null>(
    host || suggestions.length === 0 ? ownRule : suggestions.length === 1 ? String(suggestions[0]?.index) : null,
  );
  const [chosen, setWhere] = useState<string>(host ? everywhere : "session");
  const [written, setRule] = useDraft(question.id, "rule");
  const [error, setError] = useState<string>();
  const [review, setReview] = useState<readonly string[]>();
  const rule = written === "" ? first : written.trim();
  const taken = suggestions.find((s) => String(s.index) === what);
  const places = what === ownRule ? destinationsOf({ rule }) : taken ? destinationsOf({ suggestion: taken.suggestion }) : [];
  const rules = what === ownRule ? (rule === "" ? [] : [rule]) : taken ? rulesOf(taken.suggestion) : [];
  const offersAll = what === ownRule || rules.length > 0;
  const isPlace = places.some((p) => (p ?? "") === chosen) || (chosen === everywhere && offersAll);
  const where = isPlace ? chosen : (places[0] ?? "");
  const forbidden = !admin && (what === ownRule || where !== "session");
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  useCardKeys({ Escape: onBack });

  const done = () => {
    if (what === null || forbidden) return;
    if (where === everywhere) {
      if (rules.length > 0) setReview(rules);
      else setError(t.ownRuleEmpty);
      return;
    }
    if (what !== ownRule) {
      if (taken)
        onDone(
          alwaysSuggestion(
            taken.index,
            places.find((p) => p === where),
          ),
        );
    } else if (rule === "") {
      setError(t.ownRuleEmpty);
    } else {
      onDone(alwaysRule(rule, places.find((p): p is Destination => p === where) ?? "session"));
    }
  };
  if (review) return <AllSessions rules={review} onBack={() => setReview(undefined)} onDone={() => onDone()} />;
  return (
    <div ref={form} className={css.entry}>
      {!host && (
        <RadioGroup
          label={t.alwaysTitle}
          value={what}
          onChange={setWhat}
          items={[
            ...suggestions.map(({ index, suggestion: s }) => ({
              id: String(index),
              label: visible(suggestionText(s) || JSON.stringify(s.update)),
              ...(s.text && isOfTomorrow(s) ? { hint: visible(JSON.stringify(s.update)) } : {}),
            })),
            { id: ownRule, label: t.ownRule, isDisabled: !admin, ...(admin ? {} : { hint: t.needsAdmin }) },
          ]}
        />
      )}
      {what === ownRule && (
        <>
          <TextInput
            label={t.ownRuleLabel}
            hint={host ? sandboxTexts.hostRuleHint : t.ownRuleHint}
            mono
            value={written === "" ? first : written}
            onChange={(text) => {
              setRule(text === "" ? " " : text);
              setError(undefined);
            }}
            error={error}
            input={{ spellCheck: "false", autoCapitalize: "off", autoCorrect: "off" }}
          />
          {rule !== "" && !rule.includes("(") && <Note tone="warn">{t.ownRuleWide(visible(rule))}</Note>}
        </>
      )}
      {places.length > 0 && (
        <RadioGroup
          label={t.where}
          value={where}
          onChange={setWhere}
          items={[
            ...places.map((place) => ({
              id: place ?? "",
              label: place ? t.destination[place] : t.destinationOfCli,
              isDisabled: !admin && place !== "session",
              ...hintOf(place, taken?.suggestion.destination, admin),
            })),
            ...(offersAll
              ? [{ id: everywhere, label: t.allSessions, isDisabled: !admin, ...(admin ? {} : { hint: t.needsAdmin }) }]
              : []),
          ]}
        />
      )}
      <div className={css.actions}>
        <Button
          variant="primary"
          onPress={done}
          isPending={sending}
          {...(what === null || forbidden ? { isDisabled: true, isPending: false } : {})}
        >
          {where === everywhere ? t.allReview : t.allowAlways}
        </Button>
        <Button onPress={onBack} isDisabled={sending}>
          {t.back}
        </Button>
      </div>
    </div>
  );
}

function hintOf(place: Destination | undefined, suggested: string | undefined, admin: boolean): { hint?: string } {
  if (!admin && place !== "session") return { hint: t.needsAdmin };
  return place !== undefined && place === suggested ? { hint: t.asSuggested } : {};
}

interface AllSessionsProps {
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
function AllSessions({ rules, onBack, onDone }: AllSessionsProps) {
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
        (e: unknown) => !signal?.aborted && setFound({ error: asError(e) }),
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
      setFailure(asError(e));
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

/** A text as TOML writes it. It has the same escapes as JSON, and wants one more character escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

/** What a rules file says so that rules hold in all sessions. */
export function ruleLines(rules: readonly string[]): string {
  return rules.map((rule) => `[[rule]]\nrule = ${quoted(rule)}\ndecision = "allow"\n`).join("\n");
}

/** A rules file with rules behind what it has: a table at its end belongs to the file as a whole, whatever stands before. */
export function withRules(text: string, rules: readonly string[]): string {
  if (text.trim() === "") return ruleLines(rules);
  return `${text.replace(/\n*$/, "\n")}\n${ruleLines(rules)}`;
}
