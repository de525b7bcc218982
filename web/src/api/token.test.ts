import { afterEach, expect, test, vi } from "vitest";
import { browserName, type Held, readPasted, TokenBox, takeCode } from "./token";

const held: Held = { text: "sb_a_b", name: "n", scopes: ["observe", "admin"] };

function memory(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (k: string) => kept.get(k) ?? null,
    setItem: (k: string, v: string) => void kept.set(k, v),
    removeItem: (k: string) => void kept.delete(k),
    clear: () => kept.clear(),
    key: (i: number) => [...kept.keys()][i] ?? null,
    get length() {
      return kept.size;
    },
  };
}

const open: TokenBox[] = [];
function box(tab?: Storage, browser?: Storage): TokenBox {
  const b = new TokenBox({ tab, browser }, () => new BroadcastChannel("switchboard-test"));
  open.push(b);
  return b;
}
afterEach(() => {
  for (const b of open.splice(0)) b.close();
});

test.each([
  [" sb_id_secret ", { token: "sb_id_secret" }],
  ["sb_id_se\n  cret", { token: "sb_id_secret" }],
  ["abc-def", { code: "abc-def" }],
  ["http://127.0.0.1:7777/#code=ab%2Bc", { code: "ab+c" }],
  ["http://h/#code=x&to=%2Fs%2F1", { code: "x" }],
  ["  ", undefined],
])("what was pasted: %j", (pasted, want) => {
  expect(readPasted(pasted)).toEqual(want);
});

test.each([
  ["#code=c1", "c1", "/sb/"],
  ["#code=c1&to=%2Fs%2F1", "c1", "/sb/#/s/1"],
  ["#code=c1&to=http%3A%2F%2Felsewhere", "c1", "/sb/"],
  ["#/inbox", undefined, undefined],
])("the code of the address %j leaves it", (hash, code, left) => {
  const replaceState = vi.fn();
  const history = { state: null, replaceState };
  expect(takeCode({ hash, pathname: "/sb/", search: "" } as Location, history as unknown as History)).toBe(code);
  expect(replaceState.mock.calls[0]?.[2]).toBe(left);
});

test("a token outlives a reload of its tab", () => {
  const storage = memory();
  box(storage).set(held);
  expect(box(storage).get()).toEqual(held);
  storage.setItem("switchboard.token", "{broken");
  expect(box(storage).get()).toBeUndefined();
});

test("a new tab gets the token of an open one, and none if there is none", async () => {
  const first = box();
  first.set(held);
  first.serve();
  expect(await box().ask(2000)).toEqual(held);
  first.leave("left");
  expect(await box().ask(20)).toBeUndefined();
});

const bound: Held = { ...held, text: "sb_c_d", cookie: true };

test("a token that needs its cookie is kept by the browser, another one by its tab alone", () => {
  const [tab, browser] = [memory(), memory()];
  box(tab, browser).set(bound);
  expect(tab.length).toBe(0);
  expect(box(memory(), browser).get()).toEqual(bound);
  // Pasted into one tab, it is used there alone.
  const pasted = box(tab, browser);
  pasted.set(held);
  expect(box(tab, browser).get()).toEqual(held);
  expect(box(memory(), browser).get()).toEqual(bound);
  pasted.leave("left");
  expect(box(memory(), browser).get()).toEqual(bound);
});

test("a token that needs its cookie goes through no channel", async () => {
  const first = box();
  first.set(bound);
  first.serve();
  expect(await box().ask(20)).toBeUndefined();
});

test("tabs follow what another one does with the browser's token", () => {
  const browser = memory();
  const [one, two, pasted] = [box(memory(), browser), box(memory(), browser), box(memory(), browser)];
  pasted.set(held);
  one.set(bound);
  const tell = (tab: TokenBox) =>
    tab.heard({ key: "switchboard.token", newValue: browser.getItem("switchboard.token"), storageArea: browser }, "elsewhere");
  for (const tab of [two, pasted]) tell(tab);
  expect(two.get()).toEqual(bound);
  expect(pasted.get()).toEqual(held);
  // A login replaces the token; a tab that hears of the old one's end first takes the new one.
  const next: Held = { ...bound, text: "sb_e_f" };
  one.set(next);
  two.drop("revoked", bound.text);
  expect(two.state.get()).toEqual({ held: next });
  // What another tab has just written is never removed by one that saw the old token end.
  two.drop("revoked", next.text);
  expect(two.state.get()).toEqual({ reason: "revoked" });
  expect(box(memory(), browser).get()).toEqual(next);
  tell(two);
  one.leave("left");
  for (const tab of [two, pasted]) tell(tab);
  expect(two.state.get()).toEqual({ reason: "elsewhere" });
  expect(pasted.get()).toEqual(held);
  expect(browser.length).toBe(0);
});

test("who left stays out after a reload, until a new login", async () => {
  const other = box();
  other.set(held);
  other.serve();
  const storage = memory();
  const tab = box(storage);
  tab.set(held);
  tab.leave("left");
  expect(tab.state.get().reason).toBe("left");
  expect(await box(storage).ask(20)).toBeUndefined();
  tab.set(held);
  tab.drop("expired");
  expect(await box(storage).ask(2000)).toEqual(held);
});

test.each([
  ["Mozilla/5.0 (X11) Gecko/20100101 Firefox/128.0", "Firefox"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/126.0 Safari/537.36", "Chrome on macOS"],
  ["Mozilla/5.0 (Linux; Android 14) Chrome/126.0 Mobile Safari/537.36", "Chrome on Android"],
  ["Mozilla/5.0 (iPhone; CPU) Version/17.0 Mobile/15E148 Safari/604.1", "Safari on iPhone"],
  ["Mozilla/5.0 (Windows) Chrome/126.0 Safari/537.36 Edg/126.0", "Edge on Windows"],
  ["curl/8", undefined],
])("the browser's name", (agent, name) => {
  expect(browserName(agent)).toBe(name);
});
