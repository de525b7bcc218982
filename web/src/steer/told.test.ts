import { expect, test } from "vitest";
import type { Json, Session } from "../api/types";
import { commandsOf, currentModel, limitsOf, modelsOf, nextMode, serversOf, shortModel } from "./told";

function told(initialize: Json, init: Json = null): Session {
  return { id: "s1", created: "", updated: "", linked: true, run: 1, state: "idle", initialize, init };
}

test("models are read, and the default one is the hub's empty name", () => {
  const models = modelsOf(
    told({
      models: [
        { value: "default", displayName: "Default", description: "d" },
        { value: "opus", displayName: "Opus", resolvedModel: "claude-opus-4-1" },
      ],
    }),
  );
  expect(models.map((m) => [m.value, m.label])).toEqual([
    ["", "Default"],
    ["opus", "Opus"],
  ]);
  expect(currentModel(models, "claude-opus-4-1")?.value).toBe("opus");
  expect(currentModel(models, "gone")).toBeUndefined();
});

test.each([null, 7, "x", [], { models: 3 }, { models: [null, 3, "x", { value: 4 }] }] as Json[])(
  "models of %j are none",
  (shape) => {
    expect(modelsOf(told(shape))).toEqual([]);
    expect(commandsOf(told(shape, shape))).toEqual([]);
  },
);

test("commands with hints come first, names alone are added, each once", () => {
  const list = commandsOf(
    told(
      { commands: [{ name: "compact", description: "Shorten\nit", argumentHint: "[how]" }] },
      { slash_commands: ["compact", "/review", "two words", 5] },
    ),
  );
  expect(list).toEqual([
    { name: "compact", hint: "Shorten it", args: "[how]" },
    { name: "review", hint: "", args: "" },
  ]);
});

test("the key for the next mode goes around as in the terminal", () => {
  expect(nextMode("default")).toBe("acceptEdits");
  expect(nextMode("plan")).toBe("default");
  expect(nextMode("bypassPermissions")).toBe("default");
});

test("names of models are shortened", () => {
  expect(shortModel("claude-sonnet-4-5-20250929")).toBe("sonnet-4-5");
  expect(shortModel("other")).toBe("other");
});

test("servers of any shape are read", () => {
  expect(serversOf({ mcpServers: [{ name: "n", status: "failed", error: "no", tools: [{ name: "t" }, 4] }, {}, null] })).toEqual([
    {
      name: "n",
      status: "failed",
      error: "no",
      scope: "",
      transport: "",
      version: "",
      tools: [
        { name: "t", hint: "" },
        { name: "", hint: "" },
      ],
    },
  ]);
  expect(serversOf("x")).toEqual([]);
});

test("limits of the account are read, whatever their shape", () => {
  const session: Session = {
    ...told(null),
    rate_limits: {
      five_hour: { status: "allowed_warning", utilization: 0.914, resetsAt: 1771390800 },
      seven_day: { status: "rejected", utilization: 1.2, resetsAt: 1e300 },
      tomorrow: 7,
    },
  };
  expect(limitsOf(session)).toEqual([
    { kind: "five_hour", state: "near", percent: 91, resets: 1771390800_000 },
    { kind: "seven_day", state: "reached", percent: 120 },
    { kind: "tomorrow", state: "far" },
  ]);
  for (const shape of [null, 7, "x", []] as Json[]) expect(limitsOf({ ...told(null), rate_limits: shape })).toEqual([]);
});
