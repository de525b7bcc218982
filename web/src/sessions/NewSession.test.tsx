// @vitest-environment jsdom
import { act } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import { keptDraft } from "../app/drafts";
import { draft } from "../store/drafts";
import { aNode, aSession, aSummary, type FakeHub, fakeHub } from "../store/fake";
import { sessionsTexts } from "../texts/sessions";
import { Confirmations } from "../ui/dialogs";
import { draw, erase, find, press, type } from "./draw";
import { emptyForm, toKeep } from "./form";
import { NewSession } from "./NewSession";
import { optionFields } from "./options";

let hub: FakeHub;

beforeEach(() => {
  hub = fakeHub();
  hub.api.on("list-folders", () => ({ folders: [] }));
  localStorage.clear();
  location.hash = "";
});

afterEach(async () => {
  await erase();
  keptDraft("new-session").set("");
  draft("new-session.agents").set("");
});

const start = () => press(find("button", /^Start/));
const prompt = () => find("textarea", "First message");

describe("NewSession", () => {
  it("asks for a folder before it asks the server", async () => {
    await draw(hub, <NewSession onClose={() => undefined} />);
    await start();
    expect(document.body.textContent).toContain("Choose a folder for the agent.");
    expect(hub.api.of("create-session")).toEqual([]);
  });

  it("is one intent however often it is tried, and another one once it was changed", async () => {
    const closed = vi.fn();
    let fails = true;
    hub.api.on("create-session", () => {
      if (fails)
        throw new ApiError({ status: 0, code: "unreachable", title: "The server cannot be reached", hint: "Try again." });
      return aSession({ id: "s9" });
    });
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={closed} />);
    await type(prompt(), "Hello");
    await start();
    expect(document.body.textContent).toContain("The server cannot be reached");
    expect(closed).not.toHaveBeenCalled();
    await start();
    await type(prompt(), "Hello there");
    fails = false;
    await start();
    const bodies = hub.api.of("create-session").map((c) => c.body as { client_id: string; prompt: string; dir: string });
    expect(bodies.map((b) => b.prompt)).toEqual(["Hello", "Hello", "Hello there"]);
    expect(bodies[1]?.client_id).toBe(bodies[0]?.client_id);
    expect(bodies[2]?.client_id).not.toBe(bodies[0]?.client_id);
    expect(closed).toHaveBeenCalledTimes(1);
    expect(location.hash).toBe("#/s/s9");
  });

  it("keeps what was typed until it is sent", async () => {
    hub.api.on("create-session", () => aSession());
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
    await type(prompt(), "Not sent yet");
    await erase();
    await draw(hub, <NewSession onClose={() => undefined} />);
    expect((prompt() as HTMLTextAreaElement).value).toBe("Not sent yet");
    await start();
    await erase();
    await draw(hub, <NewSession onClose={() => undefined} />);
    expect((prompt() as HTMLTextAreaElement).value).toBe("");
    expect((find("input", /^Folder/) as HTMLInputElement).value).toBe("/src/blog");
  });

  it("forgets what was typed when it is cancelled, and resets all of it", async () => {
    const closed = vi.fn();
    hub.list(aSummary({ dir: "/src/blog" }));
    const value = (selector: string, name: string | RegExp) => (find(selector, name) as HTMLInputElement).value;
    await draw(hub, <NewSession onClose={closed} />);
    expect(document.activeElement).toBe(find("input", /^Folder/));
    const fill = async () => {
      await type(find("input", /^Folder/), "/wrong");
      await type(prompt(), "Half typ");
      await type(find("input", "Title"), "Half");
    };
    const all = () => [value("input", /^Folder/), value("textarea", "First message"), value("input", "Title")];
    await fill();
    await press(find("button", "Reset to defaults"));
    expect(all()).toEqual(["/src/blog", "", ""]);
    await fill();
    await press(find("button", "Cancel"));
    expect(closed).toHaveBeenCalledTimes(1);
    await erase();
    await draw(hub, <NewSession onClose={closed} />);
    expect(all()).toEqual(["/src/blog", "", ""]);
  });

  it("leads nowhere once it was closed, and leaves what was typed since", async () => {
    const closed = vi.fn();
    let answer: (() => void) | undefined;
    hub.api.on("create-session", () => new Promise((resolve) => (answer = () => resolve(aSession({ id: "s9" })))));
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={closed} />);
    await type(prompt(), "Hello");
    await start();
    await erase();
    await draw(hub, <NewSession onClose={closed} />);
    await type(prompt(), "Something else");
    answer?.();
    await vi.waitFor(() => expect(localStorage.getItem("switchboard.new-session")).toContain("/src/blog"));
    expect(closed).not.toHaveBeenCalled();
    expect(location.hash).toBe("");
    expect(keptDraft("new-session").get()).toContain("Something else");
  });

  it("keeps no servers and no agents beyond the tab, and lets nobody slip into the mode that asks nobody", async () => {
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
    await press(find("button", "More options"));
    await type(find("textarea", "MCP servers"), '{"notes": {"command": "x", "env": {"KEY": "secret-1"}}}');
    await type(find("textarea", "Sub-agents"), '{"r": {"mcpServers": {"n": {"env": {"KEY": "secret-2"}}}}}');
    await type(prompt(), "Said");
    expect(JSON.stringify({ ...localStorage })).toContain("Said");
    expect(JSON.stringify({ ...localStorage })).not.toContain("secret");
    expect(JSON.stringify({ ...sessionStorage })).not.toContain("secret-1");
    // Within the tab nothing is lost.
    await erase();
    await draw(hub, <NewSession onClose={() => undefined} />);
    expect((find("textarea", "MCP servers") as HTMLTextAreaElement).value).toContain("secret-1");
    expect((find("textarea", "Sub-agents") as HTMLTextAreaElement).value).toContain("secret-2");
    expect(JSON.parse(toKeep({ ...emptyForm, mode: "bypassPermissions" })).mode).toBe("default");
  });

  it("has a field for every option", async () => {
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
    const { options, rules, limits, turnsPart, advanced, claudePart } = sessionsTexts.create;
    for (const part of [rules, limits, turnsPart, advanced, claudePart]) await press(find("button", part));
    const labels = [...document.querySelectorAll("label, .react-aria-Label, [data-slot=label]")].map((l) => l.textContent ?? "");
    const all = [...labels, ...[...document.querySelectorAll("button, span")].map((e) => e.textContent ?? "")];
    for (const f of optionFields) expect(all.some((text) => text.startsWith(options[f.field].label))).toBe(true);
  });

  it("fills in a preset of the hub, and says what is not shown of it", async () => {
    hub.api.on("list-presets", () => ({
      presets: [
        {
          name: "review",
          description: "Reads, and changes nothing",
          options: { permission_mode: "plan", fresh: true, max_budget_usd: 2 },
          hidden: { env: ["API_TOKEN"] },
        },
      ],
    }));
    hub.api.on("create-session", () => aSession());
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
    const choose = async (name: RegExp) => {
      await press(find("button", /^Preset|Preset$/));
      await press(find("[role=option]", name));
    };
    await choose(/^review/);
    expect(document.body.textContent).toContain("not shown: env (API_TOKEN)");
    expect((find("input", "Budget (USD)") as HTMLInputElement).value).toBe("2");
    await type(find("input", "Budget (USD)"), "");
    await start();
    expect(hub.api.of("create-session")).toMatchObject([
      { body: { preset: "review", except: ["max_budget_usd"], options: { permission_mode: "plan", fresh: true } } },
    ]);
  });

  it("asks before a preset stops asking, and leaves it alone", async () => {
    hub.api.on("list-presets", () => ({ presets: [{ name: "wild", options: { permission_mode: "bypassPermissions" } }] }));
    await draw(
      hub,
      <>
        <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />
        <Confirmations />
      </>,
    );
    await press(find("button", /^Preset|Preset$/));
    await press(find("[role=option]", /^wild/));
    const dialog = find("[role=alertdialog]", /Bypass permissions/);
    await press([...dialog.querySelectorAll("button")].find((b) => b.textContent === "Cancel") as HTMLElement);
    expect(find("button", /Permission mode/).textContent).toContain("Default");
    expect(find("button", /^Preset|Preset$/).textContent).toContain("No preset");
  });

  it("sets the dangerous mode only once that was confirmed", async () => {
    hub.api.on("create-session", () => aSession());
    await draw(
      hub,
      <>
        <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />
        <Confirmations />
      </>,
    );
    const mode = () => find("button", /Permission mode/);
    const choose = async (answer: string) => {
      await press(mode());
      await press(find("[role=option]", /^Bypass permissions/));
      const dialog = find("[role=alertdialog]", /Bypass permissions/);
      await press([...dialog.querySelectorAll("button")].find((b) => b.textContent === answer) as HTMLElement);
    };
    await choose("Cancel");
    expect(mode().textContent).toContain("Default");
    await choose("Bypass permissions");
    expect(mode().textContent).toContain("Bypass permissions");
    await start();
    expect(hub.api.of("create-session")).toMatchObject([{ body: { options: { permission_mode: "bypassPermissions" } } }]);
  });

  it("says why it cannot be sent without the right", async () => {
    hub.scopes.delete("admin");
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
    await start();
    expect(find("button", /^Start/).getAttribute("aria-disabled")).toBe("true");
    expect(hub.api.of("create-session")).toEqual([]);
  });

  it("marks the folder that the server refuses", async () => {
    hub.api.on("create-session", () => {
      throw new ApiError({ status: 422, code: "invalid", title: "No", detail: "the working folder /nope does not exist" });
    });
    await draw(hub, <NewSession preset={{ dir: "/nope" }} onClose={() => undefined} />);
    await start();
    expect(find("input", /^Folder/).getAttribute("aria-invalid")).toBe("true");
    // Once, and as a sentence.
    expect(document.body.textContent?.match(/working folder \/nope/gi)).toHaveLength(1);
    expect(document.body.textContent).toContain("The working folder /nope does not exist");
  });
});

