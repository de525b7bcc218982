import type { ReactNode } from "react";
import { steerTexts as t } from "../texts/steer";
import { Button } from "../ui/buttons";
import { Dialog, type DialogProps } from "../ui/dialogs";
import { ErrorNote } from "../ui/notes";
import type { Act } from "./act";
import css from "./Form.module.css";
import { closePanel } from "./panels";

interface Props extends Pick<DialogProps, "title" | "size" | "isDismissable" | "role"> {
  act: Act;
  /** The words on the button that does it. */
  action: string;
  danger?: boolean;
  /** Why it cannot be done at all: the button says so. */
  why: string | undefined;
  /** Something is missing before it can be done. */
  isDisabled?: boolean;
  onAct(): Promise<void>;
  /** The words on the button that closes the panel; "Cancel" if absent. */
  leave?: string;
  /** A button before the others. */
  other?: ReactNode;
  /** What it has answered, below what went wrong. */
  answer?: ReactNode;
  children: ReactNode;
}

/** The panel of something that is done to a session: what is asked about it, why it failed, and the buttons that leave and do it. */
export function ActPanel({ act, action, danger, why, isDisabled, onAct, leave, other, answer, children, ...dialog }: Props) {
  return (
    <Dialog
      {...dialog}
      isOpen
      onClose={closePanel}
      actions={
        <>
          {other}
          <Button onPress={closePanel}>{leave ?? t.cancel}</Button>
          <Button
            variant={danger ? "danger" : "primary"}
            isPending={act.pending}
            isDisabled={isDisabled || why !== undefined}
            reason={why}
            onPress={() => void onAct()}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className={css.form}>
        {children}
        <ErrorNote error={act.error} />
        {answer}
      </div>
    </Dialog>
  );
}
