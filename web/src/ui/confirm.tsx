import { type ReactNode, useRef, useState } from "react";
import { Cell, useReadable } from "../store/readable";
import { uiTexts as t } from "../texts/ui";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { ErrorNote } from "./ErrorNote";
import { toastError } from "./toast";

export interface Confirmation {
  title: string;
  children?: ReactNode;
  /** The words on the button that does it: what happens, not "OK". */
  action: string;
  danger?: boolean;
  /** Done while the dialog waits; what it throws is shown there, and the dialog stays. */
  run?: () => Promise<unknown> | undefined;
}

interface Asked extends Confirmation {
  id: string;
  /** Takes the dialog away. */
  hide(): void;
  settle(yes: boolean): void;
}

const asked = new Cell<readonly Asked[]>([]);

/** Asks before something is done. Resolves to whether it was agreed to and, with `run`, done. */
export function confirm(confirmation: Confirmation): Promise<boolean> {
  return new Promise((resolve) => {
    const entry: Asked = {
      ...confirmation,
      id: crypto.randomUUID(),
      hide: () => asked.set(asked.get().filter((other) => other !== entry)),
      settle(yes) {
        entry.hide();
        resolve(yes);
      },
    };
    asked.set([...asked.get(), entry]);
  });
}

/** Where confirm() shows its dialogs: once, in the shell. */
export function Confirmations() {
  const first = useReadable(asked)[0];
  return first ? <Question key={first.id} asked={first} /> : null;
}

function Question({ asked }: { asked: Asked }) {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<Error>();
  const hidden = useRef(false);
  const agree = async () => {
    setPending(true);
    setError(undefined);
    try {
      await asked.run?.();
      asked.settle(true);
    } catch (e) {
      setError(e instanceof Error ? e : new Error(String(e)));
      setPending(false);
      if (!hidden.current) return;
      toastError(e);
      asked.settle(false);
    }
  };
  // What has begun goes on without the dialog: how it ends is told all the same.
  const close = () => {
    hidden.current = true;
    if (pending) asked.hide();
    else asked.settle(false);
  };
  return (
    <Dialog
      title={asked.title}
      isOpen
      size="s"
      role="alertdialog"
      onClose={close}
      actions={
        <>
          <Button onPress={close}>{pending ? t.close : t.cancel}</Button>
          <Button variant={asked.danger ? "danger" : "primary"} isPending={pending} onPress={() => void agree()} autoFocus>
            {asked.action}
          </Button>
        </>
      }
    >
      {asked.children}
      <ErrorNote error={error} />
    </Dialog>
  );
}
