import { Check, ChevronDown, Minus } from "lucide-react";
import { type ReactNode, type Ref, type RefObject, useContext, useEffect, useLayoutEffect, useRef } from "react";
import {
  Checkbox as AriaCheckbox,
  type CheckboxProps as AriaCheckboxProps,
  ComboBox as AriaComboBox,
  RadioGroup as AriaRadioGroup,
  Select as AriaSelect,
  Switch as AriaSwitch,
  type SwitchProps as AriaSwitchProps,
  TextArea as AriaTextArea,
  type TextAreaProps as AriaTextAreaProps,
  Button,
  ComboBoxStateContext,
  Group,
  Input,
  type InputProps,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Radio,
  SelectValue,
  Text,
  TextField,
  type TextFieldProps,
} from "react-aria-components";
import { uiTexts as t } from "../texts/ui";
import { classes } from "./classes";
import css from "./fields.module.css";
import list from "./lists.module.css";

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

/** The hint and the error below an input. */
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

/** The words beside a box, a switch or a circle, and the hint below them. */
function Words({ hint, children }: { hint: ReactNode; children: ReactNode }) {
  return (
    <span className={css.tickText}>
      <span>{children}</span>
      {hint && <span className={css.hint}>{hint}</span>}
    </span>
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
          {children && <Words hint={hint}>{children}</Words>}
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
      {children && <Words hint={hint}>{children}</Words>}
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
            <Words hint={item.hint}>{item.label}</Words>
          </Radio>
        ))}
      </div>
      <Below hint={hint} error={error} />
    </AriaRadioGroup>
  );
}

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

function grow(area: HTMLTextAreaElement, minRows: number, maxRows: number) {
  const style = getComputedStyle(area);
  const line = Number.parseFloat(style.lineHeight) || 20;
  const around =
    area.offsetHeight - area.clientHeight + Number.parseFloat(style.paddingTop) + Number.parseFloat(style.paddingBottom);
  area.style.height = "auto";
  const wanted = area.scrollHeight + area.offsetHeight - area.clientHeight;
  area.style.height = `${Math.min(Math.max(wanted, minRows * line + around), maxRows * line + around)}px`;
}

interface SelectProps {
  label: string;
  hideLabel?: boolean;
  items: readonly Option[];
  value: string | null;
  onChange: (id: string) => void;
  hint?: ReactNode;
  error?: ReactNode;
  placeholder?: string;
  isDisabled?: boolean;
  /** Without a border, for toolbars and headers. */
  quiet?: boolean;
  size?: "s" | "m";
  /** Shown before the chosen one. */
  icon?: ReactNode;
  className?: string;
}

/** One of a list that comes up. */
export function Select({
  label,
  hideLabel,
  items,
  value,
  onChange,
  hint,
  error,
  placeholder,
  isDisabled,
  quiet,
  size = "m",
  icon,
  className,
}: SelectProps) {
  return (
    <AriaSelect
      className={classes(css.field, className)}
      value={value}
      onChange={(key) => key !== null && onChange(String(key))}
      isDisabled={isDisabled ?? false}
      isInvalid={Boolean(error)}
      placeholder={placeholder ?? ""}
      {...(hideLabel ? { "aria-label": label } : {})}
    >
      {!hideLabel && <Label className={css.label}>{label}</Label>}
      <Button className={classes(list.trigger, quiet && list.quiet, size === "s" && list.s)}>
        {icon}
        <SelectValue className={list.value ?? ""}>
          {({ isPlaceholder, selectedText, defaultChildren }) => (isPlaceholder ? defaultChildren : selectedText)}
        </SelectValue>
        <ChevronDown size={14} aria-hidden="true" />
      </Button>
      <Below hint={hint} error={error} />
      <Popover className={list.popover ?? ""} offset={4}>
        <ListBox className={list.list ?? ""} items={items}>
          {(item) => <OptionRow item={item} />}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

interface ComboBoxProps {
  label: string;
  hideLabel?: boolean;
  /** What is offered for what was typed. With onInput the caller chooses them, else they are filtered here. */
  items: readonly Option[];
  /** The text in the field: any text is allowed. */
  value: string;
  onInput: (text: string) => void;
  /** Called when one of the list is chosen, with its id, after onInput with its label. */
  onPick?: (id: string) => void;
  /** Filter the items by what was typed. */
  filter?: boolean;
  hint?: ReactNode;
  error?: ReactNode;
  placeholder?: string;
  isDisabled?: boolean;
  isRequired?: boolean;
  autoFocus?: boolean;
  mono?: boolean;
  inputRef?: Ref<HTMLInputElement>;
  className?: string;
}

/** A text with suggestions. */
export function ComboBox(props: ComboBoxProps) {
  const { label, hideLabel, items, value, onInput, onPick, filter, hint, error, placeholder, mono, inputRef, className } = props;
  const typed = useRef(false);
  return (
    <AriaComboBox
      className={classes(css.field, className)}
      allowsCustomValue
      // Suggestions hide the rest of a dialog: they do not open by themselves in the field that has the focus when it opens.
      menuTrigger={props.autoFocus ? "input" : "focus"}
      {...(filter ? { defaultItems: items } : { items })}
      inputValue={value}
      onInputChange={(text) => {
        typed.current = !items.some((item) => item.label === text);
        onInput(text);
      }}
      onOpenChange={() => {
        typed.current = false;
      }}
      onChange={(key) => key !== null && onPick?.(String(key))}
      isDisabled={props.isDisabled ?? false}
      isRequired={props.isRequired ?? false}
      autoFocus={props.autoFocus ?? false}
      isInvalid={Boolean(error)}
      {...(hideLabel ? { "aria-label": label } : {})}
    >
      {!hideLabel && <Label className={css.label}>{label}</Label>}
      <div className={list.combo}>
        <Input
          ref={inputRef}
          placeholder={placeholder}
          className={classes(css.input, mono && css.mono)}
          autoComplete="off"
          spellCheck={false}
        />
        <Button className={list.comboButton ?? ""} aria-label={t.showOptions}>
          <ChevronDown size={14} aria-hidden="true" />
        </Button>
      </div>
      <Below hint={hint} error={error} />
      <OpenWhenFound typed={typed} found={items.length} />
      <Popover className={list.popover ?? ""} offset={4}>
        <ListBox className={list.list ?? ""}>{(item: Option) => <OptionRow item={item} />}</ListBox>
      </Popover>
    </AriaComboBox>
  );
}

/** Opens the list when suggestions for what was typed arrive later. A ComboBox itself opens only if it has some when a key is pressed. */
function OpenWhenFound({ typed, found }: { typed: RefObject<boolean>; found: number }) {
  const state = useContext(ComboBoxStateContext);
  useEffect(() => {
    if (found > 0 && typed.current && state?.isFocused && !state.isOpen) state.open(null, "input");
  }, [typed, found, state]);
  return null;
}

function OptionRow({ item }: { item: Option }) {
  return (
    <ListBoxItem id={item.id} textValue={item.label} className={list.item ?? ""} isDisabled={item.isDisabled ?? false}>
      <span className={list.text}>
        <span>{item.label}</span>
        {item.hint && <span className={list.hint}>{item.hint}</span>}
      </span>
      <Check size={14} className={list.check} aria-hidden="true" />
    </ListBoxItem>
  );
}
