// @vitest-environment jsdom
import { act } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import { keyGroups } from "../app/keys";
import { draw, erase, find, press, type } from "../sessions/draw";
import { filterText } from "../sessions/view";
import { aNode, type FakeHub, fakeHub } from "../store/fake";
import { Confirmations } from "../ui/dialogs";
import { Toasts } from "../ui/toast";
import { MachinesPage } from ".";

let hub: FakeHub;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-02-03T04:15:06Z"), toFake: ["Date", "setInterval", "clearInterval"] });
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  hub = fakeHub();
  location.hash = "#/machines";
});

afterEach(async () => {
  await erase();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  filterText.set("");
});

const page = (
  <>
    <MachinesPage />
    <Confirmations />
    <Toasts />
  </>
);

/** Draws the page of a hub with machines. */
async function show(...nodes: ReturnType<typeof aNode>[]): Promise<void> {
  hub.api.on("list-nodes", () => ({ nodes }));
  await draw(hub, page);
}

const card = (name: string) => find("article", name);
const menu = async (name: string) => press(find("button", `Actions for ${name}`));
const entry = (name: RegExp) => find("[role=menuitem]", name);
const dialog = (name: RegExp) => find("[role=alertdialog]", name);
const text = () => document.body.textContent ?? "";
async function agree(title: RegExp, action: string): Promise<void> {
  await press([...dialog(title).querySelectorAll("button")].find((b) => b.textContent === action) as HTMLElement);
}

