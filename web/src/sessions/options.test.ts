import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import { emptyForm, type SessionForm, toRequest } from "./form";
import { optionFields } from "./options";

const schemas = JSON.parse(readFileSync(new URL("../../../api/openapi.json", import.meta.url), "utf8")).components.schemas;
const names = (schema: string): string[] => Object.keys(schemas[schema].properties).sort();

/** Options that the dialog does not have, with the reason. */
const withoutField: { [option: string]: string } = {};

/** Members of the request that are no field of the dialog, with the reason. */
const withoutMember: { [member: string]: string } = {
  client_id: "the dialog makes one for each intent",
  options: "see above",
  except: "the dialog names what was taken away from a preset",
  resume: "Import a conversation has a dialog of its own",
  fork: "Import a conversation has a dialog of its own",
  transport: "Connect your own Claude Code has a dialog of its own",
};

/** What is typed for each option, and what is sent then. */
const samples: { [option: string]: [string | boolean, Json] } = {
  model: ["opus", "opus"],
  permission_mode: ["plan", "plan"],
  sandbox: ["deny-only", "deny-only"],
  sandbox_auto_allow: [true, true],
  allowed_tools: ["Read\nGrep", ["Read", "Grep"]],
  disallowed_tools: ["Write", ["Write"]],
  tools: ["none", []],
  ask_plan_mode: [true, true],
  allow_bypass: [true, true],
  max_budget_usd: ["1.5", 1.5],
  max_turns: ["20", 20],
  max_thinking_tokens: ["4000", 4000],
  task_budget: ["9000", 9000],
  question_deadline: ["10", 600],
  resume_at_reset: [true, true],
  fresh: [true, true],
  no_persistence: [true, true],
  prompt_suggestions: [true, true],
  plan_mode_instructions: ["Be brief.", "Be brief."],
  json_schema: ['{"type":"object"}', { type: "object" }],
  supported_dialog_kinds: ["a", ["a"]],
  add_dirs: ["/a", ["/a"]],
  effort: ["high", "high"],
  thinking: ["adaptive", "adaptive"],
  fallback_model: ["haiku", "haiku"],
  append_system_prompt: ["Be short.", "Be short."],
  system_prompt: ["You are a poet.", "You are a poet."],
  mcp_servers: ['{"a":{}}', { a: {} }],
  strict_mcp: [true, true],
  agents: ['{"a":{}}', { a: {} }],
  agent: ["reviewer", "reviewer"],
  forward_subagent_text: [true, true],
  agent_progress_summaries: [true, true],
  skills: ["pdf", ["pdf"]],
  tool_aliases: ["Shell=Bash", { Shell: "Bash" }],
  env: ["A=1\nB= x=y", { A: "1", B: " x=y" }],
  settings: ['{"a":1}', { a: 1 }],
  setting_sources: ["user", ["user"]],
  plugin_dirs: ["/p", ["/p"]],
  betas: ["b", ["b"]],
  extra_args: ["--debug\nlevel=2", { debug: null, level: "2" }],
  name: ["N", "N"],
  exclude_dynamic_sections: [true, true],
  include_hook_events: [true, true],
};

/** What else an option means nothing without. */
const needed: { [option: string]: { form: Partial<SessionForm>; options: { [option: string]: Json } } } = {
  json_schema: { form: { turns: "20" }, options: { max_turns: 20 } },
  sandbox_auto_allow: { form: { sandbox: "strict" }, options: { sandbox: "strict" } },
};

describe("the options of a new session", () => {
  it("are all those that POST /v1/sessions takes", () => {
    const known = optionFields.map((f) => f.option);
    expect([...known, ...Object.keys(withoutField)].sort()).toEqual(names("SessionOptions"));
    expect(new Set(optionFields.map((f) => f.field)).size).toBe(known.length);
  });

  it("are beside all other members of the request", () => {
    const members = [...Object.keys(withoutMember), "dir", "node", "node_labels", "prompt", "title", "preset"];
    expect(members.sort()).toEqual(names("CreateSession"));
  });

  it.each(optionFields.map((f) => [f.option, f.field] as const))("send %s", (option, field) => {
    const [typed, sent] = samples[option] ?? ["", "no sample"];
    const needs = needed[option] ?? { form: {}, options: {} };
    const form = { ...emptyForm, dir: "/src/blog", ...needs.form, [field]: typed };
    const { request } = toRequest(form);
    expect(request?.options).toEqual({ permission_mode: "default", ...needs.options, [option]: sent });
  });

  it("allow commands without asking in a strict sandbox only", () => {
    for (const sandbox of ["", "off", "deny-only"]) {
      const { request } = toRequest({ ...emptyForm, dir: "/src/blog", sandbox, autoAllow: true });
      expect(request?.options).toEqual({ permission_mode: "default", ...(sandbox ? { sandbox } : {}) });
    }
  });
});
