import { X } from "lucide-react";
import { type ReactNode, useCallback, useRef, useState } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { asError } from "../api/error";
import { Cell, useReadable } from "../store/readable";
import { uiTexts as t } from "../texts/ui";
import { Button, IconButton } from "./buttons";
import { classes } from "./classes";
import css from "./dialogs.module.css";
import { ErrorNote } from "./notes";
import { toastError } from "./toast";

export interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** Buttons at the end, the one that does it last. */
  actions?: ReactNode;
  size?: "s" | "m" | "l" | "xl";
  /** Whether a press outside closes it. Not for forms that somebody filled in. */
  isDismissable?: boolean;
  role?: "dialog" | "alertdialog";
  className?: string;
  children: ReactNode;
}

/** A dialog above the page; a sheet from below on narrow screens. Escape closes it. */
export function Dialog({
  title,
  isOpen,
  onClose,
  actions,
  size = "m",
  isDismissable = true,
  role = "dialog",
  className,
  children,
}: DialogProps) {
  return (
    <ModalOverlay
      className={css.overlay ?? ""}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={isDismissable}
    >
      <Modal className={classes(css.modal, css[size])}>
        <AriaDialog role={role} className={classes(css.dialog, className)}>
          <div className={css.head}>
            <Heading slot="title" level={2} className={css.title}>
              {title}
            </Heading>
            <IconButton icon={<X size={16} />} label={t.close} size="s" onPress={onClose} />
          </div>
          <div className={css.body}>{children}</div>
          {actions && <div className={css.actions}>{actions}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Whether a dialog is open, with functions to open and close it. */
export function useDialog(initially = false) {
  const [isOpen, setOpen] = useState(initially);
  const open = useCallback(() => setOpen(true), []);
  const close = useCallback(() => setOpen(false), []);
  return { isOpen, open, close, onClose: close };
}

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
      setError(asError(e));
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
