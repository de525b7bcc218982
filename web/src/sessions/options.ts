import type { Json, Preset, SessionOptions } from "../api/types";
import { isObject } from "../talk/json";
import { sessionsTexts } from "../texts/sessions";

const t = sessionsTexts.create;

/**
 * How an option is typed: a word, a text, a whole number, an amount of money, minutes, an entry per line, NAME=VALUE per line, a flag of the
 * CLI per line, an object in JSON, a choice, or a box to tick.
 */
export type Kind = "word" | "text" | "number" | "money" | "minutes" | "lines" | "pairs" | "args" | "json" | "choice" | "flag";

/** The parts of the form that are folded away. */
export type Part = "rules" | "limits" | "turns" | "advanced" | "claude";

export type OptionName = keyof SessionOptions;

/** An option of a session, and the field of the form that it is typed into. */
export interface OptionField {
  readonly option: OptionName;
  readonly kind: Kind;
  /** Undefined if it is always shown. */
  readonly part?: Part;
  /** It may hold secrets: it is kept in memory alone. */
  readonly secret?: boolean;
  /** Its lines are full paths. */
  readonly paths?: boolean;
  /** "none" stands for an empty list, which differs from no list. */
  readonly none?: boolean;
}

/** Every option that a session can be started with. A test compares this with the OpenAPI document. */
export const optionFields = [
  { field: "model", option: "model", kind: "word" },
  { field: "mode", option: "permission_mode", kind: "choice" },
  { field: "sandbox", option: "sandbox", kind: "choice" },
  { field: "autoAllow", option: "sandbox_auto_allow", kind: "flag" },
  { field: "allow", option: "allowed_tools", kind: "lines", part: "rules" },
  { field: "deny", option: "disallowed_tools", kind: "lines", part: "rules" },
  { field: "tools", option: "tools", kind: "lines", part: "rules", none: true },
  { field: "askPlanMode", option: "ask_plan_mode", kind: "flag", part: "rules" },
  { field: "allowBypass", option: "allow_bypass", kind: "flag", part: "rules" },
  { field: "budget", option: "max_budget_usd", kind: "money", part: "limits" },
  { field: "turns", option: "max_turns", kind: "number", part: "limits" },
  { field: "thinkingTokens", option: "max_thinking_tokens", kind: "number", part: "limits" },
  { field: "taskBudget", option: "task_budget", kind: "number", part: "limits" },
  { field: "deadline", option: "question_deadline", kind: "minutes", part: "limits" },
  { field: "resumeAtReset", option: "resume_at_reset", kind: "flag", part: "limits" },
  { field: "fresh", option: "fresh", kind: "flag", part: "turns" },
  { field: "noPersistence", option: "no_persistence", kind: "flag", part: "turns" },
  { field: "suggestions", option: "prompt_suggestions", kind: "flag", part: "turns" },
  { field: "planInstructions", option: "plan_mode_instructions", kind: "text", part: "turns" },
  { field: "schema", option: "json_schema", kind: "json", part: "turns" },
  { field: "dialogs", option: "supported_dialog_kinds", kind: "lines", part: "turns" },
  { field: "dirs", option: "add_dirs", kind: "lines", part: "advanced", paths: true },
  { field: "effort", option: "effort", kind: "choice", part: "advanced" },
  { field: "thinking", option: "thinking", kind: "choice", part: "advanced" },
  { field: "fallback", option: "fallback_model", kind: "word", part: "advanced" },
  { field: "append", option: "append_system_prompt", kind: "text", part: "advanced" },
  { field: "system", option: "system_prompt", kind: "text", part: "advanced" },
  { field: "mcp", option: "mcp_servers", kind: "json", part: "advanced", secret: true },
  { field: "strictMcp", option: "strict_mcp", kind: "flag", part: "advanced" },
  { field: "agents", option: "agents", kind: "json", part: "advanced" },
  { field: "agent", option: "agent", kind: "word", part: "advanced" },
  { field: "agentText", option: "forward_subagent_text", kind: "flag", part: "advanced" },
  { field: "agentProgress", option: "agent_progress_summaries", kind: "flag", part: "advanced" },
  { field: "skills", option: "skills", kind: "lines", part: "advanced" },
  { field: "aliases", option: "tool_aliases", kind: "pairs", part: "advanced" },
  { field: "env", option: "env", kind: "pairs", part: "claude", secret: true },
  { field: "settings", option: "settings", kind: "json", part: "claude", secret: true },
  { field: "sources", option: "setting_sources", kind: "lines", part: "claude", none: true },
  { field: "plugins", option: "plugin_dirs", kind: "lines", part: "claude", paths: true },
  { field: "betas", option: "betas", kind: "lines", part: "claude" },
  { field: "args", option: "extra_args", kind: "args", part: "claude", secret: true },
  { field: "ownName", option: "name", kind: "word", part: "claude" },
  { field: "stableSystem", option: "exclude_dynamic_sections", kind: "flag", part: "claude" },
  { field: "hookEvents", option: "include_hook_events", kind: "flag", part: "claude" },
] as const satisfies readonly (OptionField & { field: string })[];

type Each = (typeof optionFields)[number];
/** The names of the fields of options. */
export type Field = Each["field"];
export type FlagField = Extract<Each, { kind: "flag" }>["field"];
export type TextField = Exclude<Field, FlagField>;

/** The text in the fields of options. Lists have an entry per line. */
export type OptionForm = { [K in TextField]: string } & { [K in FlagField]: boolean };

