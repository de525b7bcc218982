import { describe, expect, it } from "vitest";
import type { SessionSummary } from "../api/types";
import { aSummary } from "../store/fake";
import { arrange, countStates, filterOf, folderLabels, type Row, shortModel, titleOf, type View } from "./list";

const view: View = { text: "", states: "all", group: "none", sort: "updated" };

const sessions: SessionSummary[] = [
  aSummary({ id: "old", title: "Old", updated: "2026-02-01T00:00:00Z", state: "idle", dir: "/src/blog", usd: 3 }),
  aSummary({ id: "done", title: "Done", updated: "2026-02-05T00:00:00Z", state: "ended", dir: "/src/shop", usd: 1 }),
  aSummary({
    id: "asks",
    title: "Asks",
    updated: "2026-01-01T00:00:00Z",
    state: "requires_action",
    questions: 2,
    dir: "/src/shop",
  }),
  aSummary({
    id: "works",
    title: "Works",
    updated: "2026-02-03T00:00:00.5Z",
    state: "running",
    dir: "/src/blog",
    model: "claude-opus-4",
  }),
];

const ids = (rows: readonly Row[]): string[] =>
  rows.map((row) => (row.kind === "group" ? `[${row.label} ${row.count}]` : row.id));

describe("arrange", () => {
  it("puts those first that wait for somebody, and those last that have ended", () => {
    expect(ids(arrange(sessions, view))).toEqual(["asks", "works", "old", "done"]);
  });

  it("compares times and not their texts", () => {
    const pair = [
      aSummary({ id: "whole", updated: "2026-02-03T04:05:06Z" }),
      aSummary({ id: "later", updated: "2026-02-03T04:05:06.25Z" }),
    ];
    expect(ids(arrange(pair, view))).toEqual(["later", "whole"]);
  });

  it.each([
    ["usd", ["old", "done", "works", "asks"]],
    ["title", ["asks", "done", "old", "works"]],
  ] as const)("sorts by %s", (sort, want) => {
    expect(ids(arrange(sessions, { ...view, sort }))).toEqual(want);
  });

  it("finds sessions by their machine, and keeps folders of one path on two machines apart", () => {
    const there = { dir: "/src/blog", updated: "2026-02-04T00:00:00Z" };
    const all = [
      aSummary({ id: "here", ...there }),
      aSummary({ id: "gpu", ...there, node: "gpu-1" }),
      aSummary({ id: "gpu2", ...there, node: "gpu-2" }),
      aSummary({ id: "gpu1b", ...there, node: "gpu-1" }),
    ];
    expect(ids(arrange(all, { ...view, text: "GPU-1" }))).toEqual(["gpu", "gpu1b"]);
    const rows = arrange(all, { ...view, group: "dir" });
    expect(ids(rows)).toEqual(["[blog · gpu-1 2]", "gpu", "gpu1b", "[blog · gpu-2 1]", "gpu2", "[blog 1]", "here"]);
    expect(rows[0]).toMatchObject({ full: "/src/blog · gpu-1" });
  });

  it("groups by folder in the order of the first sessions, and by state in a fixed one", () => {
    // What waits for somebody is not to be looked for among the folders.
    expect(ids(arrange(sessions, { ...view, group: "dir", sort: "title" }))).toEqual([
      "[Needs you 1]",
      "asks",
      "[shop 1]",
      "done",
      "[blog 2]",
      "old",
      "works",
    ]);
    expect(ids(arrange(sessions, { ...view, group: "state" }))).toEqual([
      "[Needs you 1]",
      "asks",
      "[Running 1]",
      "works",
      "[Idle 1]",
      "old",
      "[Ended 1]",
      "done",
    ]);
  });

  it("has no heading without a session", () => {
    expect(arrange(sessions, { ...view, group: "dir", text: "nothing has this" })).toEqual([]);
  });

  it("wants all words, in the title, the folder, the model or the id", () => {
    expect(ids(arrange(sessions, { ...view, text: "OPUS blog" }))).toEqual(["works"]);
    expect(ids(arrange(sessions, { ...view, text: "shop opus" }))).toEqual([]);
  });

  it("filters by state", () => {
    expect(ids(arrange(sessions, { ...view, states: "waiting" }))).toEqual(["asks"]);
    expect(ids(arrange(sessions, { ...view, states: "ended" }))).toEqual(["done"]);
  });
});

describe("filterOf", () => {
  it("takes a session with a question for one that waits, whatever its state", () => {
    expect(filterOf(aSummary({ state: "running", questions: 1 }))).toBe("waiting");
  });

  it("takes a session that failed for one, unless it waits for somebody", () => {
    expect(filterOf(aSummary({ state: "idle", failed: true }))).toBe("failed");
    expect(filterOf(aSummary({ state: "ended", failed: true }))).toBe("failed");
    expect(filterOf(aSummary({ state: "idle", failed: true, questions: 1 }))).toBe("waiting");
    // A state is told sooner than the rest.
    expect(filterOf(aSummary({ state: "running", failed: true }))).toBe("working");
  });

  it("shows a state that is not known among the idle", () => {
    expect(filterOf(aSummary({ state: "dreaming" }))).toBe("idle");
  });

  it("counts every session once besides all", () => {
    expect(countStates(sessions)).toEqual({ all: 4, waiting: 1, failed: 0, working: 1, idle: 1, ended: 1 });
  });
});

describe("names", () => {
  it("calls a session by its title, else by its folder", () => {
    expect(titleOf({ title: " Blog ", dir: "/x" })).toBe("Blog");
    expect(titleOf({ title: " ", dir: "/src/blog/" })).toBe("Session in blog");
    expect(titleOf({})).toBe("Untitled session");
    expect(titleOf({ title: "safe \u202eevil" })).toBe("safe ⟨U+202E⟩evil");
  });

  it("tells folders of the same name apart", () => {
    expect([...folderLabels(["/a/blog", "/b/blog", "/c/shop", "", "/"])]).toEqual([
      ["/c/shop", "shop"],
      ["", "No folder"],
      ["/", "/"],
      ["/a/blog", "/a/blog"],
      ["/b/blog", "/b/blog"],
    ]);
    expect(folderLabels(["/x/a/blog", "/x/b/blog"]).get("/x/a/blog")).toBe("a/blog");
    expect(folderLabels(["/blog", "/x/blog"])).toEqual(
      new Map([
        ["/blog", "/blog"],
        ["/x/blog", "/x/blog"],
      ]),
    );
  });

  it("shortens models", () => {
    expect(shortModel("claude-opus-4-1-20250805")).toBe("opus-4-1");
    expect(shortModel("something")).toBe("something");
  });
});
