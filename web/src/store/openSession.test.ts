import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/error";
import { TokenBox } from "../api/token";
import type { Event, Frame, Session } from "../api/types";
import type { Item } from "../talk/item";
import { aQuestion, aSession, FakeApi } from "./fake";
import { FakeSockets } from "./fakeSocket";
import { LiveSession } from "./openSession";

// What becomes of events is not the matter here: each line is an item, and deltas change the item "writing".
vi.mock("../talk/talk", () => ({
  Talk: class {
    top: string[] = [];
    private moved() {
      this.top = [...this.top];
    }
    items = new Map<string, Item>();
    writing = 0;
    private put(e: Event, front: boolean): string | undefined {
      if (e.kind !== "line" && e.kind !== "gap") return undefined;
      const id = e.id ?? "gap";
      this.items.set(id, { kind: "unknown", id, event: e.id, type: "t", raw: null });
      if (front) this.top.unshift(id);
      else this.top.push(id);
      return id;
    }
    event(e: Event) {
      const id = this.put(e, false);
      if (this.top.length < 1000) this.moved(); // with very many, a test that needs it would take too long
      return { order: id !== undefined, items: new Set(id ? [id] : []) };
    }
    prepend(events: readonly Event[]) {
      const ids = events.toReversed().map((e) => this.put(e, true));
      this.moved();
      return { order: true, items: new Set(ids.filter((id) => id !== undefined)) };
    }
    frame(f: Frame) {
      if (f.type === "event" && f.event) return this.event(f.event);
      this.items.set("writing", { kind: "text", id: "writing", text: `${++this.writing}` });
      return { order: false, items: new Set(["writing"]) };
    }
    trim(keep: number) {
      const gone = this.top.slice(0, this.top.length - keep);
      this.top = this.top.slice(-keep);
      for (const id of gone) this.items.delete(id);
      return { order: true, items: new Set(gone) };
    }
    item(id: string) {
      return this.items.get(id);
    }
    itemOf(event: string) {
      return this.items.has(event) ? event : undefined;
    }
    get firstEvent() {
      return this.top[0];
    }
  },
}));

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function line(seq: number, epoch = "e"): Event {
  return { id: `${epoch}:${seq}`, seq, session: "s1", kind: "line", line: { type: "assistant" } };
}

/** A server with a session whose log has so many lines. */
function lab(count: number, kind = (_seq: number) => "line") {
  const api = new FakeApi();
  const server = { epoch: "e", log: [] as Event[], removed: 0, down: false, session: {} as Partial<Session> };
  const add = (n: number) => {
    for (let i = 0; i < n; i++) {
      const seq = server.log.length + 1;
      server.log.push({ ...line(seq, server.epoch), kind: kind(seq) });
    }
  };
  add(count);
  const check = () => {
    if (server.down) throw new ApiError({ status: 0, code: "unreachable", title: "down" });
  };
  api.on("get-session", () => {
    check();
    return aSession({ last_event_id: `${server.epoch}:${server.log.length}`, ...server.session });
  });
  api.on("get-events", ({ query }) => {
    check();
    const [epoch, seq] = (query?.after ?? `${server.epoch}:0`).split(":");
    const reset = epoch !== server.epoch;
    const from = Math.max(reset ? 0 : Number(seq), server.removed);
    const gap = Number(seq) < server.removed;
    const events = server.log.slice(from, from + (query?.limit ?? 1000));
    const next = from + events.length;
    return {
      resume: reset ? "reset" : gap ? "gap" : "ok",
      events,
      next: `${server.epoch}:${next}`,
      more: next < server.log.length,
    };
  });
  const sockets = new FakeSockets();
  const token = new TokenBox(undefined);
  token.set({ text: "sb_a_b", name: "", scopes: [] });
  const session = new LiveSession(
    "s1",
    { api, token, base: "http://h/", connect: sockets.connect, online: () => true },
    () => {},
  );
  const frame = () => vi.advanceTimersByTimeAsync(250);
  const ids = () => session.order.get().ids;
  return { api, server, add, sockets, session, frame, ids };
}

