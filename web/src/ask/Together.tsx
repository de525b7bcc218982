import { useState } from "react";
import type { Answer, Question } from "../api/types";
import { useHub } from "../store/hub";
import { obj } from "../talk/json";
import { toolTitle } from "../talk/title";
import { askTexts as t } from "../texts/ask";
import { Button, Dialog, TextArea, toast, toastError } from "../ui";
import { visible } from "../ui/diff";
import { likeness } from "./alike";
import { allow, deny } from "./answers";
import type { ListGuards } from "./guard";
import css from "./Inbox.module.css";
import { callOf } from "./request";
import { useTogether } from "./useTogether";

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
