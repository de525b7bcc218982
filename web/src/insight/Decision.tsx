import { Check, CircleHelp, CircleSlash, Minus, ShieldX } from "lucide-react";
import { insightTexts } from "../texts/insight";
import { Badge, type Tone } from "../ui/signs";
import css from "./Decision.module.css";

const t = insightTexts.audit.plan;

const known: Record<string, { tone: Tone; icon: typeof Check }> = {
  allow: { tone: "ok", icon: Check },
  accept: { tone: "ok", icon: Check },
  choose: { tone: "ok", icon: Check },
  deny: { tone: "danger", icon: CircleSlash },
  decline: { tone: "danger", icon: CircleSlash },
  reject: { tone: "danger", icon: CircleSlash },
  ask: { tone: "warn", icon: CircleHelp },
  refused: { tone: "danger", icon: ShieldX },
};

/** What answers to plans come to: most of them approve it, and say how it is carried out. */
const ofPlan: Record<string, { decision: string; word: string }> = {
  fresh: { decision: "allow", word: t.approved },
  accept_edits: { decision: "allow", word: t.approved },
  ask: { decision: "allow", word: t.approved },
  outline: { decision: "", word: t.revise },
  revise: { decision: "", word: t.revise },
  reject: { decision: "deny", word: t.rejected },
};

/** What was decided: a word, a shape and a colour. An answer is not a rule: "ask" is then a plan that was approved. */
export function Decision({ decision: told, answer }: { decision: string; answer?: boolean }) {
  const plan = answer && Object.hasOwn(ofPlan, told) ? ofPlan[told] : undefined;
  const decision = plan?.decision ?? told;
  const { tone, icon: Icon } = (Object.hasOwn(known, decision) && known[decision]) || { tone: "neutral" as const, icon: Minus };
  return (
    <Badge tone={tone} className={css.decision}>
      <Icon size={12} aria-hidden="true" />
      {plan?.word ?? told.replaceAll("_", " ")}
    </Badge>
  );
}
