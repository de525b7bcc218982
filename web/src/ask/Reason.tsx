import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { askTexts as t } from "../texts/ask";
import { Button, TextArea, useCoarse } from "../ui";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";

interface Props {
  /** What is asked for, such as why it is denied. */
  title: string;
  placeholder?: string;
  value: string;
  onChange(text: string): void;
  /** What the button says that sends it. */
  action: string;
  variant?: "primary" | "danger";
  error?: string;
  onSubmit(): void;
  onBack(): void;
  children?: ReactNode;
}

/** A text that goes along with an answer, in the place of the buttons. Enter sends it, shift and enter begin a line, escape goes back. */
export function Reason({
  title,
  placeholder,
  value,
  onChange,
  action,
  variant = "primary",
  error,
  onSubmit,
  onBack,
  children,
}: Props) {
  const { sending } = useCard();
  const coarse = useCoarse();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  useCardKeys({ Escape: onBack });
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.nativeEvent.isComposing) return;
    if (e.key === "Escape") {
      e.preventDefault();
      e.stopPropagation();
      onBack();
    } else if (e.key === "Enter" && !e.shiftKey && !e.altKey && !(coarse && !e.ctrlKey && !e.metaKey)) {
      e.preventDefault();
      if (!e.repeat) onSubmit();
    }
  };
  return (
    <div className={css.entry}>
      <TextArea
        label={title}
        placeholder={placeholder ?? ""}
        value={value}
        onChange={onChange}
        error={error}
        inputRef={field}
        minRows={2}
        input={{ onKeyDown }}
      />
      {children}
      <div className={css.actions}>
        <Button variant={variant} onPress={onSubmit} isPending={sending}>
          {action}
        </Button>
        <Button onPress={onBack} isDisabled={sending}>
          {t.back}
        </Button>
      </div>
    </div>
  );
}
