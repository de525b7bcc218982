import type { Node } from "../api/types";
import { machinesTexts } from "../texts/machines";
import { type Option, Select } from "../ui/fields";
import { useNow } from "../ui/hooks";
import { visible } from "../ui/visible";
import { anyMachine, arrangeMachines, labelWords, loadPercent, refusalOf } from "./machines";

const t = machinesTexts.field;

/** Names of choices that no machine can have: one is named after an equals sign. */
const here = "here";
const any = "any";

/**
 * Why a session cannot be started on the machine of a form: an empty name is the hub's own, "any" leaves it to the hub. What is not known
 * yet, because the machines could not be read, is left to the hub.
 */
export function machineProblem(value: string, nodes: readonly Node[] | undefined, now: number): string | undefined {
  if (value === "" || nodes === undefined) return undefined;
  if (value === anyMachine) return nodes.some((node) => refusalOf(node, now) === undefined) ? undefined : t.anyNone;
  const node = nodes.find(({ name, id }) => name === value || id === value);
  return node ? refusalOf(node, now) : t.gone;
}

interface Props {
  /** The name of a machine, empty for the hub's own, or "any". */
  value: string;
  onChange(node: string): void;
  /** The machines, as far as they are known. */
  nodes: readonly Node[] | undefined;
  error?: string;
  /** What the machine is chosen for, below the field. */
  hint?: string;
  /** Without the choice that leaves it to the hub. */
  named?: boolean;
}

/** The choice of the machine that an agent runs on. Those that take no session say why not. */
export function MachineField({ value, onChange, nodes, error, hint = t.hint, named }: Props) {
  const now = useNow(20_000);
  const problem = machineProblem(value, nodes, now);
  // One that is locked out never comes back.
  const listed = arrangeMachines(nodes ?? []).filter(({ state }) => state !== "revoked");
  const missing = value !== "" && value !== anyMachine && !listed.some(({ name }) => name === value);
  return (
    <Select
      label={t.label}
      items={[
        { id: here, label: t.here, hint: t.hereHint },
        ...listed.map((node) => optionOf(node, now)),
        // One that was chosen before and is gone is shown, so that it can be seen what is wrong.
        ...(missing ? [{ id: `=${value}`, label: visible(value), hint: problem, isDisabled: true }] : []),
        ...(named ? [] : [anyOption(listed, now)]),
      ]}
      value={value === "" ? here : value === anyMachine ? any : `=${value}`}
      onChange={(id) => onChange(id === here ? "" : id === any ? anyMachine : id.slice(1))}
      hint={problem ? undefined : nodes === undefined ? t.unknown : hint}
      error={problem ?? error}
    />
  );
}

function optionOf(node: Node, now: number): Option {
  const refusal = refusalOf(node, now);
  const ready = t.ready(loadPercent(node), t.sessionsOf(node.sessions, node.max_sessions ?? 0));
  return {
    id: `=${node.name}`,
    label: visible(node.name),
    hint: [refusal ?? ready, ...labelWords(node.labels)].filter(Boolean).join(" · "),
    isDisabled: refusal !== undefined,
  };
}

function anyOption(nodes: readonly Node[], now: number): Option {
  const none = !nodes.some((node) => refusalOf(node, now) === undefined);
  return { id: any, label: t.any, hint: none ? t.anyNone : t.anyHint, isDisabled: none };
}
