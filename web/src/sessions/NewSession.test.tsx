// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import { keptDraft } from "../app/drafts";
import { draft } from "../store/drafts";
import { aSession, aSummary, type FakeHub, fakeHub } from "../store/fake";
import { Confirmations } from "../ui/dialogs";
import { draw, erase, find, press, type } from "./draw";
import { emptyForm, toKeep } from "./form";
import { NewSession } from "./NewSession";

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
