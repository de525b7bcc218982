import type { CreateSession, Preset } from "../api/types";
import { readLabels } from "../machines/labels";
import { byLabels } from "../machines/machines";
import { modes } from "../texts/modes";
import { isSandboxMode } from "../texts/sandbox";
import { sessionsTexts } from "../texts/sessions";
import { absolute, emptyOptions, exceptions, isFlag, type OptionForm, optionFields, toOptions } from "./options";

const t = sessionsTexts.create;

/** The text in the form of a new session. */
export interface SessionForm extends OptionForm {
  dir: string;
  /** The name of the machine that the agent runs on; empty for the hub's own, "any" or byLabels for one that the hub chooses. */
  node: string;
  /** The labels that the machine must have, as they are typed. They count if the machine is chosen by them. */
  labels: string;
  prompt: string;
  title: string;
  /** The name of the preset that the fields began with; empty without one. */
  preset: string;
}

export const emptyForm: SessionForm = { ...emptyOptions, dir: "", node: "", labels: "", prompt: "", title: "", preset: "" };

export type FormErrors = { [K in keyof SessionForm]?: string };

/** What is wrong with the folder that an agent is to work in; undefined if nothing is. */
export function folderProblem(dir: string): string | undefined {
  if (dir.trim() === "") return t.folderMissing;
  return absolute(dir.trim()) ? undefined : t.folderRelative;
}

/**
 * Makes a request of the form, or says what is wrong with it. Whatever is left empty is left out; what a preset had and the form has not is
 * an exception of the preset.
 */
export function toRequest(
  form: SessionForm,
  preset?: Preset,
): { request: Omit<CreateSession, "client_id">; errors?: undefined } | { request?: undefined; errors: FormErrors } {
  const { options, errors: wrong } = toOptions(form);
  const errors: FormErrors = { ...wrong };
  const dir = form.dir.trim();
  const problem = folderProblem(dir);
  if (problem) errors.dir = problem;
  const wanted = form.node === byLabels ? readLabels(form.labels) : undefined;
  if (wanted?.problem) errors.labels = wanted.problem;
  if (Object.keys(errors).length > 0) return { errors };
  const request: Omit<CreateSession, "client_id"> = { dir, options };
  if (wanted?.labels) request.node_labels = wanted.labels;
  else if (form.node) request.node = form.node;
  if (form.prompt.trim()) request.prompt = form.prompt;
  if (form.title.trim()) request.title = form.title.trim();
  if (form.preset) {
    request.preset = form.preset;
    const except = exceptions(preset, options);
    if (except.length > 0) request.except = except;
  }
  return { request };
}

/** Fields whose texts may be secrets. */
const secrets = optionFields.flatMap((f) => ("secret" in f ? [f.field] : []));

/**
 * The form as it is kept while it is being filled in. Servers, settings, variables and raw flags may be given keys, and so may agents, which
 * can bring servers of their own: they are kept elsewhere. What asks nobody is chosen each time anew.
 */
export function toKeep(form: SessionForm): string {
  const mode = form.mode === "bypassPermissions" ? emptyForm.mode : form.mode;
  const without = Object.fromEntries([...secrets, "agents"].map((field) => [field, ""]));
  return JSON.stringify({ ...form, mode, ...without });
}

/** What toKeep leaves out and only memory may have. */
export function toHide(form: SessionForm): string {
  const typed = secrets.filter((field) => form[field] !== "");
  return typed.length > 0 ? JSON.stringify(Object.fromEntries(typed.map((field) => [field, form[field]]))) : "";
}

/** What is remembered for the next session. What is said to an agent, and what may hold secrets, is not. */
const remembered = [
  "dir",
  "node",
  "labels",
  "model",
  "mode",
  "sandbox",
  "autoAllow",
  "allow",
  "deny",
  "budget",
  "turns",
  "effort",
  "thinking",
] as const satisfies readonly (keyof SessionForm)[];

/** Reads a form that was kept as text, over another one; whatever does not fit is as in that. */
export function readForm(text: string | null, over: SessionForm = emptyForm): SessionForm {
  const form: { [name: string]: string | boolean } & SessionForm = { ...over };
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "");
  } catch {
    return form;
  }
  if (typeof kept !== "object" || kept === null) return form;
  for (const [name, value] of Object.entries(kept)) {
    if (!Object.hasOwn(emptyForm, name)) continue;
    if (isFlag(name)) form[name] = value === true;
    else if (typeof value === "string") form[name] = value;
  }
  if (!modes.some((mode) => mode === form.mode)) form.mode = emptyForm.mode;
  if (!isSandboxMode(form.sandbox)) form.sandbox = emptyForm.sandbox;
  return form;
}

const storageKey = "switchboard.new-session";

/** The form as it begins: with the choices of last time. */
export function recall(storage: Pick<Storage, "getItem"> | undefined): SessionForm {
  try {
    const form = readForm(storage?.getItem(storageKey) ?? null);
    // What asks nobody, and what nothing holds back, is chosen each time anew.
    if (form.sandbox === "off") form.sandbox = emptyForm.sandbox;
    return form.mode === "bypassPermissions" ? { ...form, mode: emptyForm.mode } : form;
  } catch {
    return { ...emptyForm };
  }
}

/** Keeps the choices of a form that was sent; of one with a preset where it runs alone, for the rest is the preset's. */
export function remember(storage: Pick<Storage, "getItem" | "setItem"> | undefined, form: SessionForm): void {
  try {
    const choices = form.preset ? { ...recall(storage), dir: form.dir, node: form.node, labels: form.labels } : form;
    storage?.setItem(storageKey, JSON.stringify(Object.fromEntries(remembered.map((name) => [name, choices[name]]))));
  } catch {
    // Without storage the next form begins empty.
  }
}
