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

test("a page is not tried while the hub is away: that it failed may be kept", async () => {
  let away = true;
  vi.stubGlobal("fetch", async () => {
    if (away) throw new TypeError("refused");
  });
  await vi.advanceTimersByTimeAsync(60_000); // the hub has long not been heard of
  const load = vi.fn(async () => "the page");
  const loaded = loadPatiently(load);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(load).not.toHaveBeenCalled();
  away = false;
  await vi.advanceTimersByTimeAsync(5000);
  expect(await loaded).toBe("the page");
  expect(load).toHaveBeenCalledTimes(1);
});

test("a page that the hub does not have is an error", async () => {
  vi.stubGlobal("fetch", async () => undefined);
  const loaded = expect(loadPatiently(() => Promise.reject(new TypeError("no such chunk")))).rejects.toThrow("no such chunk");
  await vi.advanceTimersByTimeAsync(10_000);
  await loaded;
});

test("a try that fails although the hub has just come back is not the last one", async () => {
  vi.stubGlobal("fetch", async () => undefined);
  let failures = 2; // one of the time before, and one that shares its request
  const load = vi.fn(async () => {
    if (failures-- > 0) throw new TypeError("not loaded");
    return "the page";
  });
  const loaded = loadPatiently(load);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await loaded).toBe("the page");
});
