import { describe, expect, it } from "vitest";
import { aSummary } from "./fake";
import { begun, looked, markOf, mostSeen, readSeen, type Seen } from "./seen";

const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
const none: Seen = { byId: new Map() };

describe("what was seen of sessions", () => {
  it("takes what is there at the first visit for seen, and marks what happens after it", () => {
    const old = aSummary({ id: "old", updated: at(10), state: "idle" });
    expect(markOf(none, old)).toBeUndefined();
    const seen = begun(none, [old, aSummary({ id: "other", updated: at(7) })]);
    expect(markOf(seen, old)).toBeUndefined();
    const mark = (more: Parameters<typeof aSummary>[0]) => markOf(seen, aSummary({ id: "old", updated: at(11), ...more }));
    expect(mark({ state: "running" })).toBe("unread");
    expect(mark({ state: "idle" })).toBe("finished");
    // These say themselves what is the matter.
    expect(mark({ state: "ended" })).toBe("unread");
    expect(mark({ state: "idle", failed: true })).toBe("unread");
    expect(mark({ state: "idle", questions: 1 })).toBe("unread");
    expect(mark({ state: "idle", archived: true })).toBeUndefined();
    expect(begun(seen, [aSummary({ updated: at(99) })])).toBe(seen);
  });

  it("is cleared by looking, until something happens again", () => {
    let seen = begun(none, []);
    const session = (seconds: number) => aSummary({ id: "a", state: "idle", updated: at(seconds) });
    expect(markOf(seen, session(5))).toBe("finished");
    seen = looked(seen, "a", 5000);
    expect(markOf(seen, session(5))).toBeUndefined();
    expect(markOf(seen, session(6))).toBe("finished");
    // Nothing is unseen again.
    expect(looked(seen, "a", 4000)).toBe(seen);
    expect(looked(seen, "a", Number.NaN)).toBe(seen);
  });

  it("remembers a bounded number, and takes no session for unread because of it", () => {
    let seen = begun(none, []);
    for (let i = 1; i <= mostSeen + 10; i++) seen = looked(seen, `s${i}`, i * 1000);
    expect(seen.byId.size).toBe(mostSeen);
    expect(markOf(seen, aSummary({ id: "s1", state: "idle", updated: at(1) }))).toBeUndefined();
    expect(markOf(seen, aSummary({ id: "s1", state: "idle", updated: at(11) }))).toBe("finished");
  });

  it("reads what was kept, and nothing that does not fit", () => {
    expect(readSeen('{"since":5,"byId":{"a":7,"b":"x"}}')).toEqual({ since: 5, byId: new Map([["a", 7]]) });
    for (const text of [null, "", "3", "null", "[]", '{"since":"x","byId":3}'])
      expect(readSeen(text)).toEqual({ byId: new Map() });
  });
});
