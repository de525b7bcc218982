import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Chrome, Hub, phone } from "../stage";
import { makeFolders, type Scene, setScene } from "./scene";
import { take } from "./take";

const media = resolve(import.meta.dirname, "../../../docs/media/console");

let hub: Hub;
let chrome: Chrome;
let scene: Scene;
let removeFolders: (() => void) | undefined;

beforeAll(async () => {
  removeFolders = makeFolders();
  [hub, chrome] = await Promise.all([Hub.start(), Chrome.start()]);
  scene = await setScene(hub);
  mkdirSync(media, { recursive: true });
});
afterAll(async () => {
  await chrome?.stop();
  await hub?.stop();
  removeFolders?.();
});

interface View {
  name: string;
  route: () => string;
  /** What is there when the page is. */
  shown: (page: Page) => Promise<unknown>;
  /** What is pressed before the picture is taken. */
  press?: string;
  desktopOnly?: boolean;
}

const heading = (name: string | RegExp) => (page: Page) => page.getByRole("heading", { name }).first().waitFor();
const text = (words: string | RegExp) => (page: Page) => page.getByText(words).first().waitFor();

const views: View[] = [
  { name: "sessions", route: () => "/", shown: text("Find dead links") },
  { name: "inbox", route: () => "/inbox", shown: text("Pagefind") },
  { name: "conversation", route: () => `/s/${scene.done}`, shown: text("Turn done") },
  {
    name: "edit",
    route: () => `/s/${scene.edit}`,
    shown: (page) => page.getByRole("button", { name: "Allow once" }).first().waitFor(),
  },
  { name: "plan", route: () => `/s/${scene.plan}`, shown: text(/auto-accept edits/) },
  { name: "timeline", route: () => `/s/${scene.done}/timeline`, shown: heading(/Timeline/) },
  { name: "search", route: () => "/search?q=dash", shown: text(/messages?$/) },
  { name: "costs", route: () => "/insight/costs", shown: text("Spent") },
  {
    name: "audit",
    route: () => "/insight/audit",
    shown: (page) => page.getByRole("link", { name: "Double dashes in addresses" }).first().waitFor(),
  },
  { name: "rules", route: () => "/rules", shown: heading("Rules in force") },
  { name: "drift", route: () => "/insight/drift", shown: heading("Insights") },
  { name: "settings", route: () => "/settings", shown: heading("API tokens") },
  { name: "palette", route: () => "/", shown: text("Find dead links"), press: "Control+k", desktopOnly: true },
  { name: "keys", route: () => `/s/${scene.done}`, shown: text("Turn done"), press: "?", desktopOnly: true },
  { name: "new-session", route: () => "/", shown: text("Find dead links"), press: "n", desktopOnly: true },
];

const picture = (name: string) => resolve(media, `${name}.png`);
test.each([
  ["desktop", "light", {}],
  ["desktop", "dark", {}],
  ["phone", "light", phone],
  ["phone", "dark", phone],
] satisfies [string, "light" | "dark", BrowserContextOptions][])(
  "the pages on a %s, %s",
  async (device, colorScheme, options) => {
    const page = await chrome.open(hub.url, { colorScheme, ...options });
    await page.getByRole("textbox").waitFor();
    await take(page, picture(`login-${colorScheme}-${device}`));
    await page.goto(await hub.address("/"));
    for (const view of views) {
      if (view.desktopOnly && device === "phone") continue;
      await page.evaluate((to) => {
        location.hash = to;
      }, view.route());
      await view.shown(page);
      if (view.press) {
        await page.evaluate(() => (document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined));
        await page.keyboard.press(view.press);
        await page.getByRole("dialog").waitFor();
      }
      await take(page, picture(`${view.name}-${colorScheme}-${device}`));
      if (view.press) {
        await page.keyboard.press("Escape");
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
      }
    }
    expect(await chrome.tidy(), "what went wrong in the browser").toEqual([]);
  },
);
