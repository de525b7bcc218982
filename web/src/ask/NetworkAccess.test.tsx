// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Question } from "../api/types";
import { QuestionCard } from "./QuestionCard";
import { answers, ask, button, card, click, field, hub, onCards, place, press, show, type, wait } from "./testcards";
import { asked } from "./words";

onCards();

const rule = "Network(host:registry.example.com)";
/** The rule that the hub suggests for a host. */
const suggestion = {
  text: `allow ${rule}`,
  update: {
    type: "addRules",
    behavior: "allow",
    destination: "session",
    rules: [{ toolName: "Network", ruleContent: "host:registry.example.com" }],
  },
  destination: "session",
};
const connect = (input: { [name: string]: string | number }, parts: Partial<Question> = {}): Question =>
  ask({
    request_id: "sandbox-1",
    tool: "SandboxNetworkAccess",
    title: "Connect to Registry.example.com:443?",
    description: String(input.command ?? ""),
    request: { subtype: "can_use_tool", tool_name: "SandboxNetworkAccess", input },
    suggestions: [suggestion],
    ...parts,
  });
const registry = { host: "Registry.example.com", port: 443, command: "npm install left-pad" };
const names = () => [...place.querySelectorAll("article button")].map((b) => b.textContent);

describe("a question of the sandbox", () => {
  it("says which host, and which program asks, and offers what can be answered", async () => {
    const q = connect(registry);
    await show(<QuestionCard question={q} />);
    expect(place.querySelector("h2")?.textContent).toBe("Connect to Registry.example.com:443?");
    expect(place.textContent).toContain("npm install left-pad");
    expect(place.textContent).toMatch(/“Always” would allow.*Network\(host:registry\.example\.com\)/);
    expect(names()).toEqual(["Allow onceY", "Allow for this session", "Always…A", "Deny…N"]);
    expect(asked(q)).toBe("Asked to connect to Registry.example.com:443");
  });

  it("is allowed once, for the session, or denied with a reason", async () => {
    const [once, session, no] = [connect(registry), connect(registry), connect(registry)];
    await show(<QuestionCard question={once} />);
    await wait(1000);
    // What permissions have besides means nothing here.
    await press(card(once), "e");
    await press(card(once), "s");
    expect(place.querySelector("textarea")).toBeNull();
    await press(card(once), "y");
    await show(<QuestionCard key="2" question={session} />);
    await wait(1000);
    await click(button("Allow for this session"));
    await show(<QuestionCard key="3" question={no} />);
    await wait(1000);
    await press(card(no), "n");
    expect(place.textContent).toContain("Why not? (sent to the program)");
    await press(field(), "Enter");
    expect(answers()).toEqual([
      { to: once.id, decision: "allow" },
      { to: session.id, decision: "allow", always: { suggestion: 0, destination: "session" } },
      { to: no.id, decision: "deny" },
    ]);
  });

  it("is allowed in all sessions by a rule that is shown before it is made", async () => {
    hub.api.on("get-rules-file", () => ({ path: "/etc/rules.toml", text: "", hash: "h1" }));
    hub.api.on("get-policy", () => ({ rules: [] }));
    hub.api.on("replace-rules-file", () => ({ rules: [] }));
    const q = connect(registry);
    hub.api.on("get-question", () => ({ ...q, state: "answered" }));
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    expect([...place.querySelectorAll("[role=radiogroup] label")].map((l) => l.textContent)).toEqual([
      "This session, also after a restart (Switchboard)",
      "All sessions (Switchboard’s rules file)",
    ]);
    await click(button("Review rule…"));
    expect(place.textContent).toContain(`rule = "${rule}"`);
    await click(button("Add rule and allow"));
    expect(hub.api.of("replace-rules-file")).toMatchObject([
      { body: { text: `[[rule]]\nrule = "${rule}"\ndecision = "allow"\n`, hash: "h1" } },
    ]);
    // The rule has answered it.
    expect(answers()).toEqual([]);
  });

  it("is allowed by a wider rule for the session", async () => {
    const q = connect(registry);
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    await type(place.querySelector("input[type=text]") as HTMLInputElement, "Network(host:*.example.com)");
    const here = [...place.querySelectorAll("label")].find((l) => l.textContent?.startsWith("This session"));
    await click(here as HTMLElement);
    await click(button("Always allow"));
    expect(answers()).toEqual([
      { to: q.id, decision: "allow", always: { rule: "Network(host:*.example.com)", destination: "switchboard" } },
    ]);
  });

  it("needs the scope admin for a rule, but not for the session", async () => {
    hub.scopes.delete("admin");
    const q = connect(registry);
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    expect(place.textContent).toContain("Needs the scope admin.");
    expect(button("Always…").getAttribute("aria-disabled")).toBe("true");
    await click(button("Allow for this session"));
    expect(answers()).toHaveLength(1);
  });

  it("is asked in the same words by the CLI's own sandbox, which learns more of the answer", async () => {
    const q = connect({ host: "a b", port: 1 }, { request_id: "r1", suggestions: [] });
    await show(<QuestionCard question={q} />);
    expect(place.querySelector("h2")?.textContent).toBe("Connect to a b:1?");
    expect(place.textContent).toContain("The program that asks isn’t known.");
    expect(names()).toEqual(["Allow onceY", "Always…A", "Deny…N", "Deny and stop…S"]);
  });
});
