import { describe, expect, it } from "vitest";
import { emptyForm, readForm, recall, remember, toRequest, usesAdvanced } from "./form";

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
  ] as const)("refuses %s %j, and says so there", (name, value) => {
    const { request, errors } = toRequest({ ...form, [name]: value });
    expect(request).toBeUndefined();
    expect(Object.keys(errors ?? {})).toEqual([name]);
  });
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

describe("usesAdvanced", () => {
  it("looks behind More options alone", () => {
    expect(usesAdvanced({ ...form, allow: "Read", budget: "1" })).toBe(false);
    expect(usesAdvanced({ ...form, strictMcp: true })).toBe(true);
  });
});
