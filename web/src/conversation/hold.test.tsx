// @vitest-environment jsdom
import { act, useEffect, useRef } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useHold } from "./hold";

let frames: (() => void)[] = [];

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("requestAnimationFrame", (next: () => void) => frames.push(next));
  vi.stubGlobal("cancelAnimationFrame", () => {
    frames = [];
  });
});
afterEach(() => void vi.unstubAllGlobals());

type Hold = ReturnType<typeof useHold>;

function List({ tell }: { tell(hold: Hold, element: HTMLElement | null): void }) {
  const scroll = useRef<HTMLDivElement>(null);
  const hold = useHold(scroll);
  useEffect(() => tell(hold, scroll.current));
  return <div ref={scroll} />;
}

/** A list of which a hundred pixels are seen, with something in it that stands where a test says. */
async function aList() {
  const told: { hold?: Hold; element?: HTMLElement | null } = {};
  const root = createRoot(document.createElement("div"));
  await act(async () => root.render(<List tell={(hold, element) => void Object.assign(told, { hold, element })} />));
  const { element, hold } = told;
  if (!element || !hold) throw new Error("no list");
  Object.defineProperty(element, "clientHeight", { value: 100 });
  const at = { place: 1000 };
  const thing = { getBoundingClientRect: () => new DOMRect(0, at.place - element.scrollTop, 10, 20) };
  const frame = () => {
    for (const next of frames.splice(0)) next();
  };
  return { element, at, thing, frame, ...hold, end: () => act(async () => root.unmount()) };
}

it("brings something to its place, however often that moves, until it stands still", async () => {
  const list = await aList();
  const then = vi.fn();
  let drawn = false;
  list.hold(
    () => (drawn ? list.thing : null),
    (height, room) => (room - height) / 2,
    then,
  );
  list.frame();
  expect(list.element.scrollTop).toBe(0);
  drawn = true;
  list.frame();
  expect(list.element.scrollTop).toBe(960);
  list.at.place = 1200;
  list.frame();
  expect(list.element.scrollTop).toBe(1160);
  for (let i = 0; i < 4; i++) {
    expect(then).not.toHaveBeenCalled();
    list.frame();
  }
  expect(then).toHaveBeenCalledTimes(1);
  expect(frames).toEqual([]);
  await list.end();
});

it("lets go when somebody moves the list, or another place is wanted", async () => {
  const list = await aList();
  const [first, second] = [vi.fn(), vi.fn()];
  const begin = (then: () => void) =>
    list.hold(
      () => list.thing,
      () => 0,
      then,
    );
  begin(first);
  list.element.dispatchEvent(new Event("wheel"));
  expect(first).toHaveBeenCalledTimes(1);
  expect(frames).toEqual([]);
  begin(second);
  list.release();
  list.frame();
  expect(list.element.scrollTop).toBe(0);
  expect(second).not.toHaveBeenCalled();
  begin(second);
  await list.end();
  expect(frames).toEqual([]);
});
