import type { CreateSession, Json, SessionOptions } from "../api/types";
import { modes } from "../texts/modes";
import { sessionsTexts } from "../texts/sessions";

const t = sessionsTexts.create;

/** What somebody has typed into the form of a new session. Lists have an entry per line. */
export interface SessionForm {
  dir: string;
  prompt: string;
  title: string;
  model: string;
  mode: string;
  allow: string;
  deny: string;
  budget: string;
  turns: string;
  dirs: string;
  append: string;
  system: string;
  effort: string;
  thinking: string;
  mcp: string;
  strictMcp: boolean;
  agents: string;
}

export const emptyForm: SessionForm = {
  dir: "",
  prompt: "",
  title: "",
  model: "",
  mode: "default",
  allow: "",
  deny: "",
  budget: "",
  turns: "",
  dirs: "",
  append: "",
  system: "",
  effort: "",
  thinking: "",
  mcp: "",
  strictMcp: false,
  agents: "",
};

export type FormErrors = { [K in keyof SessionForm]?: string };

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function absolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
}

/** What is wrong with the folder that an agent is to work in; undefined if nothing is. */
export function folderProblem(dir: string): string | undefined {
  if (dir.trim() === "") return t.folderMissing;
  return absolute(dir.trim()) ? undefined : t.folderRelative;
}

/** Reads a number above zero; undefined if the text is empty, an error if it is none. */
function amount(text: string, whole: boolean): { value?: number; error?: string } {
  const typed = text.trim().replace(/^\$/, "").replace(",", ".");
  if (typed === "") return {};
  const value = Number(typed);
  if (!Number.isFinite(value) || value <= 0) return { error: whole ? t.notWhole : t.notNumber };
  if (whole && !Number.isInteger(value)) return { error: t.notWhole };
  return { value };
}

/** Reads an object in JSON; undefined if the text is empty. */
function object(text: string): { value?: { [name: string]: Json }; error?: string } {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (e) {
    return { error: t.notJson(e instanceof Error ? e.message : String(e)) };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { error: t.notObject };
  return { value: value as { [name: string]: Json } };
}

/** The files of the CLI have their servers in a member of this name, and that is what people paste. */
function unwrapped(value: { [name: string]: Json }): { [name: string]: Json } {
  const inner = value.mcpServers;
  const alone = Object.keys(value).length === 1 && typeof inner === "object" && inner !== null && !Array.isArray(inner);
  return alone ? inner : value;
}

/** Makes a request of the form, or says what is wrong with it. Whatever is left empty is left out. */
export function toRequest(
  form: SessionForm,
): { request: Omit<CreateSession, "client_id">; errors?: undefined } | { request?: undefined; errors: FormErrors } {
  const errors: FormErrors = {};
  const dir = form.dir.trim();
  const wrong = folderProblem(dir);
  if (wrong) errors.dir = wrong;
  const budget = amount(form.budget, false);
  if (budget.error) errors.budget = budget.error;
  const turns = amount(form.turns, true);
  if (turns.error) errors.turns = turns.error;
  const mcp = object(form.mcp);
  if (mcp.value) mcp.value = unwrapped(mcp.value);
  if (mcp.error) errors.mcp = mcp.error;
  const agents = object(form.agents);
  if (agents.error) errors.agents = agents.error;
  const dirs = lines(form.dirs);
  if (!dirs.every(absolute)) errors.dirs = t.folderRelative;
  if (Object.keys(errors).length > 0) return { errors };

  const options: SessionOptions = {};
  const allow = lines(form.allow);
  const deny = lines(form.deny);
  if (form.model.trim()) options.model = form.model.trim();
  // The usual mode is named too: else the CLI's own settings would decide, and the form would have said something else.
  options.permission_mode = form.mode;
  if (allow.length > 0) options.allowed_tools = allow;
  if (deny.length > 0) options.disallowed_tools = deny;
  if (budget.value !== undefined) options.max_budget_usd = budget.value;
  if (turns.value !== undefined) options.max_turns = turns.value;
  if (dirs.length > 0) options.add_dirs = dirs;
  if (form.append.trim()) options.append_system_prompt = form.append;
  if (form.system.trim()) options.system_prompt = form.system;
  if (form.effort) options.effort = form.effort;
  if (form.thinking) options.thinking = form.thinking;
  if (mcp.value) options.mcp_servers = mcp.value;
  if (form.strictMcp) options.strict_mcp = true;
  if (agents.value) options.agents = agents.value;

  const request: Omit<CreateSession, "client_id"> = { dir, options };
  if (form.prompt.trim()) request.prompt = form.prompt;
  if (form.title.trim()) request.title = form.title.trim();
  return { request };
}

/** The fields behind "More options". */
export const advancedFields = [
  "dirs",
  "append",
  "system",
  "effort",
  "thinking",
  "mcp",
  "strictMcp",
  "agents",
] as const satisfies readonly (keyof SessionForm)[];

/** Whether something is set behind "More options", so that it is not overlooked. */
export function usesAdvanced(form: SessionForm): boolean {
  return advancedFields.some((name) => form[name] !== emptyForm[name]);
}

/**
 * The form as it is kept while it is being filled in. The servers may be given keys, and so may agents, which can bring servers of their
 * own: both are kept elsewhere. What asks nobody is chosen each time anew.
 */
export function toKeep(form: SessionForm): string {
  const mode = form.mode === "bypassPermissions" ? emptyForm.mode : form.mode;
  return JSON.stringify({ ...form, mode, mcp: "", agents: "" });
}

/** What is remembered for the next session. What is said to an agent, and what may hold secrets, is not. */
const remembered = [
  "dir",
  "model",
  "mode",
  "allow",
  "deny",
  "budget",
  "turns",
  "effort",
  "thinking",
] as const satisfies readonly (keyof SessionForm)[];

/** Reads a form that was kept as text; whatever does not fit is as in an empty one. */
export function readForm(text: string | null): SessionForm {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "");
  } catch {
    return { ...emptyForm };
  }
  if (typeof kept !== "object" || kept === null) return { ...emptyForm };
  const form: SessionForm = { ...emptyForm };
  for (const [name, value] of Object.entries(kept)) {
    if (name === "strictMcp") form.strictMcp = value === true;
    else if (isTextField(name) && typeof value === "string") form[name] = value;
  }
  if (!modes.some((mode) => mode === form.mode)) form.mode = emptyForm.mode;
  return form;
}

type TextField = Exclude<keyof SessionForm, "strictMcp">;

function isTextField(name: string): name is TextField {
  return name !== "strictMcp" && Object.hasOwn(emptyForm, name);
}

const storageKey = "switchboard.new-session";

/** The form as it begins: with the choices of last time. */
export function recall(storage: Pick<Storage, "getItem"> | undefined): SessionForm {
  try {
    const form = readForm(storage?.getItem(storageKey) ?? null);
    // What asks nobody is chosen each time anew.
    return form.mode === "bypassPermissions" ? { ...form, mode: emptyForm.mode } : form;
  } catch {
    return { ...emptyForm };
  }
}

/** Keeps the choices of a form that was sent. */
export function remember(storage: Pick<Storage, "setItem"> | undefined, form: SessionForm): void {
  try {
    storage?.setItem(storageKey, JSON.stringify(Object.fromEntries(remembered.map((name) => [name, form[name]]))));
  } catch {
    // Without storage the next form begins empty.
  }
}