test("the end of the log is read, and followed from the snapshot on", async () => {
  const { sockets, session, frame, ids } = lab(500);
  await frame();
  expect(ids()).toHaveLength(200);
  expect(ids()[0]).toBe("e:301");
  expect(session.order.get()).toMatchObject({ older: true, loading: false, generation: 0 });
  expect(session.snapshot.get().session?.id).toBe("s1");
  expect(sockets.last().asked("after")).toBe("e:500");
  sockets.last().resume();
  sockets.last().event(line(501));
  sockets.last().event(line(501));
  await frame();
  expect(ids()).toHaveLength(201);
});

test("a short log has nothing before it", async () => {
  const { session, frame, ids } = lab(3);
  await frame();
  expect(ids()).toEqual(["e:1", "e:2", "e:3"]);
  expect(session.order.get().older).toBe(false);
});

test("what the stream brings before the page waits for it", async () => {
  const { api, sockets, session, frame, ids } = lab(2);
  let answer: (() => void) | undefined;
  api.on(
    "get-events",
    () => new Promise((resolve) => (answer = () => resolve({ resume: "ok", events: [line(1), line(2)], next: "e:2" }))),
  );
  await frame();
  sockets.last().resume();
  sockets.last().event(line(3));
  await frame();
  expect(ids()).toEqual([]);
  expect(session.order.get().loading).toBe(true);
  answer?.();
  await frame();
  expect(ids()).toEqual(["e:1", "e:2", "e:3"]);
});

test("many deltas are one notification of their item, and none of the order or of other items", async () => {
  const { sockets, session, frame } = lab(5);
  await frame();
  sockets.last().resume();
  const counts = { writing: 0, other: 0, order: 0 };
  session.item("writing").subscribe(() => counts.writing++);
  session.item("e:1").subscribe(() => counts.other++);
  session.order.subscribe(() => counts.order++);
  for (let n = 0; n < 100; n++) sockets.last().send({ type: "live", event: { session: "s1", kind: "live" } });
  expect(counts.writing).toBe(0);
  await frame();
  expect(counts).toEqual({ writing: 1, other: 0, order: 0 });
  expect(session.item("writing").get()).toMatchObject({ text: "100" });
  expect(session.item("writing")).toBe(session.item("writing"));
});

test("older pages come before, until the beginning", async () => {
  const { session, frame, ids } = lab(450);
  await frame();
  await session.older();
  expect(ids()[0]).toBe("e:51");
  expect(session.order.get()).toMatchObject({ older: true, loading: false });
  await Promise.all([session.older(), session.older()]);
  expect(ids()).toHaveLength(450);
  expect(session.order.get().older).toBe(false);
  await session.older();
  expect(ids()).toHaveLength(450);
});

test("pages with nothing to see are passed over", async () => {
  const { session, frame, ids } = lab(1000, (seq) => (seq > 50 && seq <= 800 ? "command" : "line"));
  await frame();
  expect(ids()[0]).toBe("e:801");
  await session.older();
  expect(ids()[0]).toBe("e:1");
});

test("a page that cannot be read says why, and can be read again", async () => {
  const { server, session, frame, ids } = lab(450);
  await frame();
  server.down = true;
  await session.older();
  expect(session.order.get().error?.code).toBe("unreachable");
  server.down = false;
  await session.older();
  expect(session.order.get().error).toBeUndefined();
  expect(ids()[0]).toBe("e:51");
});

test("what was removed from the log is said", async () => {
  const { server, session, frame, ids } = lab(450);
  server.removed = 100;
  await frame();
  await session.older();
  expect(ids()[0]).toBe("e:101");
  expect(session.order.get()).toMatchObject({ older: false, notice: "gap" });
});

test("an event far back is revealed with what lies between", async () => {
  const { session, frame, ids } = lab(5000);
  await frame();
  expect(await session.reveal("e:1000")).toBe("e:1000");
  expect(ids().includes("e:2500")).toBe(true);
  expect(ids()).toHaveLength(5000 - 949);
  expect(await session.reveal("e:4990")).toBe("e:4990");
  expect(await session.reveal("other:5")).toBeUndefined();
  expect(await session.reveal("e:6000")).toBeUndefined();
});

test("an event very far back is shown with a gap behind it", async () => {
  const { api, session, frame, ids } = lab(60_000);
  await frame();
  const before = api.calls.length;
  expect(await session.reveal("e:100")).toBe("e:100");
  expect(api.calls.length - before).toBeLessThan(5);
  expect(ids()).toContain("gap");
  expect(ids().length).toBeLessThan(500);
});

