// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadPatiently } from "./load";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("a page that is asked for while the hub is away comes when it is back", async () => {
  let away = true;
  vi.stubGlobal("fetch", async () => {
    if (away) throw new TypeError("refused");
  });
  const load = vi.fn(async () => {
    if (away) throw new TypeError("not loaded");
    return "the page";
  });
  const loaded = loadPatiently(load);
  await vi.advanceTimersByTimeAsync(5000);
  expect(load.mock.calls.length).toBeGreaterThan(1);
  away = false;
  await vi.advanceTimersByTimeAsync(5000);
  expect(await loaded).toBe("the page");
});

test("a page that the hub does not have is an error", async () => {
  vi.stubGlobal("fetch", async () => undefined);
  await expect(loadPatiently(() => Promise.reject(new TypeError("no such chunk")))).rejects.toThrow("no such chunk");
});
