// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fakeHub } from "../store/fake";
import { HubContext } from "../store/hub";
import { appTexts as t } from "../texts/app";
import { Banner } from "./Banner";

let root: Root;
let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.useFakeTimers();
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
});

afterEach(() => {
  act(() => root.unmount());
  place.remove();
  vi.useRealTimers();
});

function show() {
  const hub = fakeHub();
  act(() =>
    root.render(
      <HubContext value={hub}>
        <Banner />
      </HubContext>,
    ),
  );
  return hub;
}

test("a short loss is not worth a word, a longer one is told with the next try", () => {
  const hub = show();
  act(() => hub.link.set({ status: "offline", since: Date.now(), retryAt: Date.now() + 8000 }));
  expect(place.textContent).not.toContain(t.link.tryNow);
  act(() => vi.advanceTimersByTime(2000));
  expect(place.querySelector('[role="status"]')?.textContent).toContain(t.link.offlineMeans);
  expect(place.textContent).toContain(t.link.retryIn(6));
  act(() => hub.link.set({ status: "online", since: Date.now() }));
  expect(place.textContent).not.toContain(t.link.tryNow);
});

test("trying now is asked of the hub", () => {
  const hub = show();
  const retry = vi.spyOn(hub, "retry");
  act(() => hub.link.set({ status: "offline", since: Date.now() - 5000 }));
  act(() => vi.advanceTimersByTime(0));
  act(() => place.querySelector("button")?.click());
  expect(retry).toHaveBeenCalledOnce();
});

test("simulated agents are labelled", () => {
  const hub = show();
  act(() => hub.info.set({ api: "v1", version: "1", capabilities: [], simulated: true }));
  expect(place.textContent).toContain(t.simulated);
});