describe("the machine of a new session", () => {
  const machine = () => find("button", /Machine/);
  const folder = () => find("input", /^Folder/) as HTMLInputElement;
  const options = () => [...document.querySelectorAll<HTMLElement>("[role=option]")];
  const choose = async (name: RegExp) => {
    await press(machine());
    await press(find("[role=option]", name));
  };
  const body = () =>
    hub.api.of("create-session").map((call) => call.body as { node?: string; node_labels?: object; dir: string });

  beforeEach(() => hub.api.on("create-session", () => aSession()));

  it("is not asked for where the hub has no other", async () => {
    hub.api.on("list-nodes", () => ({ nodes: [] }));
    // What was remembered of another time, or of another hub, does not count then.
    localStorage.setItem("switchboard.new-session", JSON.stringify({ dir: "/src/blog", node: "gpu-1" }));
    await draw(hub, <NewSession onClose={() => undefined} />);
    expect(document.body.textContent).not.toContain("Machine");
    await start();
    expect(body()).toHaveLength(1);
    expect(body()[0]).not.toHaveProperty("node");
  });

  it("is chosen by name, asked for its own folders, and remembered", async () => {
    hub.api.on("list-nodes", () => ({ nodes: [aNode({ labels: { gpu: "a100" } })] }));
    hub.list(
      aSummary({ id: "s1", dir: "/src/here", updated: "2026-02-05T00:00:00Z" }),
      aSummary({ id: "s2", dir: "/srv/there", node: "gpu-1" }),
    );
    await draw(hub, <NewSession onClose={() => undefined} />);
    expect(machine().textContent).toContain("This machine");
    await press(machine());
    expect(options().map((o) => o.textContent)).toEqual([
      "This machineWhere the hub runs",
      "gpu-1load 25%, 0 sessions · gpu=a100",
      "Any (least loaded)The hub chooses a machine that takes sessions",
      "By labelsThe hub chooses a machine that has certain labels",
    ]);
    await press(find("[role=option]", /^gpu-1/));
    expect(folder().value).toBe("/srv/there");
    await vi.waitFor(() =>
      expect(hub.api.of("list-folders").at(-1)?.query).toMatchObject({ node: "gpu-1", prefix: "/srv/there" }),
    );
    await start();
    expect(body()).toMatchObject([{ node: "gpu-1", dir: "/srv/there" }]);
    await erase();
    await draw(hub, <NewSession onClose={() => undefined} />);
    expect(machine().textContent).toContain("gpu-1");
    await choose(/^This machine/);
    expect(folder().value).toBe("/src/here");
    await vi.waitFor(() => expect(hub.api.of("list-folders").at(-1)?.query).toMatchObject({ prefix: "/src/here" }));
    expect(hub.api.of("list-folders").at(-1)?.query).toMatchObject({ node: undefined });
  });

  it("leaves a folder that was typed alone", async () => {
    hub.list(aSummary({ dir: "/srv/there", node: "gpu-1" }));
    hub.api.on("list-nodes", () => ({ nodes: [aNode()] }));
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
    await type(folder(), "/data/mine");
    await choose(/^gpu-1/);
    expect(folder().value).toBe("/data/mine");
  });

  it("may be left to the hub, which then names no folders", async () => {
    hub.api.on("list-nodes", () => ({ nodes: [aNode()] }));
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
    await choose(/^Any/);
    expect(document.body.textContent).toContain("must exist on each machine");
    await start();
    expect(body()).toMatchObject([{ node: "any", dir: "/src/blog" }]);
  });

  it("cannot be one that takes no session, which says why", async () => {
    hub.api.on("list-nodes", () => ({
      nodes: [
        aNode({ name: "away", state: "offline", last_seen: undefined }),
        aNode({ name: "empties", state: "draining", draining: true }),
        aNode({ name: "full", sessions: 2, max_sessions: 2 }),
        aNode({ name: "out", state: "revoked" }),
      ],
    }));
    await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
    await press(machine());
    // The one that is locked out is not offered at all.
    const disabled = options().map((o) => [o.getAttribute("aria-disabled") === "true", o.textContent]);
    expect(disabled).toEqual([
      [false, "This machineWhere the hub runs"],
      [true, "awayNever connected"],
      [true, "emptiesDraining: takes no new sessions"],
      [true, "fullFull: 2 of 2 sessions"],
      [true, "Any (least loaded)No machine takes sessions now"],
      [true, "By labelsNo machine has labels"],
    ]);
  });

  it("that was remembered and takes none now, or is gone, keeps the form from being sent", async () => {
    localStorage.setItem("switchboard.new-session", JSON.stringify({ dir: "/src/blog", node: "gpu-1" }));
    hub.api.on("list-nodes", () => ({ nodes: [aNode({ state: "draining", draining: true })] }));
    await draw(hub, <NewSession onClose={() => undefined} />);
    expect(document.body.textContent).toContain("Draining: takes no new sessions");
    await start();
    expect(body()).toEqual([]);
    await erase();
    hub.api.on("list-nodes", () => ({ nodes: [aNode({ name: "other" })] }));
    await draw(hub, <NewSession onClose={() => undefined} />);
    expect(document.body.textContent).toContain("The hub no longer has this machine.");
    await start();
    expect(body()).toEqual([]);
    await choose(/^other/);
    await start();
    expect(body()).toMatchObject([{ node: "other" }]);
  });

  describe("by labels", () => {
    const labels = () => find("input", /^Labels/) as HTMLInputElement;
    const two = [
      aNode({ name: "gpu-1", labels: { gpu: "a100", zone: "eu" } }),
      aNode({ name: "gpu-2", labels: { gpu: "h100", zone: "eu" } }),
    ];

    it("sends them in the place of a name, says which machine that is, and remembers them", async () => {
      hub.api.on("list-nodes", () => ({ nodes: two }));
      await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
      expect(document.body.textContent).not.toContain("Labels");
      await choose(/^By labels/);
      await type(labels(), "zone=eu");
      expect(document.body.textContent).toContain("Runs on the least loaded of 2 machines: gpu-1, gpu-2.");
      expect(document.body.textContent).toContain("must exist on each machine");
      await type(labels(), "zone=eu, gpu=h100");
      expect(document.body.textContent).toContain("Runs on gpu-2.");
      // Only one machine is left, so its folders can be looked at.
      await vi.waitFor(() => expect(hub.api.of("list-folders").at(-1)?.query).toMatchObject({ node: "gpu-2" }));
      // What was typed is there again when the dialog is, and so it is after it was sent.
      for (let sent = 0; sent < 2; sent++) {
        await erase();
        await draw(hub, <NewSession onClose={() => undefined} />);
        expect(machine().textContent).toContain("By labels");
        expect(labels().value).toBe("zone=eu, gpu=h100");
        await start();
        expect(body()).toHaveLength(sent + 1);
        expect(body()[sent]?.node_labels).toEqual({ zone: "eu", gpu: "h100" });
        expect(body()[sent]).not.toHaveProperty("node");
      }
      await erase();
      await draw(hub, <NewSession onClose={() => undefined} />);
      await choose(/^gpu-1/);
      expect(document.body.textContent).not.toContain("Labels");
      await start();
      expect(body()[2]).toMatchObject({ node: "gpu-1" });
      expect(body()[2]).not.toHaveProperty("node_labels");
    });

    it("says what is wrong with them once the form is sent, and sends nothing", async () => {
      hub.api.on("list-nodes", () => ({ nodes: two }));
      await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
      await choose(/^By labels/);
      for (const [text, problem] of [
        ["", "Enter at least one label"],
        ["gpu", "“gpu” is no label."],
        ["gpu=v100", "No machine has this label."],
      ] as const) {
        await type(labels(), text);
        expect(labels().getAttribute("aria-invalid")).not.toBe("true");
        await start();
        expect(document.body.textContent).toContain(problem);
        expect(labels().getAttribute("aria-invalid")).toBe("true");
        await vi.waitFor(() => expect(document.activeElement).toBe(labels()));
      }
      expect(body()).toEqual([]);
    });

    it("suggests those of the machines, one after the other", async () => {
      hub.api.on("list-nodes", () => ({ nodes: two }));
      await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
      await choose(/^By labels/);
      await act(async () => labels().focus());
      expect(options().map((o) => o.textContent)).toEqual(["gpu=a100gpu-1", "gpu=h100gpu-2", "zone=eugpu-1, gpu-2"]);
      await press(find("[role=option]", /^gpu=h100/));
      expect(labels().value).toBe("gpu=h100");
      await type(labels(), "gpu=h100, z");
      await press(find("[role=option]", /zone=eu/));
      expect(labels().value).toBe("gpu=h100, zone=eu");
    });
  });
});