test("a lost connection goes on after the last event; another log is read anew", async () => {
  const { server, add, sockets, session, frame, ids } = lab(10);
  await frame();
  sockets.last().resume();
  sockets.last().event(line(11));
  sockets.last().end(1006);
  await vi.advanceTimersByTimeAsync(1000);
  expect(sockets.last().asked("after")).toBe("e:11");
  server.epoch = "f";
  server.log = [];
  add(4);
  sockets.last().resume("reset", "f:4");
  sockets.last().event(line(1, "f")); // of the stream that is left
  await frame();
  expect(ids()).toEqual(["f:1", "f:2", "f:3", "f:4"]);
  expect(session.order.get()).toMatchObject({ generation: 1, notice: "reset" });
  expect(sockets.last().asked("after")).toBe("f:4");
});

test("state, questions and messages are in the snapshot at once, and an older answer does not take them back", async () => {
  const { api, sockets, session, frame } = lab(1);
  await frame();
  sockets.last().resume();
  let answer: (() => void) | undefined;
  const stale = aSession({ last_event_id: "e:2", state: "running" });
  api.on("get-session", () => new Promise((resolve) => (answer = () => resolve(stale))));
  sockets.last().event({ ...line(2), kind: "state", data: { state: "running" } });
  expect(session.snapshot.get().session?.state).toBe("running");
  await vi.advanceTimersByTimeAsync(600);
  sockets.last().event({ ...line(3), kind: "question_opened", data: aQuestion() as never });
  sockets.last().event({ ...line(4), kind: "state", data: { state: "requires_action" } });
  answer?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(session.snapshot.get().session).toMatchObject({ state: "requires_action", questions: [{ id: "q1" }] });
});

test("many events have the snapshot read a few times", async () => {
  const { api, sockets, frame } = lab(1);
  await frame();
  sockets.last().resume();
  const before = api.of("get-session").length;
  for (let n = 2; n < 102; n++) {
    sockets.last().event({ ...line(n), kind: "state", data: { state: n % 2 ? "idle" : "running" } });
    await vi.advanceTimersByTimeAsync(20);
  }
  await vi.advanceTimersByTimeAsync(1000);
  expect(api.of("get-session").length - before).toBeLessThanOrEqual(6);
});

test("a session that cannot be read says why, and is read when there is a connection", async () => {
  const { api, server, session, sockets, frame, ids } = lab(3);
  server.down = true;
  session.close();
  const token = new TokenBox(undefined);
  token.set({ text: "sb_a_b", name: "", scopes: [] });
  const again = new LiveSession("s1", { api, token, base: "http://h/", connect: sockets.connect, online: () => true }, () => {});
  await frame();
  expect(again.snapshot.get().error?.code).toBe("unreachable");
  expect(again.order.get().loading).toBe(false);
  server.down = false;
  again.retry();
  await frame();
  expect(again.snapshot.get().error).toBeUndefined();
  expect(again.order.get().ids).toHaveLength(3);
  expect(ids()).toEqual([]);
});

test("the oldest items are dropped while the reader is at the end, and can be read again", async () => {
  const { sockets, session, frame, ids, server, add } = lab(100);
  await frame();
  sockets.last().resume();
  session.reading(false);
  add(20_000);
  for (const e of server.log.slice(100)) sockets.last().event(e);
  await frame();
  expect(ids()).toHaveLength(20_100);
  session.reading(true);
  expect(ids()).toHaveLength(15_000);
  expect(session.order.get().older).toBe(true);
  const first = ids()[0];
  await session.older();
  expect(ids()).toHaveLength(15_200);
  expect(ids()[200]).toBe(first);
});

test("an event that was left out on the way to one far back can be shown, too", async () => {
  const { session, frame, ids } = lab(60_000);
  await frame();
  expect(await session.reveal("e:100")).toBe("e:100");
  expect(await session.reveal("e:50000")).toBe("e:50000");
  expect(ids()).not.toContain("gap");
  expect(session.order.get().generation).toBe(1);
});

