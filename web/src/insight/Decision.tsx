import { Check, CircleHelp, CircleSlash, Minus } from "lucide-react";
import { Badge, type Tone } from "../ui";
import css from "./Decision.module.css";

const known: Record<string, { tone: Tone; icon: typeof Check }> = {
  allow: { tone: "ok", icon: Check },
  accept: { tone: "ok", icon: Check },
  choose: { tone: "ok", icon: Check },
  deny: { tone: "danger", icon: CircleSlash },
  decline: { tone: "danger", icon: CircleSlash },
  reject: { tone: "danger", icon: CircleSlash },
  ask: { tone: "warn", icon: CircleHelp },
};

/** What was decided: a word, a shape and a colour. */
export function Decision({ decision }: { decision: string }) {
  const { tone, icon: Icon } = (Object.hasOwn(known, decision) && known[decision]) || { tone: "neutral" as const, icon: Minus };
  return (
    <Badge tone={tone} className={css.decision}>
      <Icon size={12} aria-hidden="true" />
      {decision.replaceAll("_", " ")}
    </Badge>
  );
}
