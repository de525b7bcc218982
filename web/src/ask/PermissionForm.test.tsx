// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { ApiError } from "../api/error";
import type { Event } from "../api/types";
import { aSummary } from "../store/fake";
import { QuestionCard } from "./QuestionCard";
import { answers, ask, button, card, click, field, hub, onCards, place, press, show, type, wait } from "./testcards";

onCards();

describe("a permission", () => {
  it("is denied with a reason, and with one that stops the turn", async () => {
    const q = ask();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "n");
    await type(field(), "Use make.");
    await press(field(), "Escape");
    await press(card(q), "s");
    expect(field().value).toBe("Use make.");
    await press(field(), "Enter");
    expect(answers()).toEqual([{ to: q.id, decision: "deny", message: "Use make.", interrupt: true }]);
  });

  it("is allowed with an edited command, with all the rest as it was", async () => {
    const q = ask({ request: { tool_name: "Bash", input: { command: "npm test", timeout: 5000 } } });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "e");
    await type(field(), "npm test -s");
    await click(button("Review edit"));
    expect(answers()).toEqual([]);
    await press(card(q), "y");
    expect(answers()).toEqual([{ to: q.id, decision: "allow", input: { command: "npm test -s", timeout: 5000 } }]);
  });

  it("is allowed without an input if the edit changed nothing", async () => {
    const q = ask({ tool: "Write", request: { tool_name: "Write", input: { file_path: "a", content: "b" } } });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "e");
    await type(field(), '{"file_path":"a","content":');
    await click(button("Review edit"));
    expect(place.textContent).toContain("This isn't valid JSON");
    await type(field(), '{"file_path":"a","content":"b"}');
    await click(button("Review edit"));
    await press(card(q), "y");
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
  });

  it("is allowed always, for the session unless the person chooses otherwise", async () => {
    const q = ask({
      suggestions: [
        { text: "nothing", update: null },
        { text: "allow Bash(ls:*)", update: { type: "addRules" }, destination: "localSettings" },
      ],
    });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    await press(card(q), "y"); // no key decides here
    await click(button("Always allow"));
    expect(answers()).toEqual([{ to: q.id, decision: "allow", always: { suggestion: 1, destination: "session" } }]);
  });

  it("is allowed in all sessions by a rule that is shown before it is made", async () => {
    const q = ask({
      suggestions: [
        {
          text: "allow Bash(ls:*)",
          update: { type: "addRules", behavior: "allow", rules: [{ toolName: "Bash", ruleContent: "ls:*" }] },
        },
      ],
    });
    hub.api.on("get-rules-file", () => ({ path: "/etc/rules.toml", text: 'deny = ["Bash(rm:*)"]\n', hash: "h1" }));
    hub.api.on("get-policy", () => ({ rules: [] }));
    let conflict = true;
    hub.api.on("replace-rules-file", () => {
      if (conflict) throw new ApiError({ status: 409, code: "conflict", title: "The rules file is another one by now" });
      return { rules: [], pending: { sum: "s1", widens: ["allow Bash(ls:*)"] } };
    });
    hub.api.on("confirm-policy", () => ({ rules: [] }));
    hub.api.on("get-question", () => q);
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    const all = [...place.querySelectorAll("label")].find((l) => l.textContent?.startsWith("All sessions"));
    await click(all as HTMLElement);
    await click(button("Review rule…"));
    expect(place.textContent).toContain('rule = "Bash(ls:*)"');
    expect(document.activeElement).toBe(card(q));
    expect(hub.api.of("replace-rules-file")).toEqual([]);
    // The file has changed meanwhile: no rule is made, and nothing is allowed.
    await click(button("Add rule and allow"));
    expect(place.textContent).toContain("The rules file is another one by now");
    expect(hub.api.of("confirm-policy")).toEqual([]);
    expect(answers()).toEqual([]);
    conflict = false;
    await click(button("Add rule and allow"));
    expect(hub.api.of("replace-rules-file").at(-1)?.body).toEqual({
      text: 'deny = ["Bash(rm:*)"]\n\n[[rule]]\nrule = "Bash(ls:*)"\ndecision = "allow"\n',
      hash: "h1",
    });
    expect(hub.api.of("confirm-policy")).toMatchObject([{ body: { sum: "s1" } }]);
    expect(answers()).toEqual([{ to: q.id, decision: "allow" }]);
  });

  it("makes no rule for all sessions while others wait to be confirmed, nor without the scope", async () => {
    const q = ask();
    hub.api.on("get-rules-file", () => ({ path: "/etc/rules.toml", text: "", hash: "h1" }));
    hub.api.on("get-policy", () => ({ rules: [], pending: { sum: "s0", widens: ["allow *"] } }));
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "a");
    const all = () => [...place.querySelectorAll("label")].find((l) => l.textContent?.startsWith("All sessions"));
    await click(all() as HTMLElement);
    await click(button("Review rule…"));
    expect(place.textContent).toContain("changes that nobody has confirmed yet");
    await click(button("Add rule and allow"));
    expect(hub.api.of("replace-rules-file")).toEqual([]);
    expect(answers()).toEqual([]);
    await click(button("Back"));
    hub.scopes.delete("admin");
    await show(<QuestionCard question={{ ...q, title: "again" }} />);
    expect(all()?.querySelector("input")?.disabled).toBe(true);
  });

  it("says what is asked, what the agent said before, and what always would allow, in this order", async () => {
    hub.list(aSummary({ id: "s1", last_event_id: "e:2" }));
    hub.api.on("get-events", () => ({
      events: [
        {
          id: "e:1",
          kind: "line",
          seq: 1,
          line: { type: "assistant", uuid: "u1", message: { id: "m1", content: [{ type: "text", text: "I run the tests." }] } },
        },
      ] as unknown as Event[],
      resume: "ok",
    }));
    const q = ask({
      why: "This command requires approval",
      suggestions: [
        { text: "x", update: { type: "addRules", behavior: "allow", rules: [{ toolName: "Bash", ruleContent: "l *" }] } },
      ],
    });
    await show(<QuestionCard question={q} />);
    await wait(10);
    expect(place.textContent).toMatch(/Run this command\?.*I run the tests\..*\$ ?ls.*“Always” would allow.*Bash\(l \*\)/s);
    expect(place.textContent).not.toContain("requires approval");
  });

  it("cannot be allowed if nobody knows what it is", async () => {
    const q = ask({ request: 1 });
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(card(q), "y");
    await press(card(q), "a");
    await press(card(q), "e");
    await click(button("Allow once"));
    expect(answers()).toEqual([]);
    await press(card(q), "n");
    await press(field(), "Enter");
    expect(answers()).toEqual([{ to: q.id, decision: "deny" }]);
  });
});
