import { FolderInput, SquareTerminal, TriangleAlert } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import type { Preset as HubPreset, Node, SessionSummary } from "../api/types";
import { keptDraft } from "../app/drafts";
import { go } from "../app/router";
import { useLoad } from "../insight/useLoad";
import { LabelsField } from "../machines/LabelsField";
import { labelsProblem, machinesFor } from "../machines/labels";
import { MachineField, machineProblem } from "../machines/MachineField";
import { anyMachine, byLabels } from "../machines/machines";
import { useMachines } from "../machines/useMachines";
import { withConfirmation } from "../steer/bypass";
import { draft, secretDraft } from "../store/drafts";
import { useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { useReadable } from "../store/readable";
import { modeHint, modeName, modes } from "../texts/modes";
import { sessionsTexts } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { Checkbox, ComboBox, Select, TextArea, TextInput } from "../ui/fields";
import { sentence } from "../ui/format";
import { Note } from "../ui/notes";
import { openAdopt, openByHand, type Preset } from "./dialogs";
import { FolderField } from "./FolderField";
import { FormDialog } from "./FormDialog";
import { emptyForm, type FormErrors, readForm, recall, remember, type SessionForm, toHide, toKeep, toRequest } from "./form";
import { shortModel } from "./list";
import css from "./NewSession.module.css";
import { FormPart, OptionInput, OptionPair } from "./OptionInputs";
import { type emptyOptions, optionFields, type Part, partUsed, presetFields } from "./options";
import { preferred, savePreferences, usePreferences } from "./preferences";
import { SandboxField } from "./SandboxField";

const t = sessionsTexts.create;
const aliases = ["opus", "sonnet", "haiku"];
/** Each tab has a form of its own; one that is opened later begins with what was typed last. */
const kept = keptDraft("new-session", "apart");
/** Servers, settings and variables may be given keys: these are kept in memory alone. */
const keptSecrets = secretDraft("new-session.secrets");
/** Agents may bring servers of their own: these go with the tab. */
const keptAgents = draft("new-session.agents");

function keep(form: SessionForm): void {
  kept.set(toKeep(form));
  keptSecrets.set(toHide(form));
  keptAgents.set(form.agents);
}

/**
 * What the form begins with: what was typed and not sent, else the choices of last time, and before both what the caller wants. Without any
 * folder it is the one that a session was in last, on its machine.
 */
function initial(preset: Preset | undefined, sessions: Iterable<SessionSummary>): SessionForm {
  const form =
    kept.get() === ""
      ? recall(globalThis.localStorage)
      : { ...readForm(keptSecrets.get(), readForm(kept.get())), agents: keptAgents.get() };
  if (form.dir === "") Object.assign(form, latestPlace(sessions));
  return { ...form, ...(preset?.dir ? { dir: preset.dir, node: "" } : {}), ...(preset?.prompt ? { prompt: preset.prompt } : {}) };
}

/** The folder that a session was in last, and its machine. */
function latestPlace(sessions: Iterable<SessionSummary>): Pick<SessionForm, "dir" | "node"> {
  const latest = [...sessions].sort((a, b) => Date.parse(b.updated) - Date.parse(a.updated))[0];
  return { dir: latest?.dir ?? "", node: latest?.node ?? "" };
}

/** The folder that a session on a machine was in last. */
function latestFolderOn(node: string, sessions: Iterable<SessionSummary>): string {
  return latestPlace([...sessions].filter((session) => (session.node ?? "") === node)).dir;
}

/** The machine whose folders are suggested: with labels the only one that they fit, else one that the hub chooses. */
function folderNode({ node, labels }: SessionForm, nodes: readonly Node[] = []): string {
  if (node !== byLabels) return node;
  const [first, ...others] = machinesFor(labels, nodes, Date.now());
  return first && others.length === 0 ? first.name : anyMachine;
}

/** Forgets what was typed and not sent. */
function discard(): void {
  kept.set("");
  keptSecrets.set("");
  keptAgents.set("");
}

/** The dialog that starts an agent. */
export function NewSession({ preset, onClose }: { preset?: Preset; onClose(): void }) {
  const hub = useHub();
  const info = useReadable(hub.info);
  const [typed] = useState(() => kept.get() !== "");
  const [form, setForm] = useState(() => initial(preset, hub.sessions.get().byId.values()));
  const [save, setSave] = useState(false);
  const preferences = usePreferences(form, (fields) => setForm((now) => ({ ...now, ...fields })), typed);
  const [errors, setErrors] = useState<FormErrors>({});
  const [error, setError] = useState<ApiError>();
  const [pending, setPending] = useState(false);
  const clientIds = useClientIds();
  // Counts how often the form was reset: its parts are folded again.
  const [resets, setResets] = useState(0);
  const presets = usePresets();
  const machines = useMachines();
  // A folder that was typed here stays when the machine becomes another one.
  const folderTyped = useRef(typed);
  const chosen = presets.find((p) => p.name === form.preset);
  const body = useRef<HTMLFormElement>(null);
  const open = useRef(true);
  useEffect(() => {
    open.current = true;
    return () => {
      open.current = false;
    };
  }, []);

  const change = (next: SessionForm): void => {
    setForm(next);
    keep(next);
  };
  const set = <K extends keyof SessionForm>(name: K, value: SessionForm[K]): void => {
    change({ ...form, [name]: value });
    preferences.touch(name);
    if (errors[name]) setErrors({ ...errors, [name]: undefined });
  };
  const text = (name: "prompt" | "title") => ({
    value: form[name],
    onChange: (value: string) => set(name, value),
    error: errors[name],
  });
  // The fields become those of the preset: what is sent is what can be seen, but for what the hub hides.
  const choosePreset = (name: string): void => {
    const preset = presets.find((p) => p.name === name);
    const fields = presetFields(preset);
    withConfirmation(() => {
      change({ ...form, ...fields, preset: preset ? name : "" });
      for (const field of preferred) preferences.touch(field);
      setErrors({});
    }, form.mode)(fields.mode);
  };

  // Another machine has other folders: one that was not typed becomes the one that a session there was in last, if there was one.
  const chooseMachine = (node: string): void => {
    const latest = folderTyped.current ? "" : latestFolderOn(node, hub.sessions.get().byId.values());
    change({ ...form, node, dir: latest || form.dir });
    setErrors({ ...errors, node: undefined, labels: undefined, dir: undefined });
  };

  const submit = async (): Promise<void> => {
    if (pending) return;
    // A machine that was remembered means nothing to a hub that has none.
    const node = machines.value?.length === 0 ? "" : form.node;
    const made = toRequest({ ...form, node }, chosen);
    const unfit = machineProblem(node, machines.value, Date.now());
    const unmet = node === byLabels ? labelsProblem(form.labels, machines.value, Date.now()) : undefined;
    const wrong = { ...made.errors, ...(unfit ? { node: unfit } : {}), ...(unmet ? { labels: unmet } : {}) };
    const request = unfit || unmet ? undefined : made.request;
    setErrors(wrong);
    setError(undefined);
    if (!request) {
      // The field is marked only when the new errors are drawn.
      requestAnimationFrame(() => body.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    setPending(true);
    const sent = kept.get();
    try {
      const session = await hub.api.call("create-session", { body: { ...request, client_id: clientIds.of(request) } });
      remember(globalThis.localStorage, { ...form, node });
      if (save) void savePreferences(hub, form);
      if (sent === kept.get()) discard();
      // Who has closed the dialog meanwhile does something else by now, and finds the session in the list.
      if (!open.current) return;
      onClose();
      go({ page: "session", id: session.id });
    } catch (e) {
      const failed = asApiError(e);
      // A folder that does not exist is told in words alone, and then where it was typed.
      if (failed.detail?.includes(request.dir)) {
        setErrors({ dir: sentence(failed.detail) });
        requestAnimationFrame(() => body.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      } else setError(failed);
      setPending(false);
    }
  };

  const reset = (): void => {
    const empty = { ...emptyForm, ...latestPlace(hub.sessions.get().byId.values()) };
    setForm(empty);
    folderTyped.current = false;
    preferences.restart(empty);
    setSave(false);
    discard();
    setResets(resets + 1);
    setErrors({});
    setError(undefined);
  };

  // Whoever closes the dialog in another way finds again what was typed.
  const cancel = (): void => {
    discard();
    onClose();
  };

  // While they are not known, what was chosen before is shown all the same.
  const hasMachines = machines.value ? machines.value.length > 0 : form.node !== "" && !machines.loading;
  return (
    <FormDialog
      title={t.title}
      action={t.submit}
      pending={pending}
      error={error}
      onSubmit={submit}
      onCancel={cancel}
      onClose={onClose}
      formRef={body}
      other={
        <Button variant="quiet" className={css.reset} onPress={reset}>
          {t.forget}
        </Button>
      }
    >
      <div className={css.top}>
        {info?.simulated && <p>{t.simulated}</p>}
        <div className={css.other}>
          <Button size="s" variant="quiet" icon={<FolderInput size={16} />} onPress={openAdopt}>
            {t.orAdopt}
          </Button>
          <Button size="s" variant="quiet" icon={<SquareTerminal size={16} />} onPress={() => openByHand(form.dir.trim())}>
            {t.orByHand}
          </Button>
        </div>
      </div>
      {hasMachines && <MachineField value={form.node} onChange={chooseMachine} nodes={machines.value} error={errors.node} />}
      {hasMachines && form.node === byLabels && (
        <LabelsField
          value={form.labels}
          onChange={(labels) => set("labels", labels)}
          nodes={machines.value}
          error={errors.labels}
        />
      )}
      <FolderField
        value={form.dir}
        node={hasMachines ? folderNode(form, machines.value) : ""}
        onChange={(dir) => {
          folderTyped.current = true;
          set("dir", dir);
        }}
        error={errors.dir}
        autoFocus
      />
      <TextArea
        label={t.prompt}
        hint={t.promptHint}
        placeholder={t.promptPlaceholder}
        minRows={3}
        maxRows={12}
        {...text("prompt")}
      />
      {presets.length > 0 && (
        <PresetField presets={presets} chosen={chosen} onChange={choosePreset} missing={form.preset !== "" && !chosen} />
      )}
      <div className={css.pair}>
        <ModelField value={form.model} onChange={(model) => set("model", model)} />
        <Select
          label={t.mode}
          items={modes.map((id) => ({ id, label: modeName(id), hint: modeHint(id) }))}
          value={form.mode}
          onChange={withConfirmation((mode) => set("mode", mode), form.mode)}
          hint={modeHint(form.mode)}
        />
      </div>
      <SandboxField
        mode={form.sandbox}
        autoAllow={form.autoAllow}
        onMode={(mode) => set("sandbox", mode)}
        onAutoAllow={(on) => set("autoAllow", on)}
      />
      {preferences.used && <p className={css.used}>{t.preferred}</p>}
      {form.mode === "bypassPermissions" && (
        <Note tone="danger" icon={<TriangleAlert size={16} aria-hidden="true" />}>
          {t.bypassWarning}
        </Note>
      )}
      <TextInput label={t.name} hint={t.nameHint} {...text("title")} />
      {parts.map(({ part, title, rows }) => (
        <FormPart
          key={`${part}.${resets}`}
          title={title}
          open={partUsed(form, part) || optionFields.some((f) => "part" in f && f.part === part && errors[f.field])}
        >
          {rows.map((fields) =>
            fields.length > 1 ? (
              <OptionPair key={fields[0]} fields={fields} form={form} errors={errors} set={set} />
            ) : (
              fields.map((field) => <OptionInput key={field} field={field} form={form} errors={errors} set={set} />)
            ),
          )}
        </FormPart>
      ))}
      <Checkbox isSelected={save} onChange={setSave} hint={form.mode === "bypassPermissions" ? t.saveNotBypass : t.saveHint}>
        {t.save}
      </Checkbox>
    </FormDialog>
  );
}

/** The parts that are folded away, and what stands in a row. */
const parts = [
  { part: "rules", title: t.rules, rows: [["allow", "deny"], ["tools"], ["askPlanMode"], ["allowBypass"]] },
  {
    part: "limits",
    title: t.limits,
    rows: [["budget", "turns"], ["thinkingTokens", "taskBudget"], ["deadline"], ["resumeAtReset"]],
  },
  {
    part: "turns",
    title: t.turnsPart,
    rows: [["fresh"], ["noPersistence"], ["suggestions"], ["planInstructions"], ["schema"], ["dialogs"]],
  },
  {
    part: "advanced",
    title: t.advanced,
    rows: [
      ["dirs"],
      ["effort", "thinking"],
      ["fallback", "agent"],
      ["append"],
      ["system"],
      ["mcp"],
      ["strictMcp"],
      ["agents"],
      ["agentText"],
      ["agentProgress"],
      ["skills", "aliases"],
    ],
  },
  {
    part: "claude",
    title: t.claudePart,
    rows: [["env"], ["settings"], ["sources", "betas"], ["plugins", "args"], ["ownName"], ["stableSystem"], ["hookEvents"]],
  },
] as const satisfies readonly { part: Part; title: string; rows: readonly (readonly (keyof typeof emptyOptions)[])[] }[];

/** The presets of the hub; none if they cannot be read. */
function usePresets(): readonly HubPreset[] {
  const { api } = useHub();
  const read = useCallback(async (signal: AbortSignal) => (await api.call("list-presets", { signal })).presets ?? [], [api]);
  return useLoad(read).value ?? [];
}

/** What the session begins with: nothing, or a preset of the hub's configuration. */
function PresetField({
  presets,
  chosen,
  missing,
  onChange,
}: {
  presets: readonly HubPreset[];
  chosen: HubPreset | undefined;
  missing: boolean;
  onChange(name: string): void;
}) {
  const hidden = Object.entries(chosen?.hidden ?? {}).map(([option, names]) => t.presetHidden(option, names ?? []));
  return (
    <Select
      label={t.preset}
      items={[
        { id: noPreset, label: t.presetNone },
        ...presets.map((p) => ({ id: `=${p.name}`, label: p.name, hint: p.description })),
      ]}
      value={chosen ? `=${chosen.name}` : noPreset}
      onChange={(id) => onChange(id === noPreset ? "" : id.slice(1))}
      hint={hidden.length > 0 ? t.presetAlso(hidden.join(", ")) : (chosen?.description ?? t.presetHint)}
      error={missing ? t.presetGone : undefined}
    />
  );
}

const noPreset = "none";

/** The model: any name, with those that the CLI has aliases for and those that sessions use. */
function ModelField({ value, onChange }: { value: string; onChange(model: string): void }) {
  const { byId } = useReadable(useHub().sessions);
  const items = useMemo(() => {
    const used = [...new Set([...byId.values()].flatMap((s) => (s.model ? [s.model] : [])))].sort();
    return [...aliases, ...used.filter((model) => !aliases.includes(model))].map((id) => ({
      id,
      label: id,
      hint: aliases.includes(id) || shortModel(id) === id ? undefined : shortModel(id),
    }));
  }, [byId]);
  const words = value.trim().toLowerCase();
  const exact = items.some((item) => item.label === value);
  return (
    <ComboBox
      label={t.model}
      hint={t.modelHint}
      items={exact || !words ? items : items.filter((item) => item.label.toLowerCase().includes(words))}
      value={value}
      onInput={onChange}
    />
  );
}
