// @vitest-environment jsdom
import { act } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import type { SearchResult } from "../api/types";
import { aSummary, type FakeHub, fakeHub } from "../store/fake";
import { draw, erase, find, press, type } from "./draw";
import { SearchPage } from "./SearchPage";

const hit = (n: number, snippet: string) => ({
  event_id: `e:${n}`,
  seq: n,
  session: "s1",
  kind: "assistant",
  title: `Title ${n}`,
  snippet,
  marks: [{ from: 0, to: 4 }],
  time: "2026-02-03T04:05:06Z",
});

let hub: FakeHub;

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  hub = fakeHub();
  location.hash = "";
});

afterEach(async () => {
  await erase();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("SearchPage", () => {
  it("asks nothing without words", async () => {
    await draw(hub, <SearchPage q="" />);
    expect(hub.api.of("search")).toEqual([]);
  });

  it("shows hits with their marks, which lead to the events, and further pages", async () => {
    hub.api.on("search", ({ query }) =>
      query?.cursor ? { hits: [hit(1, "pear tree")] } : { hits: [hit(2, "pear <b>&")], next: "page2" },
    );
    await draw(hub, <SearchPage q="pear" />);
    expect(find("a", "Title 2").getAttribute("href")).toBe("#/s/s1/e/e%3A2");
    expect(document.querySelector("mark")?.textContent).toBe("pear");
    expect(document.body.textContent).toContain("pear <b>&");
    await press(find("button", "Show more"));
    expect(hub.api.of("search").map((c) => c.query)).toEqual([
      { q: "pear", cursor: undefined, limit: 50 },
      { q: "pear", cursor: "page2", limit: 50 },
    ]);
    expect([...document.querySelectorAll("ol a")].map((a) => a.textContent)).toEqual(["Title 2", "Title 1"]);
  });

  it("begins anew after an error, not with a later page of what was asked before", async () => {
    let down = false;
    hub.api.on("search", ({ query }) => {
      if (down) throw new ApiError({ status: 503, code: "storage", title: "Not now" });
      return query?.cursor ? { hits: [hit(1, "later")] } : { hits: [hit(2, "first")], next: "page2" };
    });
    await draw(hub, <SearchPage q="pear" />);
    down = true;
    await draw(hub, <SearchPage q="pears" />);
    expect(document.body.textContent).toContain("Not now");
    down = false;
    await press(find("button", "Try again"));
    expect([...document.querySelectorAll("ol a")].map((a) => a.textContent)).toEqual(["Title 2"]);
  });

  it("does not take a late answer to what was asked before", async () => {
    const answers = new Map<string, (r: SearchResult) => void>();
    hub.api.on("search", ({ query }) => new Promise((resolve) => answers.set(query?.q ?? "", resolve)));
    await draw(hub, <SearchPage q="old" />);
    await draw(hub, <SearchPage q="new" />);
    const titles = () => [...document.querySelectorAll("ol a")].map((a) => a.textContent);
    await act(async () => answers.get("old")?.({ hits: [hit(2, "old one")] }));
    expect(titles()).toEqual([]);
    await act(async () => answers.get("new")?.({ hits: [hit(1, "new one")] }));
    expect(titles()).toEqual(["Title 1"]);
  });

  it("puts what is typed into the address once somebody pauses", async () => {
    vi.useFakeTimers();
    await draw(hub, <SearchPage q="" />);
    await type(find("input", "Search all conversations"), " pear ");
    expect(location.hash).toBe("");
    await act(async () => vi.advanceTimersByTime(300));
    expect(location.hash).toBe("#/search?q=pear");
  });

  it("names the machine of a session that is not on the hub's own", async () => {
    hub.list(aSummary({ id: "s1", title: "pear cake", node: "gpu-1" }));
    hub.api.on("search", () => ({
      hits: [
        { ...hit(1, "pear tree"), dir: "/src/x" },
        { ...hit(2, "pear pie"), session: "s2" },
      ],
    }));
    await draw(hub, <SearchPage q="pear" />);
    const hits = [...document.querySelectorAll("ol > li")].map((li) => li.textContent ?? "");
    expect(hits.map((text) => text.includes("gpu-1"))).toEqual([true, false]);
    expect(find("section a", /pear cake/).textContent).toContain("gpu-1");
  });
});
