import { Check, ChevronDown } from "lucide-react";
import type { ReactNode, Ref } from "react";
import {
  ComboBox as AriaComboBox,
  Select as AriaSelect,
  Button,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
} from "react-aria-components";
import { uiTexts as t } from "../texts/ui";
import { classes } from "./classes";
import type { Option } from "./Field";
import fieldCss from "./Field.module.css";
import css from "./List.module.css";

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
      className={classes(fieldCss.field, className)}
      value={value}
      onChange={(key) => key !== null && onChange(String(key))}
      isDisabled={isDisabled ?? false}
      isInvalid={Boolean(error)}
      placeholder={placeholder ?? ""}
      {...(hideLabel ? { "aria-label": label } : {})}
    >
      {!hideLabel && <Label className={fieldCss.label}>{label}</Label>}
      <Button className={classes(css.trigger, quiet && css.quiet, size === "s" && css.s)}>
        {icon}
        <SelectValue className={css.value ?? ""}>
          {({ isPlaceholder, selectedText, defaultChildren }) => (isPlaceholder ? defaultChildren : selectedText)}
        </SelectValue>
        <ChevronDown size={14} aria-hidden="true" />
      </Button>
      {hint && (
        <Text slot="description" className={fieldCss.hint}>
          {hint}
        </Text>
      )}
      {error && (
        <Text slot="errorMessage" className={fieldCss.error}>
          {error}
        </Text>
      )}
      <Popover className={css.popover ?? ""} offset={4}>
        <ListBox className={css.list ?? ""} items={items}>
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
  return (
    <AriaComboBox
      className={classes(fieldCss.field, className)}
      allowsCustomValue
      menuTrigger="focus"
      {...(filter ? { defaultItems: items } : { items })}
      inputValue={value}
      onInputChange={onInput}
      onChange={(key) => key !== null && onPick?.(String(key))}
      isDisabled={props.isDisabled ?? false}
      isRequired={props.isRequired ?? false}
      autoFocus={props.autoFocus ?? false}
      isInvalid={Boolean(error)}
      {...(hideLabel ? { "aria-label": label } : {})}
    >
      {!hideLabel && <Label className={fieldCss.label}>{label}</Label>}
      <div className={css.combo}>
        <Input
          ref={inputRef}
          placeholder={placeholder}
          className={classes(fieldCss.input, mono && fieldCss.mono)}
          autoComplete="off"
          spellCheck={false}
        />
        <Button className={css.comboButton ?? ""} aria-label={t.showOptions}>
          <ChevronDown size={14} aria-hidden="true" />
        </Button>
      </div>
      {hint && (
        <Text slot="description" className={fieldCss.hint}>
          {hint}
        </Text>
      )}
      {error && (
        <Text slot="errorMessage" className={fieldCss.error}>
          {error}
        </Text>
      )}
      <Popover className={css.popover ?? ""} offset={4}>
        <ListBox className={css.list ?? ""}>{(item: Option) => <OptionRow item={item} />}</ListBox>
      </Popover>
    </AriaComboBox>
  );
}

function OptionRow({ item }: { item: Option }) {
  return (
    <ListBoxItem id={item.id} textValue={item.label} className={css.item ?? ""} isDisabled={item.isDisabled ?? false}>
      <span className={css.text}>
        <span>{item.label}</span>
        {item.hint && <span className={css.hint}>{item.hint}</span>}
      </span>
      <Check size={14} className={css.check} aria-hidden="true" />
    </ListBoxItem>
  );
}
