// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";
import { KeptDrafts } from "./drafts";

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

const day = 24 * 3600_000;

/** A storage of one tab, apart from that of the others. */
function tabStorage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, text) => void items.set(name, text),
    removeItem: (name) => void items.delete(name),
    clear: () => items.clear(),
    key: (n) => [...items.keys()][n] ?? null,
    get length() {
      return items.size;
    },
  };
}

/** Tabs of one browser: what one stores the others are told, as browsers do it. */
function tabs(n: number): KeptDrafts[] {
  const all: KeptDrafts[] = [];
  for (let at = 0; at < n; at++) {
    const tell = (name: string, stored: string | null) => {
      for (const [i, tab] of all.entries()) if (i !== at) tab.heard(name, stored);
    };
    const local = new Proxy(localStorage, {
      get: (target, name) => {
        if (name === "setItem")
          return (key: string, text: string) => {
            target.setItem(key, text);
            tell(key, text);
          };
        if (name === "removeItem")
          return (key: string) => {
            target.removeItem(key);
            tell(key, null);
          };
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    all.push(new KeptDrafts(local, tabStorage()));
  }
  return all;
}

const fresh = (now?: () => number): KeptDrafts => new KeptDrafts(localStorage, tabStorage(), now);

test("a draft is there again in another tab, once its own is closed, and not any more once it was sent", () => {
  const tab = fresh();
  expect(tab.draft("compose.s1")).toBe(tab.draft("compose.s1"));
  tab.draft("compose.s1").set("half a sen|tence");
  expect(fresh().draft("compose.s1").get()).toBe("half a sen|tence");
  expect(fresh().draft("compose.s2").get()).toBe("");
  tab.draft("compose.s1").set("");
  expect(fresh().draft("compose.s1").get()).toBe("");
  expect(JSON.stringify({ ...localStorage })).not.toContain("half");
});

test("what is typed in one tab is in the others, and what is sent in one is gone in all", () => {
  const [one, two] = tabs(2) as [KeptDrafts, KeptDrafts];
  const [here, there] = [one.draft("k"), two.draft("k")];
  here.set("a");
  here.set("ab");
  expect(there.get()).toBe("ab");
  there.set("abc");
  expect(here.get()).toBe("abc");
  there.set("");
  expect(here.get()).toBe("");
});

test("a draft that is kept apart does not change in a tab that shows it, nor does it take away what another tab typed", () => {
  const [one, two, three] = tabs(3) as [KeptDrafts, KeptDrafts, KeptDrafts];
  const [here, there] = [one.draft("k", "apart"), two.draft("k", "apart")];
  here.set("mine");
  expect(there.get()).toBe("");
  there.set("yours");
  expect(here.get()).toBe("mine");
  here.set("");
  expect(there.get()).toBe("yours");
  expect(three.draft("k", "apart").get()).toBe("yours");
});

test("a tab that was asleep learns what was typed and sent meanwhile", () => {
  const [awake, asleep] = [fresh(), fresh()];
  const [typed, sent] = [asleep.draft("typed"), asleep.draft("sent")];
  awake.draft("sent").set("to be sent");
  asleep.awake();
  expect(sent.get()).toBe("to be sent");
  awake.draft("typed").set("later");
  awake.draft("sent").set("");
  asleep.awake();
  expect([typed.get(), sent.get()]).toEqual(["later", ""]);
});

test("what is removed to make room, or by the browser, is not taken from under somebody's hands", () => {
  const [one, two] = tabs(2) as [KeptDrafts, KeptDrafts];
  const cell = one.draft("first");
  cell.set("precious");
  for (let n = 0; n < 100; n++) two.draft(`q${n}`).set("x");
  expect(Object.keys({ ...localStorage }).length).toBeLessThanOrEqual(60);
  expect(localStorage.getItem("switchboard.draft.first")).toBeNull();
  expect(cell.get()).toBe("precious");
  localStorage.clear();
  one.heard(null, null);
  one.awake();
  expect(cell.get()).toBe("precious");
});

test("what is very long lasts as long as its tab, and no tab gives it up for another text", () => {
  const storage = tabStorage();
  const tab = new KeptDrafts(localStorage, storage);
  tab.draft("k").set("short");
  const long = "x".repeat(40_000);
  tab.draft("k").set(long);
  expect({ ...localStorage }).toEqual({});
  expect(new KeptDrafts(localStorage, storage).draft("k").get()).toBe(long);
  tab.heard("switchboard.draft.k", "1|other");
  expect(tab.draft("k").get()).toBe(long);
  tab.draft("k").set("short again");
  expect(storage.length).toBe(0);
  expect(fresh().draft("k").get()).toBe("short again");
});

test("what nobody comes back for goes, and so does what was sent, before anything else", () => {
  let now = day;
  const tab = fresh(() => now);
  tab.draft("old").set("text");
  now += 29 * day;
  expect(
    fresh(() => now)
      .draft("old")
      .get(),
  ).toBe("text");
  now += 2 * day;
  expect(
    fresh(() => now)
      .draft("old")
      .get(),
  ).toBe("");

  tab.draft("waits").set("text");
  for (let n = 0; n < 100; n++) {
    tab.draft(`sent${n}`).set("x");
    tab.draft(`sent${n}`).set("");
  }
  expect(
    fresh(() => now)
      .draft("waits")
      .get(),
  ).toBe("text");
  expect(localStorage.length).toBeLessThanOrEqual(60);
});

test("who leaves a browser leaves no draft in it", () => {
  localStorage.setItem("switchboard.theme", "dark");
  const tab = fresh();
  tab.draft("k").set("text");
  tab.forget();
  expect({ ...localStorage }).toEqual({ "switchboard.theme": "dark" });
  expect(tab.draft("k").get()).toBe("text");
});

test("without storage a draft lasts as long as the page", () => {
  const full = tabStorage();
  full.setItem = () => {
    throw new Error("full");
  };
  for (const storage of [undefined, full]) {
    const drafts = new KeptDrafts(storage, storage);
    drafts.draft("k").set("text");
    expect(drafts.draft("k").get()).toBe("text");
    drafts.awake();
    expect(drafts.draft("k").get()).toBe("text");
  }
});

test("if the browser has no room the tab keeps it", () => {
  const full = tabStorage();
  full.setItem = () => {
    throw new Error("full");
  };
  const storage = tabStorage();
  new KeptDrafts(full, storage).draft("k").set("text");
  expect(new KeptDrafts(full, storage).draft("k").get()).toBe("text");
});
