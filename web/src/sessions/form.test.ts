import { describe, expect, it } from "vitest";
import { byLabels } from "../machines/machines";
import { emptyForm, readForm, recall, remember, toHide, toKeep, toRequest } from "./form";
import { partUsed, presetFields } from "./options";

const form = { ...emptyForm, dir: "/src/blog" };

describe("toRequest", () => {
  it("leaves out what is empty, and names the mode", () => {
    expect(toRequest(form)).toEqual({ request: { dir: "/src/blog", options: { permission_mode: "default" } } });
  });

  it("takes everything over", () => {
    const { request } = toRequest({
      ...form,
      prompt: " Go on\n",
      title: " Blog ",
      model: " opus ",
      mode: "plan",
      allow: "Bash(go test:*)\n\n  Read ",
      deny: "Bash(git push:*)",
      budget: "$1,5",
      turns: "20",
      dirs: "/a\n/b",
      append: "Be short.",
      system: "You are a poet.",
      effort: "high",
      thinking: "disabled",
      mcp: '{"mcpServers":{"notes":{"command":"notes"}}}',
      strictMcp: true,
      agents: '{"mcpServers":{"prompt":"x"}}',
    });
    expect(request).toEqual({
      dir: "/src/blog",
      prompt: " Go on\n",
      title: "Blog",
      options: {
        model: "opus",
        permission_mode: "plan",
        allowed_tools: ["Bash(go test:*)", "Read"],
        disallowed_tools: ["Bash(git push:*)"],
        max_budget_usd: 1.5,
        max_turns: 20,
        add_dirs: ["/a", "/b"],
        append_system_prompt: "Be short.",
        system_prompt: "You are a poet.",
        effort: "high",
        thinking: "disabled",
        mcp_servers: { notes: { command: "notes" } },
        strict_mcp: true,
        agents: { mcpServers: { prompt: "x" } },
      },
    });
  });

  it.each([
    ["dir", ""],
    ["dir", "blog"],
    ["budget", "much"],
    ["budget", "-1"],
    ["turns", "1.5"],
    ["turns", "0"],
    ["dirs", "/a\nb"],
    ["mcp", "{"],
    ["mcp", "[]"],
    ["agents", "3"],
    ["env", "TOKEN"],
    ["env", "=x"],
    ["aliases", "a b=c"],
    ["args", "--"],
    ["plugins", "plugin"],
    ["deadline", "soon"],
    ["schema", '{"type":"object"}'],
  ] as const)("refuses %s %j, and says so there", (name, value) => {
    const { request, errors } = toRequest({ ...form, [name]: value });
    expect(request).toBeUndefined();
    expect(Object.keys(errors ?? {})).toEqual([name]);
  });
});

it("asks for a machine only if one was chosen", () => {
  expect(toRequest({ ...form, node: "gpu-1" }).request?.node).toBe("gpu-1");
  expect(toRequest({ ...form, node: "any" }).request?.node).toBe("any");
  expect(toRequest(form).request).not.toHaveProperty("node");
});

it("asks for labels in the place of a machine, and only if that was chosen", () => {
  const { request } = toRequest({ ...form, node: byLabels, labels: "gpu=h100, zone=eu" });
  expect(request?.node_labels).toEqual({ gpu: "h100", zone: "eu" });
  expect(request).not.toHaveProperty("node");
  for (const node of ["", "any", "gpu-1"]) {
    // What was typed before another machine was chosen counts no more, whatever it is.
    for (const labels of ["gpu=h100", "gpu"])
      expect(toRequest({ ...form, node, labels }).request).not.toHaveProperty("node_labels");
  }
  expect(toRequest({ ...form, node: byLabels, labels: "gpu" }).errors).toEqual({ labels: expect.stringContaining("NAME=VALUE") });
  expect(Object.keys(toRequest({ ...form, dir: "", node: byLabels }).errors ?? {})).toEqual(["dir", "labels"]);
});

