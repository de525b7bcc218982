import { useEffect, useRef, useState } from "react";
import type { Always } from "../api/types";
import { askTexts as t } from "../texts/ask";
import { Button, Note, RadioGroup, TextInput } from "../ui";
import { visible } from "../ui/diff";
import { AllSessions } from "./AllSessions";
import {
  alwaysRule,
  alwaysSuggestion,
  type Destination,
  destinationsOf,
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
  // Nothing is chosen beforehand but where there is only one, and it is kept for the session: the least that can be meant.
  const [what, setWhat] = useState<string | null>(
    suggestions.length === 0 ? ownRule : suggestions.length === 1 ? String(suggestions[0]?.index) : null,
  );
  const [chosen, setWhere] = useState<string>("session");
  const [written, setRule] = useDraft(question.id, "rule");
  const [error, setError] = useState<string>();
  const [review, setReview] = useState<readonly string[]>();
  const rule = written === "" ? tool : written.trim();
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
      {what === ownRule && (
        <>
          <TextInput
            label={t.ownRuleLabel}
            hint={t.ownRuleHint}
            mono
            value={written === "" ? tool : written}
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
