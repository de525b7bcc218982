import type { Json, Question } from "../api/types";
import { arr, at, isObject, type JsonObject, num, str } from "../talk/json";
import { isExact, parseJson } from "./exact";
import { requestOf } from "./request";

/** What an MCP server asks. */
export interface FormRequest {
  /** Who asks: the server's name. */
  readonly server: string;
  readonly message: string;
  readonly title: string;
  readonly description: string;
  /** The page to be visited, instead of fields. */
  readonly url?: string;
  readonly fields: readonly FormField[];
}

export type FieldKind = "text" | "number" | "bool" | "one" | "several" | "json";

/** A field to be filled in. */
export interface FormField {
  readonly name: string;
  /** What it is called: its title, or its name. */
  readonly label: string;
  readonly description: string;
  readonly required: boolean;
  readonly kind: FieldKind;
  readonly schema: JsonObject;
  readonly options: readonly FormOption[];
  /** What it comes with. */
  readonly preset?: Json;
}

export interface FormOption {
  readonly value: Json;
  readonly label: string;
}

/** How many fields of a form are shown. */
const mostFields = 200;

export function formOf(q: Question): FormRequest {
  const request = requestOf(q);
  const page = str(request, "mode") === "url";
  return {
    server: str(request, "display_name") || str(request, "mcp_server_name"),
    message: str(request, "message"),
    title: str(request, "title"),
    description: str(request, "description"),
    url: page ? str(request, "url") : undefined,
    fields: page ? [] : fieldsOf(request),
  };
}

/** The fields in the order that the server wants, then in the order in which they are written. */
function fieldsOf(request: JsonObject): FormField[] {
  const schema = at(request, "requested_schema");
  const properties = at(schema, "properties");
  if (!isObject(properties)) return [];
  const required = arr(schema, "required");
  const wanted = arr(request, "property_order").filter((n): n is string => typeof n === "string" && Object.hasOwn(properties, n));
  const names = [...new Set([...wanted, ...Object.keys(properties)])].slice(0, mostFields);
  return names.map((name) => fieldOf(name, at(properties, name), required.includes(name)));
}

function fieldOf(name: string, property: Json | undefined, required: boolean): FormField {
  const schema = isObject(property) ? property : {};
  const type = at(schema, "type");
  const options = type === "array" ? optionsOf(at(schema, "items")) : optionsOf(schema);
  const preset = at(schema, "default");
  return {
    name,
    label: str(schema, "title") || name,
    description: str(schema, "description"),
    required,
    kind: kindOf(type, options.length > 0),
    schema,
    options,
    preset: preset === null ? undefined : preset,
  };
}

function kindOf(type: Json | undefined, options: boolean): FieldKind {
  if (type === "array") return options ? "several" : "json";
  if (options) return "one";
  if (type === "string" || type === undefined) return "text";
  if (type === "number" || type === "integer") return "number";
  return type === "boolean" ? "bool" : "json";
}

/** What can be chosen, in each of the ways to write that. */
function optionsOf(schema: Json | undefined): FormOption[] {
  const names = arr(schema, "enumNames");
  const options = arr(schema, "enum").map((value, i): FormOption => {
    const name = names[i];
    return { value, label: typeof name === "string" ? name : plain(value) };
  });
  for (const each of [...arr(schema, "oneOf"), ...arr(schema, "anyOf")]) {
    const value = at(each, "const");
    if (value !== undefined) options.push({ value, label: str(each, "title") || plain(value) });
  }
  return options;
}