test("two that look back at once do not forget how far the other came", async () => {
  const { api, server, session, frame } = lab(5000);
  await frame();
  const held = new Map<number, () => void>();
  api.on("get-events", ({ query }) => {
    const from = Number(query?.after?.split(":")[1] ?? 0);
    const events = server.log.slice(from, from + (query?.limit ?? 0));
    const page = { resume: "ok", events, next: `e:${from + events.length}`, more: true };
    return from === 949 || from === 4600 ? new Promise((resolve) => held.set(from, () => resolve(page))) : page;
  });
  const revealed = session.reveal("e:1000");
  await vi.advanceTimersByTimeAsync(0);
  const older = session.older();
  held.get(949)?.();
  await revealed;
  held.get(4600)?.();
  await older;
  const before = api.of("get-events").length;
  await session.older();
  expect(api.of("get-events")[before]?.query).toMatchObject({ after: "e:749" });
});

test("after a lost connection the snapshot is read again, though no event says so", async () => {
  const { api, sockets, session, server, frame } = lab(3);
  await frame();
  sockets.last().resume();
  await frame();
  const before = api.of("get-session").length;
  server.session = { title: "Renamed while the hub was restored" };
  sockets.last().end(1006);
  await vi.advanceTimersByTimeAsync(1000);
  sockets.last().resume();
  await vi.advanceTimersByTimeAsync(1000);
  expect(api.of("get-session")).toHaveLength(before + 1);
  expect(session.snapshot.get().session?.title).toBe("Renamed while the hub was restored");
});

test("a session that the server could not read is tried again by itself, one that is gone is not", async () => {
  const { api, sockets, session } = lab(3);
  session.close();
  const token = new TokenBox(undefined);
  token.set({ text: "sb_a_b", name: "", scopes: [] });
  let status = 503;
  api.on("get-session", () => {
    if (status) throw new ApiError({ status, code: "storage", title: "no" });
    return aSession({ last_event_id: "e:3" });
  });
  const options = { api, token, base: "http://h/", connect: sockets.connect, online: () => true };
  const again = new LiveSession("s1", options, () => {});
  await vi.advanceTimersByTimeAsync(1000);
  expect(again.snapshot.get().error?.status).toBe(503);
  status = 0;
  await vi.advanceTimersByTimeAsync(2000);
  expect(again.snapshot.get().error).toBeUndefined();
  expect(again.order.get().ids).toHaveLength(3);
  again.close();
  status = 404;
  const gone = new LiveSession("s2", options, () => {});
  const before = api.of("get-session").length;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(gone.snapshot.get().error?.status).toBe(404);
  expect(api.of("get-session")).toHaveLength(before);
});

test("whoever tries again after the first page could not be read gets it", async () => {
  const { api, server, sockets, session, frame, ids } = lab(30);
  await frame();
  sockets.last().resume();
  const good = { resume: "ok", events: server.log, next: "e:30" };
  api.on("get-events", () => {
    throw new ApiError({ status: 422, code: "invalid", title: "no" });
  });
  sockets.last().resume("gap", "e:30");
  await frame();
  expect(session.order.get().error?.code).toBe("invalid");
  api.on("get-events", () => good);
  await session.older();
  expect(session.order.get().error).toBeUndefined();
  expect(ids()).toHaveLength(30);
  expect(sockets.last().left).toBe(false);
});

test("long lines are dropped sooner than many short ones", async () => {
  const { api, session, sockets, frame } = lab(100);
  session.close();
  const token = new TokenBox(undefined);
  token.set({ text: "sb_a_b", name: "", scopes: [] });
  const options = { api, token, base: "http://h/", connect: sockets.connect, online: () => true, mostText: 1_000_000 };
  const long = new LiveSession("s1", options, () => {});
  await frame();
  sockets.last().resume();
  for (let seq = 101; seq <= 700; seq++)
    sockets.last().event({ ...line(seq), line: { type: "assistant", text: "x".repeat(1500) } });
  await frame();
  expect(long.order.get().ids).toHaveLength(700);
  for (let seq = 701; seq <= 1200; seq++)
    sockets.last().event({ ...line(seq), line: { type: "assistant", text: "x".repeat(1500) } });
  await frame();
  expect(long.order.get().ids).toHaveLength(600);
  expect(long.order.get()).toMatchObject({ older: true });
  expect(long.order.get().ids.at(-1)).toBe("e:1200");
  long.close();
});
