// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Confirmations, confirm } from "./dialogs";

const { toastError } = vi.hoisted(() => ({ toastError: vi.fn() }));
vi.mock("./toast", () => ({ toastError, toast: vi.fn() }));

let root: Root;
let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  // jsdom has no CSS.escape, which dialogs use.
  vi.stubGlobal("CSS", { escape: (text: string) => text });
  place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
  act(() => root.render(<Confirmations />));
});

afterEach(() => {
  act(() => root.unmount());
  place.remove();
});

async function press(name: string) {
  const button = [...document.querySelectorAll("button")].find((one) => one.textContent === name);
  if (!button) throw new Error(`there is no button ${name}`);
  await act(async () => button.click());
}

async function ask(run?: () => Promise<unknown>): Promise<{ agreed: Promise<boolean> }> {
  const agreed = await act(async () => ({ agreed: confirm({ title: "Stop it?", action: "Stop", ...(run ? { run } : {}) }) }));
  expect(document.querySelector('[role="alertdialog"]')?.textContent).toContain("Stop it?");
  return agreed;
}

test("agreeing does it, and the dialog goes", async () => {
  const run = vi.fn(() => Promise.resolve());
  const { agreed } = await ask(run);
  await press("Stop");
  expect(await agreed).toBe(true);
  expect(run).toHaveBeenCalledOnce();
  expect(document.querySelector('[role="alertdialog"]')).toBeNull();
});

test("cancelling does nothing", async () => {
  const run = vi.fn(() => Promise.resolve());
  const { agreed } = await ask(run);
  await press("Cancel");
  expect(await agreed).toBe(false);
  expect(run).not.toHaveBeenCalled();
});

test("a failure is shown in the dialog, which stays and can be tried again", async () => {
  const run = vi
    .fn<() => Promise<unknown>>()
    .mockRejectedValueOnce(new Error("The hub is busy"))
    .mockResolvedValueOnce(undefined);
  const { agreed } = await ask(run);
  await press("Stop");
  expect(document.querySelector('[role="alert"]')?.textContent).toContain("The hub is busy");
  await press("Stop");
  expect(await agreed).toBe(true);
});

test("a dialog that is closed while it works tells how that ended", async () => {
  let end = () => {};
  let fail = (_: Error) => {};
  const run = () =>
    new Promise<void>((resolve, reject) => {
      end = resolve;
      fail = reject;
    });
  const first = await ask(run);
  await press("Stop");
  await press("Close");
  expect(document.querySelector('[role="alertdialog"]')).toBeNull();
  await act(async () => end());
  expect(await first.agreed).toBe(true);
  const second = await ask(run);
  await press("Stop");
  await press("Close");
  await act(async () => fail(new Error("The hub is busy")));
  expect(await second.agreed).toBe(false);
  expect(toastError).toHaveBeenCalledWith(new Error("The hub is busy"));
});
