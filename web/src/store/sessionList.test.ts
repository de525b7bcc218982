import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/error";
import type { SessionSummary } from "../api/types";
import { aSummary, FakeApi } from "./fake";
import { SessionList } from "./sessionList";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

/** A server with sessions, the most recently updated first. */
function lab(count: number) {
  const all: SessionSummary[] = Array.from({ length: count }, (_, i) => aSummary({ id: `s${i}` }));
  const api = new FakeApi();
  api.on("list-sessions", ({ query }) => {
    const shown = all.filter((s) => query?.archived || !s.archived);
    const from = Number(query?.cursor ?? 0);
    const to = from + (query?.limit ?? 100);
    return { sessions: shown.slice(from, to), next: to < shown.length ? String(to) : undefined };
  });
  const list = new SessionList(api);
  /** Changes a session at the server, which puts it to the front. */
  const change = (id: string, parts: Partial<SessionSummary>) => {
    const at = all.findIndex((s) => s.id === id);
    const old = all.splice(at, 1)[0];
    if (old) all.unshift({ ...old, ...parts });
  };
  const get = (id: string) => list.state.get().byId.get(id);
  return { api, list, change, get, all };
}

test("all pages are read, and the first one is shown before the others", async () => {
  const { list } = lab(450);
  const sizes: [number, boolean][] = [];
  list.state.subscribe(() => sizes.push([list.state.get().byId.size, list.state.get().loaded]));
  await list.reload();
  expect(sizes).toEqual([
    [200, false],
    [400, false],
    [450, true],
  ]);
});

test("a state is changed at the next frame, the rest is read once for many events", async () => {
  const { api, list, change, get } = lab(450);
  await list.reload();
  const before = api.calls.length;
  change("s400", { state: "running", title: "New" });
  for (let n = 0; n < 100; n++) list.event({ session: "s400", kind: "state", data: { state: "running" } });
  for (let n = 0; n < 50; n++) list.event({ session: `s${n}`, kind: "run_started" });
  await vi.advanceTimersByTimeAsync(249);
  expect(get("s400")?.title).toBeUndefined();
  await vi.advanceTimersByTimeAsync(10);
  expect(get("s400")).toMatchObject({ state: "running", title: "New" });
  expect(api.calls.length - before).toBe(1);
});

test("a turn that begins and ends within a frame is seen to begin and to end", async () => {
  const { list, get } = lab(3);
  await list.reload();
  const states: (string | undefined)[] = [];
  list.state.subscribe(() => states.push(get("s1")?.state));
  for (const state of ["running", "requires_action", "idle"]) list.event({ session: "s1", kind: "state", data: { state } });
  await vi.advanceTimersByTimeAsync(250);
  expect(states.slice(0, 3)).toEqual(["running", "requires_action", "idle"]);
});

test("busy sessions do not make a storm of requests", async () => {
  const { api, list, change } = lab(500);
  await list.reload();
  const before = api.calls.length;
  for (let n = 0; n < 100; n++) {
    change(`s${n}`, { usd: n });
    list.event({ session: `s${n}`, kind: "line" });
    await vi.advanceTimersByTimeAsync(100);
  }
  await vi.advanceTimersByTimeAsync(1000);
  expect(api.calls.length - before).toBeLessThanOrEqual(26); // 10 seconds and a half, at most one in 400 ms
  expect(list.state.get().byId.get("s99")?.usd).toBe(99);
});

test("entries that did not change stay the same objects", async () => {
  const { list, change, get } = lab(3);
  await list.reload();
  const other = get("s1");
  change("s0", { usd: 1 });
  list.event({ session: "s0", kind: "line" });
  await vi.advanceTimersByTimeAsync(1000);
  expect(get("s0")?.usd).toBe(1);
  expect(get("s1")).toBe(other);
});

test("new sessions come, archived ones go, and come back", async () => {
  const { list, change, all, get } = lab(2);
  await list.reload();
  all.unshift(aSummary({ id: "new" }));
  list.event({ session: "new", kind: "created" });
  change("s1", { archived: true });
  list.event({ session: "s1", kind: "updated" });
  await vi.advanceTimersByTimeAsync(1000);
  expect([...list.state.get().byId.keys()].sort()).toEqual(["new", "s0"]);
  change("s1", { archived: false });
  list.event({ session: "s1", kind: "updated" });
  await vi.advanceTimersByTimeAsync(1000);
  expect(get("s1")).toBeDefined();
});

test("one that is not among the newest is found by reading everything", async () => {
  const { list, all, get } = lab(900);
  await list.reload();
  const old = all[899];
  if (old) all[899] = { ...old, title: "Late" };
  list.event({ session: "s899", kind: "updated" });
  await vi.advanceTimersByTimeAsync(1000);
  expect(get("s899")?.title).toBe("Late");
});

