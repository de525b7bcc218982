// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TokenBox } from "../api/token";
import { coreTexts } from "../texts/core";
import { Login } from "./Login";

const t = coreTexts.login;
let root: Root;
let container: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  container = document.createElement("div");
  document.body.append(container);
  root = createRoot(container);
});

afterEach(() => {
  act(() => root.unmount());
  container.remove();
  vi.unstubAllGlobals();
});

function answer(status: number, body: unknown) {
  const send = vi.fn(async () => new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } }));
  vi.stubGlobal("fetch", send);
  return send;
}

async function enter(text: string) {
  const field = container.querySelector("input");
  if (!field) throw new Error("there is no field");
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
  act(() => {
    set?.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await act(async () => {
    container.querySelector("form")?.requestSubmit();
  });
}

test("a pasted address is exchanged for a token", async () => {
  const box = new TokenBox(undefined);
  const send = answer(200, { text: "sb_i_s", name: "console", scopes: ["observe", "unheard-of"], id: "i", created: "" });
  act(() => root.render(<Login token={box} reason="Your access has expired." />));
  expect(container.textContent).toContain("Your access has expired.");
  await enter("http://127.0.0.1:1/#code=abc");
  const [address, init] = (send.mock.calls as unknown as [string, RequestInit][])[0] ?? [];
  expect(address).toMatch(/\/v1\/login$/);
  expect(JSON.parse(String(init?.body))).toMatchObject({ code: "abc" });
  expect(box.get()).toEqual({ text: "sb_i_s", name: "console", scopes: ["observe"] });
});

test("a wrong code says so, and the page can be used again", async () => {
  const box = new TokenBox(undefined);
  answer(401, { code: "unauthorized", title: "Unauthorized" });
  act(() => root.render(<Login token={box} />));
  await enter("wrong");
  expect(container.querySelector("[role=alert]")?.textContent).toContain(t.wrong);
  expect(box.get()).toBeUndefined();
  await enter("   ");
  expect(container.querySelector("[role=alert]")?.textContent).toContain(t.empty);
});
