import { X } from "lucide-react";
import { type ReactNode, useCallback, useState } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { uiTexts as t } from "../texts/ui";
import { IconButton } from "./Button";
import { classes } from "./classes";
import css from "./Dialog.module.css";

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
