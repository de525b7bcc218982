import { ShieldX } from "lucide-react";
import { useState } from "react";
import type { SandboxRefusal } from "../api/types";
import { oneLine } from "../talk/json";
import { sandboxTexts as t } from "../texts/sandbox";
import { Button } from "../ui/buttons";
import { visible } from "../ui/visible";
import css from "./Refusal.module.css";

/** Something that the sandbox refused: what, which program tried, and by which rule. */
export function RefusalRow({ refusal }: { refusal: SandboxRefusal }) {
  const why = t.refusedWhy(refusal);
  return (
    <div className={css.refusal}>
      <ShieldX className={css.icon} size={14} aria-hidden="true" />
      <div className={css.words}>
        <p>{visible(t.refused(refusal))}</p>
        {refusal.command && (
          <code className={css.command} translate="no">
            {visible(oneLine(refusal.command, 300))}
          </code>
        )}
        {why !== "" && <p className={css.why}>{visible(why)}</p>}
      </div>
    </div>
  );
}

/** How many refusals of a call are shown before a person asks for more: a program may try again and again. */
const few = 3;

/** What the sandbox refused while a call ran. */
export function Refusals({ refusals }: { refusals: readonly SandboxRefusal[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? refusals : refusals.slice(0, few);
  return (
    <ul className={css.list} aria-label={t.refusals}>
      {shown.map((refusal, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: refusals have no other name than their place, and none is taken away
        <li key={i}>
          <RefusalRow refusal={refusal} />
        </li>
      ))}
      {shown.length < refusals.length && (
        <li>
          <Button variant="quiet" size="s" onPress={() => setAll(true)}>
            {t.moreRefusals(refusals.length - shown.length)}
          </Button>
        </li>
      )}
    </ul>
  );
}