describe("what is remembered", () => {
  const storage = () => {
    const kept = new Map<string, string>();
    return { getItem: (k: string) => kept.get(k) ?? null, setItem: (k: string, v: string) => void kept.set(k, v) };
  };

  it("is the choices, and neither what was said nor what may be secret", () => {
    const s = storage();
    remember(s, {
      ...form,
      model: "opus",
      mode: "plan",
      allow: "Read",
      prompt: "secret",
      title: "T",
      mcp: '{"x":1}',
      system: "S",
    });
    expect(recall(s)).toEqual({ ...form, model: "opus", mode: "plan", allow: "Read" });
  });

  it("is the machine, which goes with the folder, also with a preset", () => {
    const s = storage();
    remember(s, { ...form, node: "gpu-1" });
    expect(recall(s)).toEqual({ ...form, node: "gpu-1" });
    remember(s, { ...form, dir: "/srv/shop", node: "any", preset: "review", model: "opus" });
    expect(recall(s)).toEqual({ ...form, dir: "/srv/shop", node: "any" });
    remember(s, { ...form, node: byLabels, labels: "gpu=h100", preset: "review" });
    expect(recall(s)).toEqual({ ...form, node: byLabels, labels: "gpu=h100" });
  });

  it("is never the mode that asks nobody", () => {
    const s = storage();
    remember(s, { ...form, mode: "bypassPermissions" });
    expect(recall(s).mode).toBe("default");
  });

  it.each(["", "null", "3", '{"dir":7,"mode":"wild","strictMcp":"yes","constructor":"x"}'])(
    "is nothing if what is kept is %j",
    (text) => {
      expect(readForm(text)).toEqual(emptyForm);
    },
  );

  it("is nothing without storage", () => {
    const refuses = {
      getItem: (): string => {
        throw new Error("forbidden");
      },
    };
    expect(recall(refuses)).toEqual(emptyForm);
  });
});

describe("partUsed", () => {
  it("looks at one part of the form alone", () => {
    expect(partUsed({ ...form, allow: "Read", budget: "1", model: "opus" }, "advanced")).toBe(false);
    expect(partUsed({ ...form, strictMcp: true }, "advanced")).toBe(true);
    expect(partUsed({ ...form, fresh: true }, "turns")).toBe(true);
  });
});

describe("what may be secret", () => {
  const typed = { ...form, env: "TOKEN=hush", settings: '{"key":"hush"}', args: "token=hush", mcp: '{"a":{"key":"hush"}}' };

  it("is kept in memory alone", () => {
    expect(toKeep(typed)).not.toContain("hush");
    expect(readForm(toHide(typed), readForm(toKeep(typed)))).toEqual(typed);
    expect(toHide(form)).toBe("");
  });
});

describe("a preset", () => {
  const preset = {
    name: "review",
    options: {
      model: "opus",
      permission_mode: "plan",
      fresh: true,
      question_deadline: 90,
      tools: [],
      allowed_tools: ["Read", "Grep"],
      tool_aliases: { Shell: "Bash" },
      agents: { r: {} },
    },
    hidden: { env: ["TOKEN"] },
  };
  const filled = { ...form, ...presetFields(preset), preset: "review" };

  it("fills in the fields, and is sent with them", () => {
    expect(filled).toMatchObject({
      model: "opus",
      mode: "plan",
      fresh: true,
      deadline: "1.5",
      tools: "none",
      allow: "Read\nGrep",
      aliases: "Shell=Bash",
      env: "",
    });
    expect(toRequest(filled, preset)).toEqual({ request: { dir: "/src/blog", preset: "review", options: preset.options } });
  });

  it("yields to what was changed and taken away", () => {
    expect(toRequest({ ...filled, model: "haiku", fresh: false, tools: "", env: "MORE=1" }, preset).request).toEqual({
      dir: "/src/blog",
      preset: "review",
      except: ["fresh", "tools"],
      options: {
        model: "haiku",
        permission_mode: "plan",
        question_deadline: 90,
        allowed_tools: ["Read", "Grep"],
        tool_aliases: { Shell: "Bash" },
        agents: { r: {} },
        env: { MORE: "1" },
      },
    });
  });

  it("is not remembered but for the folder", () => {
    const kept = new Map([["switchboard.new-session", '{"dir":"/old","model":"sonnet"}']]);
    const storage = { getItem: (k: string) => kept.get(k) ?? null, setItem: (k: string, v: string) => void kept.set(k, v) };
    remember(storage, filled);
    expect(recall(storage)).toEqual({ ...form, model: "sonnet" });
  });
});
