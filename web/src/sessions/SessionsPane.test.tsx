// @vitest-environment jsdom
import { act } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import { aSession, aSummary, type FakeHub, fakeHub } from "../store/fake";
import { looked, see, seen } from "../store/seen";
import { Confirmations } from "../ui/dialogs";
import { draw, erase, find, press, type } from "./draw";
import { SessionsPane } from "./SessionsPane";
import { useSeen } from "./useSeen";
import { filterText, look } from "./view";

let hub: FakeHub;

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    },
  );
  // There is no layout here: the list has the height of a window, and its rows theirs.
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockImplementation(function (this: HTMLElement) {
    return this.dataset.index === undefined ? 600 : 50;
  });
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(600);
  hub = fakeHub();
  hub.list(
    aSummary({ id: "a", title: "Alpha", state: "running" }),
    aSummary({ id: "b", title: "Beta", state: "idle" }),
    aSummary({ id: "c", title: "Gamma", state: "ended" }),
  );
});

afterEach(async () => {
  await erase();
  vi.unstubAllGlobals();
  filterText.set("");
  look.set({ states: "all", group: "none", sort: "updated" });
});

const titles = () => [...document.querySelectorAll("ul a")].map((a) => a.textContent);

const pane = (
  <>
    <SessionsPane selected="b" />
    <Confirmations />
  </>
);

/** The list beside a session that somebody looks at. */
function LookedAt() {
  useSeen("b");
  return pane;
}

