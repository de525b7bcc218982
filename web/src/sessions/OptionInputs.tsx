import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button as AriaButton, Disclosure, DisclosurePanel, Heading } from "react-aria-components";
import { sessionsTexts } from "../texts/sessions";
import { Checkbox, Select, TextArea, TextInput } from "../ui/fields";
import type { FormErrors, SessionForm } from "./form";
import css from "./NewSession.module.css";
import { type Field, fieldOf, isFlag } from "./options";

const t = sessionsTexts.create;

/** Sets a field of the form. */
export type SetField = <K extends keyof SessionForm>(name: K, value: SessionForm[K]) => void;

interface Props {
  form: SessionForm;
  errors: FormErrors;
  set: SetField;
}

/** The input of an option, by its kind. */
export function OptionInput({ field, form, errors, set }: Props & { field: Field }) {
  const { kind } = fieldOf(field);
  const words: { label: string; hint?: string } = t.options[field];
  const { label, hint } = words;
  if (isFlag(field))
    return (
      <Checkbox isSelected={form[field]} onChange={(on) => set(field, on)} hint={hint}>
        {label}
      </Checkbox>
    );
  const common = { label, hint, value: form[field], onChange: (value: string) => set(field, value), error: errors[field] };
  switch (kind) {
    case "choice": {
      const names: { [id: string]: string } = field === "effort" ? t.efforts : t.thinkings;
      return (
        <Select
          label={label}
          items={Object.entries(names).map(([id, name]) => ({ id: id || "default", label: name }))}
          value={form[field] || "default"}
          onChange={(id) => set(field, id === "default" ? "" : id)}
        />
      );
    }
    case "word":
      return <TextInput {...common} />;
    case "number":
      return <TextInput {...common} input={{ inputMode: "numeric" }} />;
    case "money":
    case "minutes":
      return <TextInput {...common} input={{ inputMode: "decimal" }} />;
    case "text":
      return <TextArea {...common} />;
    default:
      return <TextArea {...common} mono input={{ spellCheck: false }} />;
  }
}

/** Inputs side by side, where there is room. */
export function OptionPair({ fields, ...rest }: Props & { fields: readonly Field[] }) {
  return (
    <div className={css.pair}>
      {fields.map((field) => (
        <OptionInput key={field} field={field} {...rest} />
      ))}
    </div>
  );
}

/** A part of the form that can be folded. It opens by itself when something in it is set or wrong. */
export function FormPart({
  title,
  open,
  onChange,
  children,
}: {
  title: string;
  open: boolean;
  onChange?(open: boolean): void;
  children: ReactNode;
}) {
  const [own, setOwn] = useState(open);
  const expanded = onChange ? open : own || open;
  return (
    <Disclosure className={css.part ?? ""} isExpanded={expanded} onExpandedChange={onChange ?? setOwn}>
      <Heading level={3} className={css.partTitle}>
        <AriaButton slot="trigger" className={css.trigger ?? ""}>
          <ChevronRight size={14} aria-hidden="true" className={css.chevron} />
          {title}
        </AriaButton>
      </Heading>
      <DisclosurePanel className={css.panel ?? ""}>
        {/* Most sessions need none of it, and dozens of fields take their time. */}
        {expanded && <div className={css.partBody}>{children}</div>}
      </DisclosurePanel>
    </Disclosure>
  );
}
