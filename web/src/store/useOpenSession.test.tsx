// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import { fakeHub } from "./fake";
import { HubContext } from "./hub";
import { useOpenSession } from "./useOpenSession";

function Shown({ id, drawn }: { id: string; drawn: string[] }) {
  drawn.push(`${id}=${useOpenSession(id)?.id ?? "none"}`);
  return null;
}

test("a session is open as long as it is shown, and never another one in its place", () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  const hub = fakeHub();
  const drawn: string[] = [];
  const root = createRoot(document.createElement("div"));
  const show = (id: string) =>
    act(() =>
      root.render(
        <HubContext value={hub}>
          <Shown id={id} drawn={drawn} />
        </HubContext>,
      ),
    );
  show("a");
  show("b");
  expect(drawn).toEqual(["a=none", "a=a", "b=none", "b=b"]);
  expect([hub.open("a").released, hub.open("b").released]).toEqual([1, 0]);
  act(() => root.unmount());
  expect(hub.open("b").released).toBe(1);
  vi.unstubAllGlobals();
});
