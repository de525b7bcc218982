import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeSockets } from "../store/fakeSocket";
import type { LinkState } from "../store/hub";
import { ApiError } from "./error";
import { EventStream } from "./stream";
import { TokenBox } from "./token";
import type { Frame } from "./types";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function lab(why: () => Promise<ApiError | undefined> = async () => undefined) {
  const sockets = new FakeSockets();
  const token = new TokenBox(undefined);
  token.set({ text: "sb_a_b", name: "", scopes: [] });
  const frames: Frame[] = [];
  const states: LinkState[] = [];
  const last = { id: "e:1" };
  const stream = new EventStream({
    address: () => `http://h/v1/events?after=${last.id}`,
    token,
    frame: (f) => frames.push(f),
    status: (s) => states.push(s),
    why,
    connect: sockets.connect,
    random: () => 1,
  });
  return { sockets, token, frames, states, stream, last, status: () => states.at(-1)?.status };
}

test("it connects with the token as a sub-protocol and hands on what comes", () => {
  const { sockets, frames, status } = lab();
  const socket = sockets.last();
  expect(socket.address).toBe("ws://h/v1/events?after=e:1");
  expect(socket.protocols).toEqual(["switchboard.v1", "sb.token.sb_a_b"]);
  expect(status()).toBe("connecting");
  socket.resume();
  expect(status()).toBe("online");
  socket.send({ type: "heartbeat" });
  socket.onmessage?.({ data: "{broken" });
  socket.event({ session: "s", kind: "state" });
  expect(frames.map((f) => f.type)).toEqual(["resume", "event"]);
});

test("a lost connection is made again, later each time, with the last id", () => {
  const { sockets, states, last } = lab();
  sockets.last().resume();
  last.id = "e:7";
  const pauses: number[] = [];
  for (let n = 0; n < 7; n++) {
    const before = sockets.all.length;
    sockets.last().end(1006);
    const state = states.findLast((s) => s.status === "offline");
    pauses.push((state?.retryAt ?? 0) - Date.now());
    vi.advanceTimersByTime((state?.retryAt ?? 0) - Date.now());
    expect(sockets.all).toHaveLength(before + 1);
  }
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
  expect(sockets.last().asked("after")).toBe("e:7");
  sockets.last().resume();
  sockets.last().end(1012);
  expect((states.at(-1)?.retryAt ?? 0) - Date.now()).toBe(500);
});

test("retry connects at once", () => {
  const { sockets, stream } = lab();
  sockets.last().resume();
  sockets.last().end(1006);
  stream.retry();
  expect(sockets.all).toHaveLength(2);
  stream.retry();
  expect(sockets.all).toHaveLength(2);
});

test("three silent heartbeats mean that it is dead", () => {
  const { sockets, status } = lab();
  const socket = sockets.last();
  socket.resume();
  vi.advanceTimersByTime(29_000);
  socket.send({ type: "heartbeat" });
  vi.advanceTimersByTime(29_000);
  expect(socket.left).toBe(false);
  vi.advanceTimersByTime(2_000);
  expect(socket.left).toBe(true);
  expect(status()).toBe("offline");
});

test("after a sleep the first look finds it dead", () => {
  const { sockets, stream, status } = lab();
  sockets.last().resume();
  vi.setSystemTime(3_600_000);
  stream.retry();
  expect(status()).toBe("offline");
});

test("the server's reason is told", () => {
  const { sockets, states } = lab();
  sockets.last().resume();
  sockets.last().send({ type: "closing", reason: "the hub is shutting down" });
  sockets.last().end(1001);
  expect(states.at(-1)?.reason).toBe("the hub is shutting down");
});

test("a token that is good no more ends it", () => {
  const { sockets, token, status } = lab();
  sockets.last().resume();
  sockets.last().end(1008);
  expect(status()).toBe("refused");
  expect(token.get()).toBeUndefined();
  vi.advanceTimersByTime(60_000);
  expect(sockets.all).toHaveLength(1);
});

test("a connection that never was is looked into", async () => {
  const { sockets, token, status } = lab(async () => {
    token.drop("revoked");
    return new ApiError({ status: 401, code: "unauthorized", title: "no" });
  });
  sockets.last().end(1006);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(status()).toBe("refused");
  expect(sockets.all).toHaveLength(1);
});

test("a closed stream does nothing more", () => {
  const { sockets, stream, frames } = lab();
  const socket = sockets.last();
  stream.close();
  expect(socket.left).toBe(true);
  socket.resume();
  stream.retry();
  vi.advanceTimersByTime(120_000);
  expect(frames).toEqual([]);
  expect(sockets.all).toHaveLength(1);
});

test("why there is no connection is told, if the server says it", async () => {
  const { sockets, states } = lab(async () => new ApiError({ status: 403, code: "forbidden", title: "The token may not look" }));
  sockets.last().end(1006);
  await vi.advanceTimersByTimeAsync(0);
  expect(states.at(-1)).toMatchObject({ status: "offline", retryAt: 500, reason: "The token may not look" });
});

test("the end of an old token does not take a new one along", () => {
  const { sockets, token } = lab();
  sockets.last().resume();
  token.set({ text: "sb_c_d", name: "", scopes: [] });
  sockets.last().end(1008);
  expect(token.get()?.text).toBe("sb_c_d");
});

test("a clock that is set back does not make a dead connection live for hours", () => {
  const { sockets, status } = lab();
  sockets.last().resume();
  vi.setSystemTime(-3_600_000);
  vi.advanceTimersByTime(10_000);
  expect(status()).toBe("offline");
});
