import { useMemo } from "react";
import type { Node } from "../api/types";
import { machinesTexts } from "../texts/machines";
import { ComboBox } from "../ui/fields";
import { useNow } from "../ui/hooks";
import { visible } from "../ui/visible";
import { labelsProblem, machinesFor, readLabels, suggestLabels } from "./labels";

const t = machinesTexts.labels;

interface Props {
  /** NAME=VALUE, with commas between them. */
  value: string;
  onChange(labels: string): void;
  /** The machines, as far as they are known. */
  nodes: readonly Node[] | undefined;
  error?: string;
}

/** The labels by which the hub chooses a machine, with those that the machines have. It tells which machine that can be. */
export function LabelsField({ value, onChange, nodes, error }: Props) {
  const now = useNow(20_000);
  const items = useMemo(() => suggestLabels(value, nodes ?? []), [value, nodes]);
  return (
    <ComboBox
      label={t.label}
      placeholder={t.placeholder}
      hint={error ? undefined : hintOf(value, nodes, now)}
      error={error}
      mono
      isRequired
      value={value}
      onInput={onChange}
      items={items}
    />
  );
}

/** A label that is still being typed is no error yet, and one that no machine has is told without alarm until the form is sent. */
function hintOf(value: string, nodes: readonly Node[] | undefined, now: number): string {
  if (nodes === undefined || !readLabels(value).labels) return t.hint;
  return labelsProblem(value, nodes, now) ?? t.fits(machinesFor(value, nodes, now).map(({ name }) => visible(name)));
}
