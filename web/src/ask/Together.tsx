import { useState } from "react";
import type { Answer, Question } from "../api/types";
import { useHub } from "../store/hub";
import { isObject, obj } from "../talk/json";
import { toolTitle } from "../talk/title";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui/buttons";
import { Dialog } from "../ui/dialogs";
import { TextArea } from "../ui/fields";
import { toast, toastError } from "../ui/toast";
import { visible } from "../ui/visible";
import { useTogether } from "./answering";
import { allow, deny } from "./answers";
import type { ListGuards } from "./guard";
import { holdsHidden } from "./hidden";
import css from "./Inbox.module.css";
import { callOf, enterPlanMode } from "./request";

interface Props {
  /** The questions that were selected. */
  list: readonly Question[];
  /** How many more are like them. */
  more: number;
  guard: ListGuards;
  onMore(): void;
  onClear(): void;
}

/** Answers the questions that were selected, at once. What is allowed stands beside the button, all of it. */
export function Together({ list, more, guard, onMore, onClear }: Props) {
  const hub = useHub();
  const { pending, answer } = useTogether();
  const [denying, setDenying] = useState(false);
  const [reason, setReason] = useState("");
  const kinds = new Map(list.map((q) => [likeness(q) ?? q.id, q]));
  const off = hub.can("approve") ? { isDisabled: pending } : { isDisabled: true, reason: t.cannotAnswer };

  const give = async (given: Answer) => {
    // What has only just come up, or moved, was not meant.
    if (!guard.order.takes()) {
      toast({ title: t.cameJustNow, tone: "warn" });
      return;
    }
    const { done, late, error } = await answer(list, given);
    setDenying(false);
    setReason("");
    if (done > 0) toast({ title: given.decision === "allow" ? t.allowedTogether(done) : t.deniedTogether(done), tone: "ok" });
    if (late > 0) toast({ title: t.lateTogether(late) });
    if (error) toastError(error);
    else onClear();
  };
  return (
    <section className={css.together} aria-label={t.selected(list.length)}>
      <p className={css.selected}>
        <strong>{t.selected(list.length)}</strong>
        {more > 0 && (
          <Button size="s" variant="quiet" onPress={onMore}>
            {t.selectAlike(more)}
          </Button>
        )}
        <Button size="s" variant="quiet" onPress={onClear}>
          {t.clearSelection}
        </Button>
      </p>
      <ul className={css.kinds}>
        {[...kinds.values()].map((q) => (
          <li key={q.id}>
            <code>{describe(q)}</code>
          </li>
        ))}
      </ul>
      <div className={css.acts}>
        <Button variant="primary" onPress={() => void give(allow())} {...off}>
          {t.allowTogether(list.length)}
        </Button>
        <Button onPress={() => setDenying(true)} {...off}>
          {t.denyTogether(list.length)}
        </Button>
      </div>
      {denying && (
        <Dialog
          title={t.denyTogetherTitle(list.length)}
          isOpen
          size="s"
          onClose={() => setDenying(false)}
          actions={
            <>
              <Button onPress={() => setDenying(false)}>{t.back}</Button>
              <Button variant="danger" isPending={pending} onPress={() => void give(deny(reason))}>
                {t.denyNow}
              </Button>
            </>
          }
        >
          <TextArea label={t.denyTitle} placeholder={t.noReason} value={reason} onChange={setReason} minRows={2} autoFocus />
        </Dialog>
      )}
    </section>
  );
}

/** The call that a question is about: what it is about, else all of its input. */
function describe(q: Question): string {
  const { tool, input } = callOf(q);
  const members = obj(input);
  const { description, ...rest } = members;
  const whole = tool === "Bash" && Object.keys(rest).length === 1 ? toolTitle(tool, members) : JSON.stringify(members);
  return visible(`${tool}: ${whole}`);
}

/** How long an input may be that is answered together with others: all of it is shown beside the button. */
const mostInput = 2_000;

/**
 * What questions have in common that can be answered together: the tool and all of its input, but for the words about a command. Undefined
 * for what has to be looked at by itself.
 */
export function likeness(q: Question): string | undefined {
  if (q.kind !== "permission" || q.state !== "open") return undefined;
  const { tool, input, defaultNo, hook } = callOf(q);
  if (input === undefined || !isObject(input) || defaultNo || tool === enterPlanMode || holdsHidden(input)) return undefined;
  const members = Object.entries(input)
    .filter(([name]) => !(tool === "Bash" && name === "description"))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const same = JSON.stringify([tool, hook, members]);
  return same.length > mostInput ? undefined : same;
}

/** The questions that are like others of a list, by what they have in common. */
export function alikeOf(list: readonly Question[]): ReadonlyMap<string, readonly Question[]> {
  const groups = new Map<string, Question[]>();
  for (const q of list) {
    const like = likeness(q);
    if (like === undefined) continue;
    const group = groups.get(like);
    if (group) group.push(q);
    else groups.set(like, [q]);
  }
  for (const [like, group] of groups) if (group.length < 2) groups.delete(like);
  return groups;
}