describe("SessionsPane", () => {
  it("marks sandboxes that hold back most, and those that hold back nothing although they should", async () => {
    hub.list(
      aSummary({ id: "a", title: "Alpha", sandbox: "strict" }),
      aSummary({ id: "b", title: "Beta", sandbox: "none" }),
      aSummary({ id: "c", title: "Gamma", sandbox: "deny-only" }),
      aSummary({ id: "d", title: "Delta", sandbox: "off" }),
    );
    await draw(hub, pane);
    const rows = [...document.querySelectorAll("ul a")].map((a) => a.closest("li")?.textContent ?? "");
    const marked = (title: string) => /Sandbox (strict|unenforced)/.exec(rows.find((r) => r.startsWith(title)) ?? "")?.[1];
    expect(["Alpha", "Beta", "Gamma", "Delta"].map(marked)).toEqual(["strict", "unenforced", undefined, undefined]);
  });

  it("lists the sessions as links and says which one is open", async () => {
    await draw(hub, pane);
    expect(titles()).toEqual(["Alpha", "Beta", "Gamma"]);
    expect(find("a", "Beta").getAttribute("aria-current")).toBe("page");
    expect(find("a", "Alpha").getAttribute("href")).toBe("#/s/a");
  });

  it("says which ones have failed instead of what they do, filters by that, and retries them", async () => {
    hub.list(
      aSummary({ id: "a", title: "Alpha", failed: true, state: "idle" }),
      aSummary({ id: "b", title: "Beta", state: "idle" }),
    );
    hub.api.on("retry-session", () => ({ id: "m", state: "queued" }));
    await draw(hub, pane);
    const rows = [...document.querySelectorAll("ul li")].map((row) => /Failed|Idle/.exec(row.textContent ?? "")?.[0]);
    expect(rows).toEqual(["Failed", "Idle"]);
    await press(find("[role=radio]", /^Failed/));
    expect(titles()).toEqual(["Alpha"]);
    await press(find("button", "Retry Alpha"));
    expect(hub.api.of("retry-session").map((c) => c.params)).toEqual([{ id: "a" }]);
    await act(async () => hub.list(aSummary({ id: "a", title: "Alpha", state: "running" })));
    expect(document.querySelector("button[aria-label='Retry Alpha']")).toBeNull();
  });

  it("shows what the agent said last, and marks what happened since somebody looked", async () => {
    const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
    const list = (seconds: number): void =>
      hub.list(
        aSummary({ id: "a", title: "Alpha", state: "running", updated: at(seconds), text: "All tests pass." }),
        aSummary({ id: "b", title: "Beta", state: "idle", updated: at(seconds) }),
        aSummary({ id: "c", title: "Gamma", state: "idle", updated: at(seconds) }),
      );
    const texts = () => [...document.querySelectorAll("ul li")].map((row) => row.textContent ?? "");
    list(10);
    seen.set({ byId: new Map() });
    await draw(hub, <LookedAt />);
    expect(texts()[0]).toContain("All tests pass.");
    expect(texts().some((text) => /since you looked/.test(text))).toBe(false);
    await act(async () => list(20));
    // What is open is seen.
    expect(texts().map((text) => /(New activity|Finished) since you looked/.exec(text)?.[1])).toEqual([
      "New activity",
      undefined,
      "Finished",
    ]);
    await act(async () => see((now) => looked(now, "c", 20_000)));
    expect(texts()[2]).not.toContain("since you looked");
    expect(JSON.parse(localStorage.getItem("switchboard.seen") ?? "").byId).toEqual({ b: 20_000, c: 20_000 });
  });

  it("draws as many rows as fit, of however many sessions", async () => {
    hub.list(...Array.from({ length: 5000 }, (_, i) => aSummary({ id: `s${i}`, title: `Session ${i}` })));
    await draw(hub, pane);
    expect(titles().length).toBeGreaterThan(5);
    expect(titles().length).toBeLessThan(40);
  });

  it("follows the hub, filters by text and state, and can be cleared", async () => {
    await draw(hub, pane);
    await type(find("input", "Filter sessions"), "gam");
    expect(titles()).toEqual(["Gamma"]);
    await press(find("[role=radio]", /^Running/));
    expect(titles()).toEqual([]);
    await press(find("button", "Clear filter"));
    expect(titles()).toEqual(["Alpha", "Beta", "Gamma"]);
    await act(async () => hub.list(aSummary({ id: "a", title: "Renamed" })));
    expect(titles()).toEqual(["Renamed"]);
  });

  it("stops those of the chosen that have a process, once that is confirmed, and keeps those chosen that failed", async () => {
    hub.api.on("stop-session", ({ params }) => {
      if (params?.id === "b") throw new ApiError({ status: 504, code: "timeout", title: "The agent did not answer" });
      return aSession({ id: params?.id });
    });
    await draw(hub, pane);
    await press(find("button", "Select"));
    await press(find("button", "Select all"));
    await press(find("[role=toolbar] button", "Stop"));
    expect(hub.api.of("stop-session")).toEqual([]);
    await press(find("[role=alertdialog] button", "Stop"));
    expect(hub.api.of("stop-session").map((c) => c.params?.id)).toEqual(["a", "b"]);
    expect(document.body.textContent).toContain("1 of 2 failed");
    expect(document.body.textContent).toContain("Beta: The agent did not answer");
    expect(find("[role=toolbar]", /./).textContent).toContain("1 session selected");
  });

  it("does nothing that the token may not", async () => {
    hub.scopes = new Set(["observe"]);
    await draw(hub, pane);
    await press(find("button", "Select"));
    await press(find("button", "Select all"));
    await press(find("[role=toolbar] button", "Archive"));
    await press(find("[role=toolbar] button", "Stop"));
    expect(hub.api.calls).toEqual([]);
    expect(document.querySelector("[role=alertdialog]")).toBeNull();
  });

  it("shows the archive, read page by page until there is something to show, and takes sessions back", async () => {
    let archived = true;
    hub.api.on("list-sessions", ({ query }) =>
      query?.cursor
        ? { sessions: [aSummary({ id: "z", title: "Old", state: "ended", archived })] }
        : { sessions: [aSummary({ id: "a" })], next: "2" },
    );
    hub.api.on("unarchive-session", () => {
      archived = false;
      return aSession({ id: "z" });
    });
    await draw(hub, pane);
    await press(find("button", "Archived sessions"));
    expect(titles()).toEqual(["Old"]);
    await press(find("button", "Select"));
    await press(find("button", "Select all"));
    await press(find("[role=toolbar] button", "Unarchive"));
    expect(hub.api.of("unarchive-session").map((c) => c.params)).toEqual([{ id: "z" }]);
    expect(titles()).toEqual([]);
    expect(document.body.textContent).toContain("No archived sessions");
  });

  it("names the machine beside the folder, and in the heading of the folder, but not the hub's own", async () => {
    hub.list(aSummary({ id: "a", title: "Alpha", node: "gpu-1" }), aSummary({ id: "b", title: "Beta" }));
    await draw(hub, pane);
    const rows = () => [...document.querySelectorAll("li[data-index]")].map((li) => li.textContent ?? "");
    expect(rows().map((text) => [text.includes("Machine gpu-1"), text.includes("Machine")])).toEqual([
      [true, true],
      [false, false],
    ]);
    look.set({ states: "all", group: "dir", sort: "updated" });
    await draw(hub, pane);
    expect([...document.querySelectorAll("h3")].map((h) => h.textContent)).toEqual(["blog · gpu-1 1", "blog 1"]);
    expect(rows().filter((text) => text.includes("Alpha"))[0]).not.toContain("gpu-1");
  });
});
