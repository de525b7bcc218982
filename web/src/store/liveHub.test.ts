import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/error";
import { TokenBox } from "../api/token";
import { aQuestion, aSession, aSummary, FakeApi } from "./fake";
import { FakeSockets } from "./fakeSocket";
import { LiveHub } from "./liveHub";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function lab() {
  const api = new FakeApi();
  api.on("get-info", () => ({ api: "v1", version: "1", capabilities: [] }));
  api.on("list-sessions", () => ({ sessions: [aSummary()] }));
  api.on("list-questions", () => ({ questions: [] }));
  api.on("get-session", ({ params }) => aSession({ id: params?.id ?? "" }));
  api.on("get-events", () => ({ resume: "ok", events: [] }));
  const sockets = new FakeSockets();
  const token = new TokenBox(undefined);
  token.set({ text: "sb_a_b", name: "", scopes: ["observe", "approve"] });
  const hub = new LiveHub({ token, base: "http://h/sb/", api, connect: sockets.connect });
  const frame = () => vi.advanceTimersByTimeAsync(250);
  return { api, sockets, token, hub, frame };
}

test("it begins with what comes, and reads the lists once it is connected", async () => {
  const { api, sockets, hub, frame } = lab();
  const socket = sockets.last("/v1/events");
  expect(socket.address).toMatch(/^ws:\/\/h\/sb\/v1\/events\?/);
  expect(socket.asked("after")).toBe("now");
  expect(socket.asked("live")).toBe("false");
  expect(api.of("list-sessions")).toHaveLength(0);
  expect(hub.link.get().status).toBe("connecting");
  socket.resume("ok", "g:5");
  await frame();
  expect(hub.link.get().status).toBe("online");
  expect(hub.sessions.get()).toMatchObject({ loaded: true });
  expect(hub.sessions.get().byId.get("s1")).toBeDefined();
  expect(hub.questions.get().loaded).toBe(true);
  expect(hub.info.get()?.version).toBe("1");
});

test("after a lost connection it goes on at its position; nothing is read again", async () => {
  const { api, sockets, hub, frame } = lab();
  sockets.last().resume("ok", "g:5");
  await frame();
  sockets.last().event({ session: "s1", kind: "question_opened", data: aQuestion() as never }, "g:9");
  await vi.advanceTimersByTimeAsync(1000);
  expect(hub.questions.get().list).toHaveLength(1);
  sockets.last().end(1006);
  expect(hub.link.get()).toMatchObject({ status: "offline" });
  const since = hub.link.get().since;
  await vi.advanceTimersByTimeAsync(600);
  expect(sockets.last().asked("after")).toBe("g:9");
  expect(hub.link.get()).toMatchObject({ status: "offline", since });
  const before = api.of("list-sessions").length;
  sockets.last().resume("ok", "g:9");
  await frame();
  expect(hub.link.get().status).toBe("online");
  expect(api.of("list-sessions")).toHaveLength(before);
});

test.each(["gap", "reset"])("a %s leads to new lists, without the whole log", async (verdict) => {
  const { api, sockets, hub, frame } = lab();
  sockets.last().resume("ok", "g:5");
  await frame();
  sockets.last().end(1006);
  await vi.advanceTimersByTimeAsync(600);
  const old = sockets.last();
  api.on("list-sessions", () => ({ sessions: [aSummary({ id: "other" })] }));
  old.resume(verdict, "h:7");
  expect(old.left).toBe(true);
  expect(sockets.last().asked("after")).toBe("now");
  sockets.last().resume("ok", "h:7");
  await frame();
  expect([...hub.sessions.get().byId.keys()]).toEqual(["other"]);
});

test("lists that could not be read are read with the next connection, and when somebody wants to try again", async () => {
  const { api, sockets, hub, frame } = lab();
  api.on("list-sessions", () => {
    throw new ApiError({ status: 503, code: "closing", title: "going" });
  });
  sockets.last().resume("ok", "g:5");
  await frame();
  expect(hub.sessions.get()).toMatchObject({ loaded: false, error: { code: "closing" } });
  sockets.last().end(1012);
  await vi.advanceTimersByTimeAsync(600);
  sockets.last().resume("ok", "g:5");
  await frame();
  expect(api.of("list-sessions")).toHaveLength(2);
  api.on("list-sessions", () => ({ sessions: [aSummary()] }));
  hub.retry();
  await frame();
  expect(hub.sessions.get().loaded).toBe(true);
  expect(hub.sessions.get().error).toBeUndefined();
});

test("a session is shared, and closed a while after the last one has released it", async () => {
  const { sockets, hub, frame } = lab();
  sockets.last().resume("ok", "g:5");
  const one = hub.open("s1");
  expect(hub.open("s1")).toBe(one);
  await frame();
  const socket = sockets.last("/sessions/s1/events");
  one.release();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(socket.left).toBe(false);
  one.release();
  expect(hub.open("s1")).toBe(one);
  one.release();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(socket.left).toBe(true);
  expect(hub.open("s1")).not.toBe(one);
});

test("scopes are those of the token; leaving forgets it", () => {
  const { hub, token } = lab();
  expect(hub.can("approve")).toBe(true);
  expect(hub.can("admin")).toBe(false);
  hub.logout();
  expect(token.get()).toBeUndefined();
  expect(hub.can("approve")).toBe(false);
});

test("a closed hub has no connection left", async () => {
  const { hub, sockets, frame } = lab();
  sockets.last().resume("ok", "g:5");
  hub.open("s1");
  await frame();
  hub.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sockets.all.every((s) => s.left)).toBe(true);
});