test("a state that came while all was read is not lost", async () => {
  const { api, list, get, all } = lab(3);
  const stale = [...all];
  let answer: (() => void) | undefined;
  api.on("list-sessions", () => new Promise((resolve) => (answer = () => resolve({ sessions: stale }))));
  const done = list.reload();
  list.event({ session: "s1", kind: "state", data: { state: "running" } });
  await vi.advanceTimersByTimeAsync(20);
  answer?.();
  await done;
  expect(get("s1")?.state).toBe("running");
});

test("without a connection what was missed is read with the next event", async () => {
  const { api, list, change, get } = lab(2);
  await list.reload();
  change("s1", { title: "T" });
  let down = true;
  const all = [aSummary({ id: "s1", title: "T" }), aSummary({ id: "s0" })];
  api.on("list-sessions", () => {
    if (down) throw new Error("down");
    return { sessions: all };
  });
  list.event({ session: "s1", kind: "updated" });
  await vi.advanceTimersByTimeAsync(1000);
  down = false;
  list.event({ session: "s0", kind: "updated" });
  await vi.advanceTimersByTimeAsync(1000);
  expect(get("s1")?.title).toBe("T");
});

test("a session that changes while the pages are read is not missed", async () => {
  // As the server does it: a cursor is the place of the last entry, and what changes moves to the front, past it.
  let clock = 1000;
  const updated = () => new Date(clock++).toISOString();
  const all = Array.from({ length: 450 }, (_, i) => aSummary({ id: `s${i}`, updated: new Date(900 - i).toISOString() }));
  const api = new FakeApi();
  let busy = true;
  api.on("list-sessions", ({ query }) => {
    const rest = query?.cursor ? all.filter((s) => s.updated < (query.cursor ?? "")) : [...all];
    const sessions = rest.slice(0, query?.limit);
    if (busy) {
      // One that was not read yet writes a line, of a kind that the list is not told of.
      busy = false;
      const one = all.splice(400, 1)[0];
      if (one) all.unshift({ ...one, updated: updated() });
    }
    return { sessions, next: sessions.length < rest.length ? sessions.at(-1)?.updated : undefined };
  });
  const list = new SessionList(api);
  await list.reload();
  expect(list.state.get().byId.size).toBe(450);
  expect(list.state.get().byId.has("s400")).toBe(true);
});

test("a list that could not be read says so until it was, and is tried again by itself", async () => {
  const { api, list, all } = lab(3);
  let down = true;
  api.on("list-sessions", () => {
    if (down) throw new ApiError({ status: 503, code: "storage", title: "full" });
    return { sessions: all };
  });
  await list.reload();
  list.event({ session: "s1", kind: "state", data: { state: "running" } });
  await vi.advanceTimersByTimeAsync(300);
  expect(list.state.get()).toMatchObject({ loaded: false, error: { code: "storage" } });
  down = false;
  await vi.advanceTimersByTimeAsync(2000);
  expect(list.state.get()).toMatchObject({ loaded: true, error: undefined });
  expect(list.state.get().byId.size).toBe(3);
});

test("an answer that is older than an event does not take its state back", async () => {
  const { api, list, get, all } = lab(3);
  await list.reload();
  const states: (string | undefined)[] = [];
  list.state.subscribe(() => states.push(get("s1")?.state));
  const stale = all.map((s) => (s.id === "s1" ? { ...s, state: "running" } : s));
  let answer: (() => void) | undefined;
  api.on("list-sessions", () => new Promise((resolve) => (answer = () => resolve({ sessions: stale }))));
  list.event({ session: "s1", kind: "state", data: { state: "running" } });
  await vi.advanceTimersByTimeAsync(300);
  list.event({ session: "s1", kind: "state", data: { state: "ended" } });
  await vi.advanceTimersByTimeAsync(300);
  answer?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(get("s1")?.state).toBe("ended");
  expect(states.lastIndexOf("running")).toBeLessThan(states.indexOf("ended"));
});

test("what could not be read for want of a connection is read when there is one", async () => {
  const { api, list, get } = lab(2);
  await list.reload();
  let down = true;
  api.on("list-sessions", () => {
    if (down) throw new ApiError({ status: 0, code: "unreachable", title: "down" });
    return { sessions: [aSummary({ id: "s1", title: "T" })] };
  });
  list.event({ session: "s1", kind: "updated" });
  await vi.advanceTimersByTimeAsync(1000);
  down = false;
  list.retry();
  await vi.advanceTimersByTimeAsync(500);
  expect(get("s1")?.title).toBe("T");
});
