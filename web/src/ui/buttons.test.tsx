// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Button, IconButton } from "./buttons";

let root: Root;
let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
});

afterEach(() => {
  act(() => root.unmount());
  place.remove();
});

function only(): HTMLButtonElement {
  const button = place.querySelector("button");
  if (!button) throw new Error("no button was drawn");
  return button;
}

test("a press is told", () => {
  const pressed = vi.fn();
  act(() => root.render(<Button onPress={pressed}>Send</Button>));
  act(() => only().click());
  expect(pressed).toHaveBeenCalledOnce();
});

test("a disabled button with a reason can be focused, says that it is disabled, and does nothing", () => {
  const pressed = vi.fn();
  act(() =>
    root.render(
      <Button isDisabled reason="Needs the scope prompt" onPress={pressed}>
        Send
      </Button>,
    ),
  );
  expect(only().disabled).toBe(false);
  expect(only().getAttribute("aria-disabled")).toBe("true");
  act(() => only().focus());
  expect(document.activeElement).toBe(only());
  act(() => only().click());
  expect(pressed).not.toHaveBeenCalled();
});

test("without a reason it is disabled as the browser does it", () => {
  act(() => root.render(<Button isDisabled>Send</Button>));
  expect(only().disabled).toBe(true);
});

test("while it waits it does nothing and keeps its words", () => {
  const pressed = vi.fn();
  act(() =>
    root.render(
      <Button isPending onPress={pressed}>
        Send
      </Button>,
    ),
  );
  act(() => only().click());
  expect(pressed).not.toHaveBeenCalled();
  expect(only().textContent).toContain("Send");
});

test("a button with an icon only has a name", () => {
  act(() => root.render(<IconButton icon={<svg />} label="Copy" />));
  expect(only().getAttribute("aria-label")).toBe("Copy");
});
