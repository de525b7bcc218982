import { type ReactNode, type Ref, useLayoutEffect, useRef } from "react";
import {
  TextArea as AriaTextArea,
  type TextAreaProps as AriaTextAreaProps,
  Input,
  type InputProps,
  Label,
  Text,
  TextField,
  type TextFieldProps,
} from "react-aria-components";
import { classes } from "./classes";
import css from "./Field.module.css";

interface Common {
  /** The name of the field; shown above it unless hideLabel. */
  label: string;
  hideLabel?: boolean;
  hint?: ReactNode;
  error?: ReactNode;
  placeholder?: string;
  /** Set in the font of code. */
  mono?: boolean;
  className?: string;
}

type FieldProps = Omit<TextFieldProps, "className" | "children" | "style">;

export type TextInputProps = Common &
  FieldProps & { icon?: ReactNode; inputRef?: Ref<HTMLInputElement>; input?: Omit<InputProps, "className"> };

/** A line of text. */
export function TextInput({
  label,
  hideLabel,
  hint,
  error,
  placeholder,
  mono,
  className,
  icon,
  inputRef,
  input,
  ...rest
}: TextInputProps) {
  return (
    <TextField
      {...rest}
      {...(hideLabel ? { "aria-label": label } : {})}
      isInvalid={Boolean(error)}
      className={classes(css.field, className)}
    >
      {!hideLabel && <Label className={css.label}>{label}</Label>}
      <span className={css.affix}>
        {icon}
        <Input {...input} ref={inputRef} placeholder={placeholder} className={classes(css.input, mono && css.mono)} />
      </span>
      <Below hint={hint} error={error} />
    </TextField>
  );
}

export type TextAreaProps = Common &
  FieldProps & {
    inputRef?: Ref<HTMLTextAreaElement>;
    /** How many lines it has at least, and at most before it scrolls. */
    minRows?: number;
    maxRows?: number;
    input?: Omit<AriaTextAreaProps, "className">;
  };

/** Several lines of text, which grows with what is written in it. */
export function TextArea({
  label,
  hideLabel,
  hint,
  error,
  placeholder,
  mono,
  className,
  inputRef,
  minRows = 2,
  maxRows = 14,
  input,
  ...rest
}: TextAreaProps) {
  const own = useRef<HTMLTextAreaElement>(null);
  const value = rest.value;
  // Measured after each change of the text; a text that is not controlled grows in onInput.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the value is what the height follows from
  useLayoutEffect(() => {
    if (own.current) grow(own.current, minRows, maxRows);
  }, [value, minRows, maxRows]);
  return (
    <TextField
      {...rest}
      {...(hideLabel ? { "aria-label": label } : {})}
      isInvalid={Boolean(error)}
      className={classes(css.field, className)}
    >
      {!hideLabel && <Label className={css.label}>{label}</Label>}
      <AriaTextArea
        {...input}
        ref={(element) => {
          own.current = element;
          if (typeof inputRef === "function") inputRef(element);
          else if (inputRef) inputRef.current = element;
        }}
        onInput={(e) => {
          grow(e.currentTarget, minRows, maxRows);
          input?.onInput?.(e);
        }}
        rows={minRows}
        placeholder={placeholder}
        className={classes(css.input, css.area, mono && css.mono)}
      />
      <Below hint={hint} error={error} />
    </TextField>
  );
}

function Below({ hint, error }: { hint: ReactNode; error: ReactNode }) {
  return (
    <>
      {hint && (
        <Text slot="description" className={css.hint}>
          {hint}
        </Text>
      )}
      {error && (
        <Text slot="errorMessage" className={css.error}>
          {error}
        </Text>
      )}
    </>
  );
}

function grow(area: HTMLTextAreaElement, minRows: number, maxRows: number) {
  const style = getComputedStyle(area);
  const line = Number.parseFloat(style.lineHeight) || 20;
  const around =
    area.offsetHeight - area.clientHeight + Number.parseFloat(style.paddingTop) + Number.parseFloat(style.paddingBottom);
  area.style.height = "auto";
  const wanted = area.scrollHeight + area.offsetHeight - area.clientHeight;
  area.style.height = `${Math.min(Math.max(wanted, minRows * line + around), maxRows * line + around)}px`;
}