describe("MachinesPage", () => {
  it("says what a machine is and how to add one while there is none", async () => {
    await show();
    expect(text()).toContain("No other machines");
    expect(text()).toContain("another computer that runs agents for this hub");
    await press(find("button", /^Add a machine/));
    find("[role=dialog]", "Add a machine");
  });

  it("tells what a machine is and does", async () => {
    hub.info.set({ ...hub.info.get(), version: "v0.2.0" } as NonNullable<ReturnType<typeof hub.info.get>>);
    await show(aNode({ labels: { gpu: "a100" }, sessions: 3, max_sessions: 8, address: "192.0.2.7" }));
    const shown = card("gpu-1").textContent ?? "";
    for (const part of [
      "Online",
      "gpu=a100",
      "3 of 8",
      "25% of 8 CPUs",
      "8 GB free of 32 GB",
      "2.1.325",
      "/usr/bin/claude",
      "v0.1.0",
      "The hub is v0.2.0",
      "linux/amd64 · gpu-1.lan",
      "bubblewrap",
      "192.0.2.7",
      "sha256:Qm9v4x2eZ1u0",
    ])
      expect(shown).toContain(part);
    expect(shown).not.toContain("clock");
    expect(find("[role=meter]", "Memory").getAttribute("aria-valuenow")).toBe("75");
    expect(text()).toContain("1 of 1 connected");
  });

  it("tells nothing that is not known of a machine that is away, and what was wrong with one that is there", async () => {
    await show(
      aNode({ name: "away", state: "offline", draining: true }),
      aNode({ name: "bare", clis: [], sandbox: undefined, skew_millis: -3400 }),
      aNode({ name: "new", state: "offline", last_seen: undefined, clis: [], sandbox: undefined }),
    );
    const away = card("away").textContent ?? "";
    expect(away).toContain("Offline");
    expect(away).toContain("Draining");
    expect(away).toContain("Last seen 10m ago");
    for (const stale of ["CPUs", "free of"]) expect(away).not.toContain(stale);
    const bare = card("bare").textContent ?? "";
    expect(bare).toContain("Its clock is 3.4s behind the hub’s");
    expect(bare).toContain("None found");
    expect(bare).toContain("sandboxes are not enforced");
    const fresh = card("new").textContent ?? "";
    expect(fresh).toContain("Never connected");
    expect(fresh).not.toContain("None found");
    expect(text()).toContain("1 of 3 connected");
  });

  it("reads the machines again and again, and keeps them while the hub does not answer", async () => {
    let nodes = [aNode()];
    hub.api.on("list-nodes", () => ({ nodes }));
    await draw(hub, page);
    nodes = [aNode({ state: "offline" })];
    await act(async () => vi.advanceTimersByTimeAsync(5000));
    expect(card("gpu-1").textContent).toContain("Offline");
    hub.api.on("list-nodes", () => {
      throw new ApiError({ status: 500, code: "internal", title: "The disk is full" });
    });
    await act(async () => vi.advanceTimersByTimeAsync(5000));
    expect(text()).toContain("The disk is full");
    card("gpu-1");
    const before = hub.api.of("list-nodes").length;
    hub.link.set({ status: "offline", since: 0 });
    await act(async () => vi.advanceTimersByTimeAsync(20_000));
    expect(hub.api.of("list-nodes").length).toBeLessThanOrEqual(before + 1);
  });

  it("drains a machine and takes it back", async () => {
    hub.api.on("drain-node", () => undefined as never);
    await show(aNode({ sessions: 2 }));
    await menu("gpu-1");
    await press(entry(/^Drain/));
    expect(hub.api.of("drain-node")).toMatchObject([{ params: { node: "n-gpu-1" }, body: { draining: true } }]);
    expect(text()).toContain("gpu-1 takes no new sessions; 2 sessions continue");
    await show(aNode({ state: "draining", draining: true }));
    await act(async () => vi.advanceTimersByTimeAsync(5000));
    await menu("gpu-1");
    await press(entry(/^Stop draining/));
    expect(hub.api.of("drain-node")[1]).toMatchObject({ body: { draining: false } });
  });

  it("says what becomes of the sessions before a machine is locked out, and does nothing when that is not wanted", async () => {
    hub.api.on("revoke-node", () => undefined as never);
    await show(aNode({ sessions: 2 }));
    await menu("gpu-1");
    await press(entry(/^Revoke/));
    expect(dialog(/Revoke “gpu-1”/).textContent).toContain("2 sessions go offline");
    await agree(/Revoke “gpu-1”/, "Cancel");
    expect(hub.api.of("revoke-node")).toEqual([]);
    await menu("gpu-1");
    await press(entry(/^Revoke/));
    await agree(/Revoke “gpu-1”/, "Revoke");
    expect(hub.api.of("revoke-node")).toMatchObject([{ params: { node: "n-gpu-1" } }]);
  });

  it("says what ends before a machine is forgotten, and shows why that failed", async () => {
    let fails = true;
    hub.api.on("forget-node", () => {
      if (fails) throw new ApiError({ status: 500, code: "internal", title: "The journal is full" });
      return undefined as never;
    });
    await show(aNode({ state: "revoked", sessions: 1 }));
    await menu("gpu-1");
    // What is locked out cannot be drained, or locked out again.
    expect(document.querySelectorAll("[role=menuitem]")).toHaveLength(3);
    await press(entry(/^Forget/));
    expect(dialog(/Forget “gpu-1”/).textContent).toContain("1 running session ends");
    await agree(/Forget “gpu-1”/, "Forget");
    expect(dialog(/Forget “gpu-1”/).textContent).toContain("The journal is full");
    fails = false;
    hub.api.on("list-nodes", () => ({ nodes: [] }));
    await agree(/Forget “gpu-1”/, "Forget");
    expect(text()).toContain("No other machines");
  });

  it("changes nothing without the right, and says why", async () => {
    hub.scopes.delete("admin");
    await show(aNode());
    expect(find("button", /^Add a machine/).getAttribute("aria-disabled")).toBe("true");
    await menu("gpu-1");
    for (const name of [/^Drain/, /^Revoke/, /^Forget/]) {
      expect(entry(name).getAttribute("aria-disabled")).toBe("true");
      expect(entry(name).textContent).toContain("Needs the scope “admin”");
    }
    expect(
      keyGroups
        .get()
        .flatMap(({ keys }) => keys)
        .find(({ keys }) => keys === "a")?.when,
    ).toBe(false);
  });

  it("leads to the sessions of a machine", async () => {
    await show(aNode());
    await menu("gpu-1");
    await press(entry(/^Show sessions/));
    expect(filterText.get()).toBe("gpu-1");
    expect(location.hash).toBe("#/");
  });

  it("goes from machine to machine by keys", async () => {
    await show(aNode({ name: "a1" }), aNode({ name: "b2" }));
    const key = (keys: string) => {
      const binding = keyGroups
        .get()
        .flatMap((group) => group.keys)
        .find((one) => one.keys === keys);
      binding?.run(new KeyboardEvent("keydown"));
    };
    key("j");
    expect(document.activeElement).toBe(card("a1"));
    key("j");
    key("j");
    expect(document.activeElement).toBe(card("b2"));
    key("k");
    expect(document.activeElement).toBe(card("a1"));
  });
});

