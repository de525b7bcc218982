// @vitest-environment jsdom
import { act, useEffect, useRef } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useFollow } from "./List";

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => void vi.unstubAllGlobals());

type Sizes = Record<"scrollTop" | "clientHeight" | "scrollHeight", number>;

interface Props {
  sizes: Sizes;
  toEnd(): void;
  tell(atEnd: boolean, element: HTMLElement | null): void;
}

function List({ sizes, toEnd, tell }: Props) {
  const scroll = useRef<HTMLElement | null>(null);
  const { atEnd } = useFollow(scroll, toEnd);
  useEffect(() => tell(atEnd, scroll.current));
  const made = (element: HTMLElement | null) => {
    scroll.current = element;
    if (!element) return;
    for (const name of Object.keys(sizes)) {
      Object.defineProperty(element, name, { get: () => Reflect.get(sizes, name), configurable: true });
    }
  };
  return <div ref={made} />;
}

/** A list whose sizes are what a test says: 1000 pixels, of which 300 are to be seen, at its end. */
async function aList() {
  const sizes: Sizes = { scrollTop: 700, clientHeight: 300, scrollHeight: 1000 };
  const toEnd = vi.fn();
  let at: boolean | undefined;
  let list: HTMLElement | null = null;
  const told = (atEnd: boolean, element: HTMLElement | null) => {
    at = atEnd;
    list = element;
  };
  const root = createRoot(document.createElement("div"));
  await act(async () => root.render(<List sizes={sizes} toEnd={toEnd} tell={told} />));
  const tell = (event: Event) => act(async () => void list?.dispatchEvent(event));
  return { sizes, toEnd, atEnd: () => at, tell, end: () => act(async () => root.unmount()) };
}

test("whoever scrolls up leaves the end, and comes back by scrolling down", async () => {
  const list = await aList();
  list.sizes.scrollTop = 500;
  await list.tell(new Event("scroll"));
  expect(list.atEnd()).toBe(false);
  list.sizes.scrollTop = 700;
  await list.tell(new Event("scroll"));
  expect(list.atEnd()).toBe(true);
  expect(list.toEnd).not.toHaveBeenCalled();
  await list.end();
});

test("a list that is moved because its sizes change stays at its end", async () => {
  const list = await aList();
  // A question below it has gone: there is more room, the browser moves it up, and rows come in the same moment.
  Object.assign(list.sizes, { scrollTop: 500, clientHeight: 500, scrollHeight: 1200 });
  await list.tell(new Event("scroll"));
  expect(list.atEnd()).toBe(true);
  expect(list.toEnd).toHaveBeenCalledTimes(1);
  // Rows that came are measured, and those above are lower than was thought.
  Object.assign(list.sizes, { scrollTop: 450, scrollHeight: 1300 });
  await list.tell(new Event("scroll"));
  expect(list.atEnd()).toBe(true);
  expect(list.toEnd).toHaveBeenCalledTimes(2);
  await list.end();
});

test("a list that is moved some frames after its sizes have changed stays at its end, too", async () => {
  const list = await aList();
  Object.assign(list.sizes, { scrollTop: 800, scrollHeight: 1100 });
  await list.tell(new Event("scroll"));
  list.sizes.scrollTop = 600; // by what measures rows
  await list.tell(new Event("scroll"));
  expect(list.atEnd()).toBe(true);
  expect(list.toEnd).toHaveBeenCalledTimes(1);
  await list.end();
});

test("whoever scrolls up while rows come leaves the end all the same", async () => {
  const list = await aList();
  await list.tell(new Event("wheel"));
  Object.assign(list.sizes, { scrollTop: 600, scrollHeight: 1100 });
  await list.tell(new Event("scroll"));
  expect(list.atEnd()).toBe(false);
  expect(list.toEnd).not.toHaveBeenCalled();
  await list.end();
});
