import type { Node } from "../api/types";
import { machinesTexts } from "../texts/machines";
import { type Option, Select } from "../ui/fields";
import { useNow } from "../ui/hooks";
import { visible } from "../ui/visible";
import { anyMachine, arrangeMachines, byLabels, labelWords, loadPercent, refusalOf } from "./machines";

const t = machinesTexts.field;

/** Names of choices that no machine can have: one is named after an equals sign. */
const here = "here";
const any = "any";
const labels = "labels";

/**
 * Why a session cannot be started on the machine of a form: an empty name is the hub's own, "any" leaves it to the hub, and what is wrong
 * with labels is told by their own field. What is not known yet, because the machines could not be read, is left to the hub.
 */
export function machineProblem(value: string, nodes: readonly Node[] | undefined, now: number): string | undefined {
  if (value === "" || value === byLabels || nodes === undefined) return undefined;
  if (value === anyMachine) return nodes.some((node) => refusalOf(node, now) === undefined) ? undefined : t.anyNone;
  const node = nodes.find(({ name, id }) => name === value || id === value);
  return node ? refusalOf(node, now) : t.gone;
}

interface Props {
  /** The name of a machine, empty for the hub's own, "any", or byLabels. */
  value: string;
  onChange(node: string): void;
  /** The machines, as far as they are known. */
  nodes: readonly Node[] | undefined;
  error?: string;
  /** What the machine is chosen for, below the field. */
  hint?: string;
  /** Without the choices that leave it to the hub. */
  named?: boolean;
}

/** The choice of the machine that an agent runs on. Those that take no session say why not. */
export function MachineField({ value, onChange, nodes, error, hint = t.hint, named }: Props) {
  const now = useNow(20_000);
  const problem = machineProblem(value, nodes, now);
  // One that is locked out never comes back.
  const listed = arrangeMachines(nodes ?? []).filter(({ state }) => state !== "revoked");
  const missing = ![here, any, labels].includes(choiceOf(value)) && !listed.some(({ name }) => name === value);
  return (
    <Select
      label={t.label}
      items={[
        { id: here, label: t.here, hint: t.hereHint },
        ...listed.map((node) => optionOf(node, now)),
        // One that was chosen before and is gone is shown, so that it can be seen what is wrong.
        ...(missing ? [{ id: `=${value}`, label: visible(value), hint: problem, isDisabled: true }] : []),
        ...(named ? [] : [anyOption(listed, now), labelsOption(listed)]),
      ]}
      value={choiceOf(value)}
      onChange={(id) => onChange(machineOf(id))}
      hint={problem ? undefined : nodes === undefined ? t.unknown : hint}
      error={problem ?? error}
    />
  );
}

function choiceOf(value: string): string {
  if (value === "") return here;
  if (value === anyMachine) return any;
  return value === byLabels ? labels : `=${value}`;
}

function machineOf(choice: string): string {
  if (choice === here) return "";
  if (choice === any) return anyMachine;
  return choice === labels ? byLabels : choice.slice(1);
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

function labelsOption(nodes: readonly Node[]): Option {
  const none = !nodes.some((node) => Object.keys(node.labels ?? {}).length > 0);
  return { id: labels, label: t.labels, hint: none ? t.labelsNone : t.labelsHint, isDisabled: none };
}