describe("InviteDialog", () => {
  const invitation = {
    code: "sbn_secret",
    url: "https://hub.example.com",
    command: "switchboard node join https://hub.example.com --code sbn_secret",
    expires: "2026-02-03T04:30:06Z",
  };

  async function open(): Promise<void> {
    await show();
    await press(find("button", /^Add a machine/));
  }

  const create = () => press(find("button", /^Create command/));

  it("asks the hub only for what it takes, and marks what is wrong", async () => {
    await open();
    await type(find("input", "Name"), "GPU");
    await create();
    expect(find("input", "Name").getAttribute("aria-invalid")).toBe("true");
    expect(hub.api.of("invite-node")).toEqual([]);
  });

  it("shows the command, when it ends, and that the machine has come", async () => {
    let nodes: ReturnType<typeof aNode>[] = [];
    await open();
    hub.api.on("list-nodes", () => ({ nodes }));
    hub.api.on("invite-node", () => invitation);
    await type(find("input", "Name"), "gpu-1");
    await type(find("textarea", "Labels"), "gpu=a100");
    await create();
    expect(hub.api.of("invite-node")).toMatchObject([{ body: { name: "gpu-1", labels: { gpu: "a100" }, ttl: 900 } }]);
    expect(text()).toContain(invitation.command);
    expect(text()).toContain("switchboard node run");
    expect(text()).toMatch(/It works once, until \d\d:\d\d/);
    expect(text()).toContain("Waiting for the machine…");
    expect(text()).not.toContain("works only on the hub’s own machine");
    // Another one that comes is not the one that was invited.
    nodes = [aNode({ name: "other" })];
    await act(async () => vi.advanceTimersByTimeAsync(5000));
    expect(text()).toContain("Waiting for the machine…");
    nodes = [...nodes, aNode({ state: "offline", last_seen: undefined })];
    await act(async () => vi.advanceTimersByTimeAsync(5000));
    expect(text()).toContain("gpu-1 has joined");
    nodes = [aNode({ name: "other" }), aNode()];
    await act(async () => vi.advanceTimersByTimeAsync(5000));
    expect(text()).toContain("gpu-1 is connected.");
  });

  it("says when the code has expired, and that an address leads nowhere from elsewhere", async () => {
    await open();
    hub.api.on("invite-node", () => ({ ...invitation, url: "http://127.0.0.1:8765" }));
    await create();
    expect(text()).toContain("works only on the hub’s own machine");
    expect(text()).not.toContain("has expired");
    await act(async () => vi.advanceTimersByTimeAsync(15 * 60_000));
    expect(text()).toContain("The code has expired");
    await press(find("button", "Create another"));
    find("input", "Name");
  });

  it("shows why the hub refuses", async () => {
    await open();
    hub.api.on("invite-node", () => {
      throw new ApiError({ status: 409, code: "conflict", title: "Too many invitations", hint: "Wait." });
    });
    await create();
    expect(text()).toContain("Too many invitations");
  });
});
