import { useHub } from "../store/hub";
import { type SandboxMode, sandboxModes, sandboxTexts as t } from "../texts/sandbox";
import { Checkbox, Select } from "../ui/fields";
import css from "./SandboxField.module.css";

/** The choice that stands for no choice: a list needs a name for it. */
const hubDefault = "default";

interface Props {
  /** The mode; empty for the hub's default. */
  mode: string;
  autoAllow: boolean;
  onMode(mode: string): void;
  onAutoAllow(on: boolean): void;
  isDisabled?: boolean;
}

/** What the operating system holds the agent back by, and whether that is enough to run commands without asking. */
export function SandboxField({ mode, autoAllow, onMode, onAutoAllow, isDisabled = false }: Props) {
  const admin = useHub().can("admin");
  const strict = mode === ("strict" satisfies SandboxMode);
  return (
    <div className={css.pair}>
      <Select
        label={t.label}
        items={[
          { id: hubDefault, label: t.hubDefault, hint: t.hint("") },
          ...sandboxModes.map((id) => ({ id, label: t.nameOf(id), hint: t.hint(id), isDisabled: id === "off" && !admin })),
        ]}
        value={mode || hubDefault}
        onChange={(id) => onMode(id === hubDefault ? "" : id)}
        hint={t.hint(mode)}
        isDisabled={isDisabled}
      />
      <Checkbox
        className={css.beside}
        isSelected={strict && autoAllow}
        onChange={onAutoAllow}
        isDisabled={!strict || isDisabled}
        hint={t.autoAllowHint}
      >
        {t.autoAllow}
      </Checkbox>
    </div>
  );
}
