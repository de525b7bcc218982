// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeSession } from "../store/fake";
import type { Item } from "../talk/item";
import { Announcer, News } from "./Announcer";

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const turn = (n: number, more: Partial<Extract<Item, { kind: "turn" }>> = {}): Item => ({
  kind: "turn",
  id: `t${n}`,
  event: `e:${n}`,
  subtype: "success",
  failed: false,
  interrupted: false,
  ...more,
});
const text = (n: number): Item => ({ kind: "text", id: `x${n}`, event: `e:${n}`, text: "words" });
const notice = (n: number, level: "warn" | "bad"): Item => ({
  kind: "notice",
  id: `n${n}`,
  event: `e:${n}`,
  topic: "gap",
  level,
  title: "Lines are missing here",
});

it("tells what comes and matters, and nothing of what was there", () => {
  const session = new FakeSession("s");
  session.order.set({ ...session.order.get(), loading: true });
  const news = new News(session);
  session.put(text(1), turn(2));
  session.order.set({ ...session.order.get(), loading: false });
  expect(news.take()).toEqual([]);
  session.put(text(3), notice(4, "warn"), notice(5, "bad"), turn(6));
  expect(news.take()).toEqual(["Error: Lines are missing here", "Turn done"]);
  expect(news.take()).toEqual([]);
  session.put(turn(7, { failed: true, interrupted: true }), turn(8, { failed: true, subtype: "error_max_turns" }));
  expect(news.take()).toEqual(["Turn interrupted", "Turn failed: Turn limit reached"]);
  // Older ones come in front.
  session.item("t0").set(turn(1));
  session.order.set({ ...session.order.get(), ids: ["t0", ...session.order.get().ids] });
  expect(news.take()).toEqual([]);
  // With another log all is there at once.
  session.item("u").set({ ...turn(1), id: "u", event: "f:1" });
  session.order.set({ ...session.order.get(), ids: ["u"], generation: 1 });
  expect(news.take()).toEqual([]);
  session.put({ ...turn(2), id: "v", event: "f:2" });
  expect(news.take()).toEqual(["Turn done"]);
  // After a gap the numbers may begin anew.
  session.put({ ...turn(1), id: "w", event: "g:1" });
  expect(news.take()).toEqual(["Turn done"]);
});

it("tells nothing of what is being written, but of a compaction, once", () => {
  const session = new FakeSession("s");
  const news = new News(session);
  session.put({ kind: "text", id: "live", text: "wor", streaming: true });
  expect(news.take()).toEqual([]);
  session.put({ ...notice(1, "warn"), id: "c", topic: "compaction", title: "It is summed up", streaming: true } as Item);
  expect(news.take()).toEqual(["It is summed up"]);
  session.put(text(2));
  expect(news.take()).toEqual([]);
});

it("looks at what is new only, however long the conversation is", () => {
  const session = new FakeSession("s");
  session.put(...Array.from({ length: 2000 }, (_, i) => text(i + 1)));
  const news = new News(session);
  const look = vi.spyOn(session, "item");
  session.put(turn(2001));
  look.mockClear();
  expect(news.take()).toEqual(["Turn done"]);
  expect(look.mock.calls.length).toBeLessThan(5);
});

it("gives each sentence its time, and says the same one again", async () => {
  const session = new FakeSession("s");
  const host = document.createElement("div");
  const root = createRoot(host);
  await act(async () => root.render(<Announcer session={session} />));
  const region = host.querySelector("[role=status]");
  const said = () => region?.textContent;
  expect(said()).toBe("");
  act(() => session.put(turn(1)));
  expect(said()).toBe("Turn done");
  act(() => session.put(notice(2, "bad"), turn(3, { failed: true, interrupted: true })));
  expect(said()).toBe("Turn done");
  act(() => void vi.advanceTimersByTime(3000));
  expect(said()).toBe("Error: Lines are missing here. Turn interrupted");
  act(() => void vi.advanceTimersByTime(3000));
  expect(said()).toBe("");
  act(() => session.put(turn(4)));
  expect(said()).toBe("Turn done");
  await act(async () => root.unmount());
  expect(vi.getTimerCount()).toBe(0);
});
