import { Check, Minus } from "lucide-react";
import type { ReactNode } from "react";
import {
  Checkbox as AriaCheckbox,
  type CheckboxProps as AriaCheckboxProps,
  RadioGroup as AriaRadioGroup,
  Switch as AriaSwitch,
  type SwitchProps as AriaSwitchProps,
  Group,
  Label,
  Radio,
  Text,
} from "react-aria-components";
import { classes } from "./classes";
import css from "./Field.module.css";

/** The label above something that is no single input, the hint and the error below it. Inputs have these of their own. */
export function Field({
  label,
  hint,
  error,
  className,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  return (
    <Group aria-label={label} className={classes(css.field, className)}>
      <span className={css.label} aria-hidden="true">
        {label}
      </span>
      {children}
      {hint && <span className={css.hint}>{hint}</span>}
      {error && (
        <span className={css.error} role="alert">
          {error}
        </span>
      )}
    </Group>
  );
}

type CheckboxProps = Omit<AriaCheckboxProps, "className" | "children" | "style"> & {
  className?: string;
  hint?: ReactNode;
  children?: ReactNode;
};

/** A box to tick. Without children it needs an aria-label. */
export function Checkbox({ className, hint, children, ...rest }: CheckboxProps) {
  return (
    <AriaCheckbox {...rest} className={classes(css.tick, className)}>
      {({ isIndeterminate }) => (
        <>
          <span className={css.box} aria-hidden="true">
            {isIndeterminate ? <Minus size={14} /> : <Check size={14} />}
          </span>
          {children && (
            <span className={css.tickText}>
              <span>{children}</span>
              {hint && <span className={css.hint}>{hint}</span>}
            </span>
          )}
        </>
      )}
    </AriaCheckbox>
  );
}

type SwitchProps = Omit<AriaSwitchProps, "className" | "children" | "style"> & {
  className?: string;
  hint?: ReactNode;
  children?: ReactNode;
};

/** Something that is on or off at once, without a button to confirm it. */
export function Switch({ className, hint, children, ...rest }: SwitchProps) {
  return (
    <AriaSwitch {...rest} className={classes(css.tick, className)}>
      <span className={css.track} aria-hidden="true" />
      {children && (
        <span className={css.tickText}>
          <span>{children}</span>
          {hint && <span className={css.hint}>{hint}</span>}
        </span>
      )}
    </AriaSwitch>
  );
}

export interface Option {
  id: string;
  label: string;
  hint?: string;
  isDisabled?: boolean;
}

interface RadioGroupProps {
  label: string;
  items: readonly Option[];
  value: string | null;
  onChange: (id: string) => void;
  hint?: ReactNode;
  error?: ReactNode;
  isDisabled?: boolean;
  orientation?: "horizontal" | "vertical";
  hideLabel?: boolean;
  className?: string;
}

/** One of a few, all of which are seen. */
export function RadioGroup({
  label,
  items,
  value,
  onChange,
  hint,
  error,
  isDisabled,
  orientation = "vertical",
  hideLabel,
  className,
}: RadioGroupProps) {
  return (
    <AriaRadioGroup
      className={classes(css.field, css[orientation], className)}
      value={value}
      onChange={onChange}
      orientation={orientation}
      {...(isDisabled ? { isDisabled } : {})}
      {...(hideLabel ? { "aria-label": label } : {})}
      isInvalid={Boolean(error)}
    >
      {!hideLabel && <Label className={css.label}>{label}</Label>}
      <div className={css.radios}>
        {items.map((item) => (
          <Radio key={item.id} value={item.id} className={css.tick ?? ""} isDisabled={item.isDisabled ?? false}>
            <span className={classes(css.box, css.round)} aria-hidden="true" />
            <span className={css.tickText}>
              <span>{item.label}</span>
              {item.hint && <span className={css.hint}>{item.hint}</span>}
            </span>
          </Radio>
        ))}
      </div>
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
    </AriaRadioGroup>
  );
}
