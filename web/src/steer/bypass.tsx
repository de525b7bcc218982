import { dangerousMode } from "../texts/modes";
import { steerTexts as t } from "../texts/steer";
import { confirm } from "../ui/dialogs";

interface Options {
  /** The session that is meant: the dialog may still be there when another one is looked at. */
  title?: string;
  /** Done while the dialog waits. */
  run?: () => Promise<unknown>;
}

/** Asks before a session stops asking. Resolves to whether it was agreed to and, with `run`, done. */
export function confirmBypass({ title, run }: Options = {}): Promise<boolean> {
  return confirm({
    title: t.bypassTitle,
    children: (
      <>
        {title && <p>{t.bypassFor(title)}</p>}
        <p>{t.bypassText}</p>
      </>
    ),
    action: t.bypassAction,
    danger: true,
    ...(run ? { run } : {}),
  });
}

/** Hands a mode on, and asks before the dangerous one. */
export function withConfirmation(set: (mode: string) => void, now: string): (mode: string) => void {
  return (mode) => {
    if (mode !== dangerousMode || mode === now) set(mode);
    else void confirmBypass().then((agreed) => agreed && set(mode));
  };
}
