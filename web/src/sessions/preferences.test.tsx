// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Preferences, SavePreferences } from "../api/types";
import { keptDraft } from "../app/drafts";
import { aSession, type FakeHub, fakeHub } from "../store/fake";
import { draw, erase, find, press, type } from "./draw";
import { emptyForm, recall, remember } from "./form";
import { NewSession } from "./NewSession";
import { fieldsOf, toSave } from "./preferences";

let hub: FakeHub;

/** Says what is preferred in which folder. */
function prefer(folders: { [dir: string]: Preferences }): void {
  hub.api.on("get-preferences", ({ query }) => ({ person: "ada", saved: [], effective: folders[String(query?.dir)] ?? {} }));
}

beforeEach(() => {
  hub = fakeHub();
  hub.api.on("list-folders", () => ({ folders: [] }));
  hub.api.on("create-session", () => aSession({ id: "s9" }));
  hub.api.on("save-preferences", ({ body }) => ({ ...(body as SavePreferences), updated: "2026-03-01T12:00:00Z" }));
  localStorage.clear();
});

afterEach(async () => {
  await erase();
  keptDraft("new-session").set("");
});

const value = (selector: string, name: string | RegExp) => (find(selector, name) as HTMLInputElement).value;
const filled = "Filled in from what you prefer for this folder.";
const created = () => hub.api.of("create-session").at(-1)?.body as { options: { [name: string]: unknown } };

it("reads and writes preferences", () => {
  expect(fieldsOf({})).toEqual({});
  expect(fieldsOf({ permission_mode: "plan", model: "opus", allow: ["Read", "Bash(ls:*)"], deny: [] })).toEqual({
    mode: "plan",
    model: "opus",
    allow: "Read\nBash(ls:*)",
  });
  const form = { ...emptyForm, dir: " /src ", mode: "plan", model: " opus ", deny: "\nBash(rm:*)\n" };
  expect(toSave(form)).toEqual({ dir: "/src", permission_mode: "plan", model: "opus", deny: ["Bash(rm:*)"] });
  expect(toSave({ ...form, mode: "bypassPermissions" }).permission_mode).toBeUndefined();
  expect(fieldsOf({ sandbox: "strict", sandbox_auto_allow: true })).toEqual({ sandbox: "strict", autoAllow: true });
  expect(fieldsOf({ sandbox: "deny-only" })).toEqual({ sandbox: "deny-only", autoAllow: false });
  const boxed = { ...emptyForm, dir: "/src", sandbox: "strict", autoAllow: true };
  expect(toSave(boxed)).toMatchObject({ sandbox: "strict", sandbox_auto_allow: true });
  expect(toSave({ ...boxed, sandbox: "deny-only" }).sandbox_auto_allow).toBeUndefined();
});

it("begins with what is preferred in the folder, and changes with the folder", async () => {
  prefer({ "/src/blog": { permission_mode: "plan", model: "opus", allow: ["Bash(ls:*)"] }, "/src/shop": { model: "haiku" } });
  await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
  await vi.waitFor(() => expect(document.body.textContent).toContain(filled));
  expect(value("input", /^Model/)).toBe("opus");
  await press(find("button", /^Start/));
  expect(created().options).toEqual({ model: "opus", permission_mode: "plan", allowed_tools: ["Bash(ls:*)"] });
  expect(hub.api.of("save-preferences")).toEqual([]);

  await erase();
  localStorage.clear();
  await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
  await vi.waitFor(() => expect(value("input", /^Model/)).toBe("opus"));
  await type(find("input", /^Folder/), "/src/shop");
  await vi.waitFor(() => expect(value("input", /^Model/)).toBe("haiku"));
  await press(find("button", /^Start/));
  expect(created().options).toEqual({ model: "haiku", permission_mode: "default" });
});

it("leaves alone what a person has chosen", async () => {
  prefer({ "/src/blog": { permission_mode: "plan", model: "opus" } });
  await draw(hub, <NewSession onClose={() => undefined} />);
  await type(find("input", /^Model/), "sonnet");
  await type(find("input", /^Folder/), "/src/blog");
  await vi.waitFor(() => expect(document.body.textContent).toContain(filled));
  expect(value("input", /^Model/)).toBe("sonnet");
  await press(find("button", /^Start/));
  expect(created().options).toEqual({ model: "sonnet", permission_mode: "plan" });
});

it("remembers for the folder when it is asked to", async () => {
  prefer({});
  await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
  await type(find("input", /^Model/), "opus");
  const box = find("label", /Remember for this folder/).querySelector<HTMLInputElement>("input[type=checkbox]");
  if (box) await press(box);
  await press(find("button", /^Start/));
  await vi.waitFor(() =>
    expect(hub.api.of("save-preferences").map((c) => c.body)).toEqual([
      { dir: "/src/blog", permission_mode: "default", model: "opus" },
    ]),
  );
});

it("works with a hub that has no preferences", async () => {
  await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
  await vi.waitFor(() => expect(hub.api.of("get-preferences")).toHaveLength(1));
  await press(find("button", /^Start/));
  expect(created().options).toEqual({ permission_mode: "default" });
});

it("begins with the sandbox that is preferred, and remembers the one that was chosen", async () => {
  prefer({ "/src/blog": { sandbox: "strict", sandbox_auto_allow: true } });
  await draw(hub, <NewSession preset={{ dir: "/src/blog" }} onClose={() => undefined} />);
  await vi.waitFor(() => expect(document.body.textContent).toContain(filled));
  const auto = () => find("label", /Allow commands without asking/).querySelector("input") as HTMLInputElement;
  expect(find("button", /^Strict|Strict .*Sandbox|Sandbox/).textContent).toContain("Strict");
  expect(auto().checked).toBe(true);
  const choose = async (name: RegExp) => {
    await press(find("button", /Sandbox/));
    await press(find("[role=option]", name));
  };
  await choose(/^Deny only/);
  expect(auto()).toMatchObject({ checked: false, disabled: true });
  await press(find("label", /Remember for this folder/).querySelector("input") as HTMLInputElement);
  await press(find("button", /^Start/));
  expect(created().options).toEqual({ permission_mode: "default", sandbox: "deny-only" });
  await vi.waitFor(() =>
    expect(hub.api.of("save-preferences").map((c) => c.body)).toEqual([
      { dir: "/src/blog", permission_mode: "default", sandbox: "deny-only" },
    ]),
  );
});

it("begins the next form with the sandbox of the last one, unless nothing holds back there", async () => {
  const last = (sandbox: string) => {
    remember(localStorage, { ...emptyForm, sandbox, autoAllow: true });
    return recall(localStorage);
  };
  expect(last("strict")).toMatchObject({ sandbox: "strict", autoAllow: true });
  expect(last("off").sandbox).toBe("");
  expect(last("tomorrow").sandbox).toBe("");
});