/** A value as a person writes it. */
export function plain(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * What was filled into a field, as text, so that it can be kept as a draft: of a text, number or JSON what was written; of yes or no "true",
 * "false" or "" for not said; of one option its number or ""; of several their numbers with commas, or null for not said.
 */
export type Filled = string | null;

/** What a field comes with. */
export function presetOf(field: FormField): Filled {
  const { preset } = field;
  const same = (option: FormOption) => preset !== undefined && plain(option.value) === plain(preset);
  switch (field.kind) {
    case "text":
    case "number":
      return preset === undefined ? "" : plain(preset);
    case "json":
      return preset === undefined ? "" : JSON.stringify(preset, undefined, 2);
    case "bool":
      return typeof preset === "boolean" ? String(preset) : "";
    case "one": {
      const i = field.options.findIndex(same);
      return i < 0 ? "" : String(i);
    }
    case "several": {
      if (!Array.isArray(preset)) return null;
      const given = new Set(preset.map(plain));
      return field.options.flatMap((o, i) => (given.has(plain(o.value)) ? [String(i)] : [])).join(",");
    }
  }
}

/** The numbers of the options that were chosen. */
export function chosenOf(filled: Filled): readonly number[] {
  return filled === null || filled === "" ? [] : filled.split(",").map(Number);
}

/** Why a field cannot be sent. */
export type FieldProblem = "missing" | "number" | "whole" | "range" | "length" | "json" | "inexact" | "items";

export type FieldValue = { value: Json } | { left: true } | { problem: FieldProblem };

/** What a field sends: a value, or nothing if nothing was filled in and nothing has to be. */
export function valueIn(field: FormField, filled: Filled): FieldValue {
  const empty: FieldValue = field.required ? { problem: "missing" } : { left: true };
  const text = filled ?? "";
  switch (field.kind) {
    case "text":
      // A required text that comes filled in may be emptied: then it is the empty text that is meant.
      if (text === "" && !(field.required && field.preset !== undefined)) return empty;
      return checked(field, text);
    case "number":
      if (text.trim() === "") return empty;
      return number(field, text.trim());
    case "bool":
      return text === "" ? empty : { value: text === "true" };
    case "one": {
      const option = text === "" ? undefined : field.options[Number(text)];
      return option ? exactly(option.value) : empty;
    }
    case "several": {
      const values = chosenOf(filled).flatMap((i) => {
        const option = field.options[i];
        return option ? [option.value] : [];
      });
      if (values.length === 0 && filled === null && !field.required) return { left: true };
      const least = num(field.schema, "minItems");
      const most = num(field.schema, "maxItems");
      if ((least !== undefined && values.length < least) || (most !== undefined && values.length > most))
        return { problem: "items" };
      return exactly(values);
    }
    case "json": {
      if (text.trim() === "") return empty;
      const parsed = parseJson(text);
      if ("value" in parsed) return { value: parsed.value };
      return { problem: parsed.problem === "number" ? "inexact" : "json" };
    }
  }
}

function exactly(value: Json): FieldValue {
  return isExact(value) ? { value } : { problem: "inexact" };
}

function checked(field: FormField, text: string): FieldValue {
  if (at(field.schema, "type") !== "string") return { value: text };
  const length = [...text].length; // characters, as the hub counts
  const least = num(field.schema, "minLength");
  const most = num(field.schema, "maxLength");
  return (least !== undefined && length < least) || (most !== undefined && length > most)
    ? { problem: "length" }
    : { value: text };
}

function number(field: FormField, text: string): FieldValue {
  // As JSON writes a number: neither 0x10 nor Infinity nor 01.
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return { problem: "number" };
  const value = Number(text);
  if (!isExact(value)) return { problem: "inexact" };
  if (at(field.schema, "type") === "integer" && !Number.isInteger(value)) return { problem: "whole" };
  const least = num(field.schema, "minimum");
  const most = num(field.schema, "maximum");
  return (least !== undefined && value < least) || (most !== undefined && value > most) ? { problem: "range" } : { value };
}

export type FormResult = { content: { [name: string]: Json } } | { problems: ReadonlyMap<string, FieldProblem> };

/** What a form sends, or what is wrong with it, by the names of the fields. */
export function contentOf(fields: readonly FormField[], filled: ReadonlyMap<string, Filled>): FormResult {
  const content: [string, Json][] = [];
  const problems = new Map<string, FieldProblem>();
  for (const field of fields) {
    const value = filled.get(field.name);
    const result = valueIn(field, value === undefined ? presetOf(field) : value);
    if ("problem" in result) problems.set(field.name, result.problem);
    else if ("value" in result) content.push([field.name, result.value]);
  }
  return problems.size > 0 ? { problems } : { content: Object.fromEntries(content) };
}