/** The fields as they are before anything is typed. */
export const emptyOptions: OptionForm = {
  ...(Object.fromEntries(optionFields.map((f) => [f.field, f.kind === "flag" ? false : ""])) as unknown as OptionForm),
  // Named even so: else the CLI's own settings would decide, and the form would have said something else.
  mode: "default",
};

export function isFlag(field: string): field is FlagField {
  return optionFields.some((f) => f.field === field && f.kind === "flag");
}

export function fieldOf(field: Field): OptionField & { field: Field } {
  const found = optionFields.find((f) => f.field === field);
  if (!found) throw new Error(`there is no field ${field}`);
  return found;
}

/** Whether something in a part of the form is set, so that it is not overlooked. */
export function partUsed(form: OptionForm, part: Part): boolean {
  return optionFields.some((f) => "part" in f && f.part === part && form[f.field] !== emptyOptions[f.field]);
}

type Read = { value?: Json; error?: string };

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

export function absolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
}

/** Reads a number above zero; nothing if the text is empty, an error if it is none. */
function amount(text: string, whole: boolean): { value?: number; error?: string } {
  const typed = text.trim().replace(/^\$/, "").replace(",", ".");
  if (typed === "") return {};
  const value = Number(typed);
  if (!Number.isFinite(value) || value <= 0) return { error: whole ? t.notWhole : t.notNumber };
  if (whole && !Number.isInteger(value)) return { error: t.notWhole };
  return { value };
}

/** Reads an object in JSON; nothing if the text is empty. */
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

/** Reads NAME=VALUE per line. With `bare`, a name may stand alone, and dashes before it are left out. */
function pairs(text: string, bare: boolean): Read {
  const value: { [name: string]: string | null } = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf("=");
    const name = (at < 0 ? line : line.slice(0, at)).trim().replace(bare ? /^-+/ : /^$/, "");
    if (name === "" || /\s/.test(name) || (at < 0 && !bare)) return { error: bare ? t.notFlags : t.notPairs };
    value[name] = at < 0 ? null : line.slice(at + 1);
  }
  return Object.keys(value).length > 0 ? { value } : {};
}

/** Reads what was typed into a field; nothing if that is empty. */
function read(f: OptionField & { field: Field }, typed: string | boolean): Read {
  if (typeof typed === "boolean") return typed ? { value: true } : {};
  switch (f.kind) {
    case "word":
    case "choice":
      return typed.trim() ? { value: typed.trim() } : {};
    case "text":
      return typed.trim() ? { value: typed } : {};
    case "number":
      return amount(typed, true);
    case "money":
      return amount(typed, false);
    case "minutes": {
      const { value, error } = amount(typed, false);
      return value === undefined ? { error } : { value: Math.max(1, Math.round(value * 60)) };
    }
    case "lines": {
      const list = lines(typed);
      if (f.none && list.length === 1 && list[0] === "none") return { value: [] };
      if (f.paths && !list.every(absolute)) return { error: t.folderRelative };
      return list.length > 0 ? { value: list } : {};
    }
    case "pairs":
      return pairs(typed, false);
    case "args":
      return pairs(typed, true);
    case "json": {
      const { value, error } = object(typed);
      return { error, value: value && f.option === "mcp_servers" ? unwrapped(value) : value };
    }
    case "flag":
      return {};
  }
}

/** Makes options of what was typed, or says what is wrong with it. Whatever is left empty is left out. */
export function toOptions(form: OptionForm): { options: SessionOptions; errors: { [K in Field]?: string } } {
  const options: { [name: string]: Json } = {};
  const errors: { [K in Field]?: string } = {};
  for (const f of optionFields) {
    const { value, error } = read(f, form[f.field]);
    if (error) errors[f.field] = error;
    else if (value !== undefined) options[f.option] = value;
  }
  // It means nothing elsewhere, and the form shows it as not chosen.
  if (options.sandbox !== "strict") delete options.sandbox_auto_allow;
  if (options.json_schema !== undefined && options.max_turns === undefined && !errors.turns) errors.schema = t.schemaTurns;
  return { options: options as SessionOptions, errors };
}

/** The text of a field that stands for a value of its option. */
function typed(f: OptionField, value: Json): string | boolean {
  switch (f.kind) {
    case "flag":
      return value === true;
    case "minutes":
      return typeof value === "number" && value > 0 ? String(value / 60) : "";
    case "lines":
      return Array.isArray(value) ? (value.length === 0 && f.none ? "none" : value.join("\n")) : "";
    case "pairs":
    case "args":
      return isObject(value)
        ? Object.entries(value)
            .map(([name, v]) => (v === null ? name : `${name}=${String(v)}`))
            .join("\n")
        : "";
    case "json":
      return isObject(value) ? JSON.stringify(value, null, 2) : "";
    default:
      return value === null || value === undefined ? "" : String(value);
  }
}

/** The fields as a preset has them. What it hides stays with the hub. */
export function presetFields(preset: Preset | undefined): OptionForm {
  const form: { [name: string]: string | boolean } = { ...emptyOptions };
  for (const f of optionFields) {
    const value = preset?.options?.[f.option] as Json | undefined;
    if (value !== undefined) form[f.field] = typed(f, value);
  }
  return form as OptionForm;
}

/** The options of a preset that a form does not have any more. */
export function exceptions(preset: Preset | undefined, options: SessionOptions): string[] {
  return Object.keys(preset?.options ?? {}).filter((name) => options[name as OptionName] === undefined);
}
