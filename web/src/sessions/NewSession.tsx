import { ChevronRight, FolderInput, SquareTerminal, TriangleAlert } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Button as AriaButton, Disclosure, DisclosurePanel, Heading } from "react-aria-components";
import { type ApiError, asApiError } from "../api/error";
import type { SessionSummary } from "../api/types";
import { keptDraft } from "../app/drafts";
import { go } from "../app/router";
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
import {
  emptyForm,
  type FormErrors,
  readForm,
  recall,
  remember,
  type SessionForm,
  toKeep,
  toRequest,
  usesAdvanced,
} from "./form";
import { shortModel } from "./list";
import css from "./NewSession.module.css";

const t = sessionsTexts.create;
const aliases = ["opus", "sonnet", "haiku"];
/** Each tab has a form of its own; one that is opened later begins with what was typed last. */
const kept = keptDraft("new-session", "apart");
/** Servers may be given keys: these are kept in memory alone. */
const keptServers = secretDraft("new-session.mcp");
/** Agents may bring servers of their own: these go with the tab. */
const keptAgents = draft("new-session.agents");

function keep(form: SessionForm): void {
  kept.set(toKeep(form));
  keptServers.set(form.mcp);
  keptAgents.set(form.agents);
}

/**
 * What the form begins with: what was typed and not sent, else the choices of last time, and before both what the caller wants. Without any
 * folder it is the one that a session was in last.
 */
function initial(preset: Preset | undefined, sessions: Iterable<SessionSummary>): SessionForm {
  const form =
    kept.get() === ""
      ? recall(globalThis.localStorage)
      : { ...readForm(kept.get()), mcp: keptServers.get(), agents: keptAgents.get() };
  if (form.dir === "") form.dir = latestFolder(sessions);
  return { ...form, ...(preset?.dir ? { dir: preset.dir } : {}), ...(preset?.prompt ? { prompt: preset.prompt } : {}) };
}

/** The folder that a session was in last. */
function latestFolder(sessions: Iterable<SessionSummary>): string {
  return [...sessions].sort((a, b) => Date.parse(b.updated) - Date.parse(a.updated))[0]?.dir ?? "";
}

/** Forgets what was typed and not sent. */
function discard(): void {
  kept.set("");
  keptServers.set("");
  keptAgents.set("");
}

/** The dialog that starts an agent. */
export function NewSession({ preset, onClose }: { preset?: Preset; onClose(): void }) {
  const hub = useHub();
  const info = useReadable(hub.info);
  const [form, setForm] = useState(() => initial(preset, hub.sessions.get().byId.values()));
  const [errors, setErrors] = useState<FormErrors>({});
  const [error, setError] = useState<ApiError>();
  const [pending, setPending] = useState(false);
  const clientIds = useClientIds();
  const [more, setMore] = useState(() => usesAdvanced(form));
  const body = useRef<HTMLFormElement>(null);
  const open = useRef(true);
  useEffect(() => {
    open.current = true;
    return () => {
      open.current = false;
    };
  }, []);

  const set = <K extends keyof SessionForm>(name: K, value: SessionForm[K]): void => {
    const next = { ...form, [name]: value };
    setForm(next);
    keep(next);
    if (errors[name]) setErrors({ ...errors, [name]: undefined });
  };
  const text = (name: Exclude<keyof SessionForm, "strictMcp">) => ({
    value: form[name],
    onChange: (value: string) => set(name, value),
    error: errors[name],
  });

  const submit = async (): Promise<void> => {
    if (pending) return;
    const { request, errors: wrong } = toRequest(form);
    setErrors(wrong ?? {});
    setError(undefined);
    if (!request) {
      if (wrong && (wrong.mcp || wrong.agents || wrong.dirs)) setMore(true);
      // The field is marked only when the new errors are drawn.
      requestAnimationFrame(() => body.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    setPending(true);
    const sent = kept.get();
    try {
      const session = await hub.api.call("create-session", { body: { ...request, client_id: clientIds.of(request) } });
      remember(globalThis.localStorage, form);
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
    setForm({ ...emptyForm, dir: latestFolder(hub.sessions.get().byId.values()) });
    discard();
    setMore(false);
    setErrors({});
    setError(undefined);
  };

  // Whoever closes the dialog in another way finds again what was typed.
  const cancel = (): void => {
    discard();
    onClose();
  };

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
      <FolderField value={form.dir} onChange={(dir) => set("dir", dir)} error={errors.dir} autoFocus />
      <TextArea
        label={t.prompt}
        hint={t.promptHint}
        placeholder={t.promptPlaceholder}
        minRows={3}
        maxRows={12}
        {...text("prompt")}
      />
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
      {form.mode === "bypassPermissions" && (
        <Note tone="danger" icon={<TriangleAlert size={16} aria-hidden="true" />}>
          {t.bypassWarning}
        </Note>
      )}
      <TextInput label={t.name} hint={t.nameHint} {...text("title")} />
      <Part title={t.rules} open={form.allow !== "" || form.deny !== ""}>
        <div className={css.pair}>
          <TextArea label={t.allow} hint={t.allowHint} mono {...text("allow")} />
          <TextArea label={t.deny} hint={t.denyHint} mono {...text("deny")} />
        </div>
      </Part>
      <Part title={t.limits} open={form.budget !== "" || form.turns !== "" || !!errors.budget || !!errors.turns}>
        <div className={css.pair}>
          <TextInput label={t.budget} hint={t.budgetHint} input={{ inputMode: "decimal" }} {...text("budget")} />
          <TextInput label={t.turns} hint={t.turnsHint} input={{ inputMode: "numeric" }} {...text("turns")} />
        </div>
      </Part>
      <Part title={t.advanced} open={more} onChange={setMore}>
        <TextArea label={t.dirs} hint={t.dirsHint} mono {...text("dirs")} />
        <div className={css.pair}>
          <Select
            label={t.effort}
            items={Object.entries(t.efforts).map(([id, label]) => ({ id: id || "default", label }))}
            value={form.effort || "default"}
            onChange={(id) => set("effort", id === "default" ? "" : id)}
          />
          <Select
            label={t.thinking}
            items={Object.entries(t.thinkings).map(([id, label]) => ({ id: id || "default", label }))}
            value={form.thinking || "default"}
            onChange={(id) => set("thinking", id === "default" ? "" : id)}
          />
        </div>
        <TextArea label={t.append} {...text("append")} />
        <TextArea label={t.system} hint={t.systemHint} {...text("system")} />
        <TextArea label={t.mcp} hint={t.mcpHint} mono {...text("mcp")} />
        <Checkbox isSelected={form.strictMcp} onChange={(on) => set("strictMcp", on)}>
          {t.strictMcp}
        </Checkbox>
        <TextArea label={t.agents} hint={t.agentsHint} mono {...text("agents")} />
      </Part>
    </FormDialog>
  );
}

/** A part of the form that can be folded. It opens by itself when something in it is set. */
function Part({
  title,
  open,
  onChange,
  children,
}: {
  title: string;
  open: boolean;
  onChange?(open: boolean): void;
  children: React.ReactNode;
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
        <div className={css.partBody}>{children}</div>
      </DisclosurePanel>
    </Disclosure>
  );
}

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
