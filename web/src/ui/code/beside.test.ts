// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readBeside } from "./beside";

vi.mock("./worker?worker&url", () => ({ default: "assets/worker-1.js" }));

/** A worker that answers when the test says so. */
class FakeWorker {
  static all: FakeWorker[] = [];
  onmessage: (message: { data: unknown }) => void = () => {};
  onerror: () => void = () => {};
  asked: unknown[] = [];
  ended = false;
  constructor() {
    FakeWorker.all.push(this);
  }
  postMessage(message: unknown) {
    this.asked.push(message);
  }
  terminate() {
    this.ended = true;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("Worker", FakeWorker);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("asks for one text at a time, and ends what takes too long", async () => {
  const slow = readBeside("slow", "c");
  const next = readBeside("next", "c");
  await vi.advanceTimersByTimeAsync(0);
  const [first] = FakeWorker.all;
  expect(first?.asked).toEqual([{ text: "slow", language: "c" }]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await slow).toBeUndefined();
  expect(first?.ended).toBe(true);
  // The next one gets a worker of its own, which stays.
  const second = FakeWorker.all[1];
  expect(second?.asked).toEqual([{ text: "next", language: "c" }]);
  second?.onmessage({ data: [[{ text: "next" }]] });
  expect(await next).toEqual([[{ text: "next" }]]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(second?.ended).toBe(false);
  // One that breaks is replaced as well.
  const broken = readBeside("broken", "c");
  await vi.advanceTimersByTimeAsync(0);
  second?.onerror();
  expect(await broken).toBeUndefined();
  expect(second?.ended).toBe(true);
});
