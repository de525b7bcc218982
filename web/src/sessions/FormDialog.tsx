import type { KeyboardEvent, ReactNode, Ref } from "react";
import type { ApiError } from "../api/error";
import { useHub } from "../store/hub";
import { sessionsTexts as t } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { Dialog } from "../ui/dialogs";
import { ErrorNote } from "../ui/notes";
import css from "./FormDialog.module.css";

interface Props {
  title: string;
  /** The words on the button that sends the form. */
  action: string;
  pending: boolean;
  error: ApiError | undefined;
  /** Called by the button, by enter in a line of text, and by mod+enter anywhere in the form. */
  onSubmit(): Promise<void>;
  onCancel(): void;
  /** Called by Escape and by the cross. */
  onClose(): void;
  formRef?: Ref<HTMLFormElement>;
  /** A button before the others. */
  other?: ReactNode;
  /** What is shown in the place of the form once it was sent, and the buttons for that. */
  sent?: { readonly actions: ReactNode; readonly children: ReactNode };
  children: ReactNode;
}

/** A dialog with a form that makes a session. A press outside does not close it: what was filled in would be lost. */
export function FormDialog(props: Props) {
  const hub = useHub();
  const submit = () => void props.onSubmit();
  const onKeyDown = (e: KeyboardEvent): void => {
    if (e.key !== "Enter" || !(e.metaKey || e.ctrlKey)) return;
    e.preventDefault();
    submit();
  };
  const actions = props.sent?.actions ?? (
    <>
      <ErrorNote className={css.error} error={props.error} />
      {props.other}
      <Button onPress={props.onCancel}>{t.create.cancel}</Button>
      <Button
        variant="primary"
        kbd="mod+enter"
        isPending={props.pending}
        isDisabled={!hub.can("admin")}
        reason={t.scopes.admin}
        onPress={submit}
      >
        {props.action}
      </Button>
    </>
  );
  return (
    <Dialog title={props.title} isOpen size="l" isDismissable={false} onClose={props.onClose} actions={actions}>
      {props.sent ? (
        <div className={css.form}>{props.sent.children}</div>
      ) : (
        <form
          ref={props.formRef}
          className={css.form}
          noValidate
          onKeyDown={onKeyDown}
          onSubmit={(e) => {
            e.preventDefault();
            submit();
          }}
        >
          {props.children}
        </form>
      )}
    </Dialog>
  );
}
