import { ChevronRight, CircleHelp, Wrench, X } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { Link } from "../app/router";
import { insightTexts } from "../texts/insight";
import { formatDuration, formatMoney } from "../ui/format";
import { visible } from "../ui/visible";
import css from "./TurnRow.module.css";
import { covered, type Step, type TurnGroup } from "./turns";

const t = insightTexts.timeline;
/** How many steps of a turn are drawn before somebody asks for all. */
const few = 100;

/** A turn, and its steps along the time that it took. */
export function TurnRow({ session, group, initiallyOpen }: { session: string; group: TurnGroup; initiallyOpen: boolean }) {
  const [open, setOpen] = useState(initiallyOpen);
  const [all, setAll] = useState(false);
  const span = Math.max(1, group.end - group.start);
  const tools = group.steps.filter((s) => s.kind === "tool").length;
  const facts = [
    group.ms > 0 ? formatDuration(group.ms) : "",
    group.usd ? formatMoney(group.usd) : "",
    tools > 0 ? t.tools(tools) : "",
    group.waited > 0 ? t.waited(formatDuration(group.waited)) : "",
  ].filter(Boolean);
  const name = group.number === undefined ? (group.going ? t.open : t.between) : t.turn(group.number);
  return (
    <li className={css.turn}>
      <AriaButton className={css.head ?? ""} aria-expanded={open} onPress={() => setOpen(!open)}>
        <ChevronRight size={14} className={open ? css.opened : css.closed} aria-hidden="true" />
        <span className={css.name}>
          {name}
          {group.failed && (
            <span className={css.failed}>
              <X size={12} aria-hidden="true" /> {group.title || t.failed}
            </span>
          )}
        </span>
        <span className={css.prompt}>{visible(group.prompt ?? "")}</span>
        <span className={css.facts}>{facts.join(" · ")}</span>
      </AriaButton>
      {open && group.steps.length > 0 && (
        <ul className={css.steps} aria-label={t.steps}>
          {(all ? group.steps : group.steps.slice(0, few)).map((s) => (
            <StepRow key={s.id} session={session} step={s} from={group.start} span={span} going={group.going} />
          ))}
          {!all && group.steps.length > few && (
            <li>
              <AriaButton className={css.more ?? ""} onPress={() => setAll(true)}>
                {insightTexts.all(group.steps.length)}
              </AriaButton>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function StepRow({
  session,
  step,
  from,
  span,
  going,
}: {
  session: string;
  step: Step;
  from: number;
  span: number;
  going: boolean;
}) {
  const worked = step.worked ?? [[step.start, step.start]];
  const words = [
    step.kind === "point" ? "" : step.end === undefined ? (going ? t.stillOpen : "") : formatDuration(covered(worked)),
    step.failed ? t.failed : "",
    step.by ? t.answeredBy(step.by) : "",
  ].filter(Boolean);
  return (
    <li className={css.step}>
      <span className={css.title}>
        <Mark step={step} />
        <span className={css.hidden}>{t.kinds[step.what] ?? step.what}: </span>
        <Link to={{ page: "session", id: session, event: step.event }} className={css.link}>
          {visible(step.title)}
        </Link>
      </span>
      <span className={css.words}>{words.join(", ")}</span>
      <span className={css.track} aria-hidden="true">
        {worked.map(([begin, end]) => {
          const left = Math.min(100, Math.max(0, ((begin - from) / span) * 100));
          const width = Math.min(100 - left, Math.max(0, ((end - begin) / span) * 100));
          return (
            <span
              key={begin}
              className={`${css.span} ${step.failed ? css.bad : css[step.kind]}`}
              style={{ insetInlineStart: `${left}%`, inlineSize: step.kind === "point" ? undefined : `${width}%` }}
            />
          );
        })}
      </span>
    </li>
  );
}

function Mark({ step }: { step: Step }) {
  if (step.kind === "tool") return <Wrench size={12} className={css.mark} aria-hidden="true" />;
  if (step.kind === "wait") return <CircleHelp size={12} className={css.mark} aria-hidden="true" />;
  return <span className={css.dot} aria-hidden="true" />;
}
