import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, type Hub, listening, patience, phone, smallPhone, until } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

/** What has the focus, as its role or element and its name or text. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    return `${element?.getAttribute("role") ?? element?.tagName.toLowerCase()} ${element?.getAttribute("aria-label") ?? element?.textContent}`;
  });
}

/** Presses tab until something has the focus. */
async function tabTo(page: Page, what: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (what.test(await focused(page))) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`sixty tabs do not reach ${what}; the focus is on ${await focused(page)}`);
}

test("a session is begun, answered and written to without a mouse", async () => {
  const page = await chrome.show(hub, "/");
  const keys = page.keyboard;
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();

  await keys.press("n");
  const dialog = page.getByRole("dialog", { name: "New session" });
  await dialog.waitFor();
  await keys.type(hub.project);
  await tabTo(page, /^textarea/);
  await keys.insertText('Look\n@tool Bash {"command":"make deploy"}\n@result deployed\n@say It is out.');
  await keys.press("Control+Enter");
  await dialog.waitFor({ state: "detached" });

  const allow = page.getByRole("button", { name: "Allow once" }).first();
  await allow.waitFor();
  await until("the question has the focus", async () => {
    await keys.press("q");
    return (await focused(page)).startsWith("article Permission");
  });
  // A question takes a key only when it has been there, and no other key was pressed, for a moment: nobody answers what came up
  // under their fingers.
  await until("the question is answered", async () => {
    if (!(await focused(page)).startsWith("article Permission")) return true;
    if (await listening(page).count()) await keys.press("y");
    return false;
  });
  await page.getByText("It is out.", { exact: true }).first().waitFor();
  await page.getByText("Turn done").first().waitFor();

  // What is pressed next is never typed into a message: the composer is gone to on purpose.
  expect(await focused(page)).not.toMatch(/^textarea/);
  await keys.press("i");
  await keys.insertText("@say Thank you, too.");
  await keys.press("Enter");
  await page.getByText("Thank you, too.", { exact: true }).first().waitFor();
});

test("the palette finds pages and sessions by their names", async () => {
  const session = await hub.session("Weather forecast", "@say Rain.");
  const page = await chrome.show(hub, "/");
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Command palette" }).waitFor();
  await page.keyboard.type("weather fore");
  await page.getByRole("option", { name: /^Weather forecast/ }).waitFor();
  await page.keyboard.press("Enter");
  await until("the session is shown", async () => new URL(page.url()).hash === `#/s/${session.id}`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("settings");
  await page.getByRole("option", { name: "Settings", exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
});

test("a question mark lists the keys, and escape gives the page back", async () => {
  const page = await chrome.show(hub, "/inbox");
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.getByText("New session").waitFor();
  // Keys of the page beneath do nothing while the list is open.
  await page.keyboard.press("n");
  expect(await page.getByRole("dialog", { name: "New session" }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { name: "Your agents, in one place" }).waitFor();
});

test("tab reaches the pages in the order in which they are seen, and the page behind them by the first stop", async () => {
  const page = await chrome.open(await hub.address("/settings"));
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await page.evaluate(() => (document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined));
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("button Skip to content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
  await tabTo(page, /Turn on notifications|Make a link|Sign out/);
});

test("nothing is cut off or reaches beyond the screen on the smallest phone", async () => {
  // It waits for an answer: the button that interrupts it takes room from the others.
  const session = await hub.session(
    "A title that is much longer than the screen of a small phone is wide",
    '@say Small.\n@tool Bash {"command":"make small"}',
  );
  await hub.question(session.id);
  const page = await chrome.open(await hub.address("/"), smallPhone);
  await page.getByText("A title that is").first().waitFor();
  const wider = () =>
    page.evaluate(() => {
      const beyond = (e: Element) => {
        const { right, left, width } = e.getBoundingClientRect();
        return width > 2 && (right > innerWidth + 1 || left < -1); // what is only for screen readers is smaller
      };
      // What can be scrolled to is not cut off.
      const scrolls = (e: Element): boolean => {
        const around = e.parentElement;
        if (!around) return false;
        const scrollable = /auto|scroll/.test(getComputedStyle(around).overflowX) && around.scrollWidth > around.clientWidth;
        return scrollable || scrolls(around);
      };
      return [...document.querySelectorAll("button, a, input, textarea, [role=radio], [role=switch]")]
        .filter((e) => beyond(e) && !scrolls(e))
        .map((e) => e.outerHTML.slice(0, 200));
    });
  for (const [route, sign] of [
    ["/", /A title that is/],
    ["/inbox", /^Inbox$/],
    [`/s/${session.id}`, /Small\./],
    ["/settings", /^API tokens$/],
    ["/machines", /^No other machines$/],
  ] as const) {
    await page.evaluate((to) => {
      location.hash = to;
    }, route);
    await page.getByText(sign).first().waitFor();
    expect(await wider(), route).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), route).toBeLessThanOrEqual(0);
  }
  // What the agent may do is to be read.
  await page.evaluate((to) => {
    location.hash = to;
  }, `/s/${session.id}`);
  const mode = page.getByRole("button", { name: "Permission mode: Default" });
  const cut = await mode.getByText("Default").evaluate((e) => e.scrollWidth - e.clientWidth);
  expect(cut, "the mode is cut off").toBeLessThanOrEqual(0);
  await page.keyboard.press("n");
  await page.getByRole("dialog", { name: "New session" }).waitFor();
  expect(await wider(), "the form of a new session").toEqual([]);
  await hub.call("stop-session", { params: { id: session.id }, body: { force: true } });
});

test("on a phone there is one pane, a bar to change it, and a way back from a session", async () => {
  await hub.session("On the road", "@say Small screens.");
  const page = await chrome.open(await hub.address("/"), phone);
  await page.getByText("On the road").first().tap();
  await page.getByText("Small screens.", { exact: true }).first().waitFor();
  // What is typed has the room of the bar.
  expect(await page.getByRole("navigation", { name: "Pages" }).count()).toBe(0);
  await page.getByRole("button", { name: "Back" }).tap();
  const bar = page.getByRole("navigation", { name: "Pages" });
  await bar.getByRole("link", { name: /^Inbox/ }).tap();
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  for (const name of ["Search", "Insights", "Rules", "Settings"]) {
    await bar.getByRole("link", { name }).tap();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider, `${name} is wider than the screen`).toBeLessThanOrEqual(0);
  }
});

test("the theme follows the system until one is chosen, and then in all tabs", async () => {
  const context = await chrome.window({ colorScheme: "dark" });
  const page = await context.newPage();
  await page.goto(await hub.address("/settings"));
  const theme = (of: Page) => of.evaluate(() => document.documentElement.dataset.theme);
  const choice = page.getByRole("radiogroup", { name: "Theme" });
  await choice.waitFor();
  expect(await theme(page)).toBe("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(() => theme(page), { timeout: patience }).toBe("light");
  const other = await context.newPage();
  await other.goto(await hub.address("/inbox"));
  await other.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  await choice.getByText("Dark").click();
  await expect.poll(() => theme(other), { timeout: patience }).toBe("dark");
});

test("a link from the settings lets another browser in once, and revoking its token shuts it out", async () => {
  const page = await chrome.open(await hub.address("/settings"));
  await page.getByRole("button", { name: "Make a link" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a device" });
  await dialog.getByRole("button", { name: "Make a link" }).click();
  const link = await dialog.getByText(/#code=/).innerText();
  // The hub listens on its own machine only, and the dialog says what to switch on.
  await dialog.getByText("This link works only on the hub's own machine.").waitFor();
  await dialog.getByText("switchboard console --phone", { exact: true }).waitFor();
  expect(await dialog.getByRole("img").count()).toBe(0);
  const other = await chrome.open(link, phone);
  await other.getByRole("navigation", { name: "Pages" }).waitFor();
  const { tokens } = await hub.call("list-tokens");
  const made = tokens?.find(({ scopes }) => scopes?.join() === "observe,prompt,approve");
  expect(made, "a token without the right to manage").toBeDefined();

  await page.reload();
  const row = page.getByRole("listitem").filter({ hasText: "observe, prompt, approve" });
  await row.getByRole("button", { name: "Sign out" }).click();
  chrome.expected = [/401|1008|WebSocket/];
  await page.getByRole("alertdialog").getByRole("button", { name: "Sign out" }).click();
  await row.waitFor({ state: "detached" });
  await other.getByRole("navigation", { name: "Pages" }).waitFor({ state: "detached" });
});

/** The notifications that are shown, as title and body. */
function notifications(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map((one) => `${one.title}: ${one.body}`);
  });
}

test("a question is told when no page is in sight, counted in the title, and taken back when it is answered", async () => {
  const page = await chrome.open(await hub.address("/inbox"), { permissions: ["notifications"] });
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  const hide = (state: string) =>
    page.evaluate((to) => {
      Object.defineProperty(document, "visibilityState", { get: () => to, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);

  // While somebody looks at the page there is nothing to tell.
  const seen = await hub.session("Seen", '@tool Bash {"command":"make seen"}\n@result ok');
  await page.getByText("make seen").first().waitFor();
  const { questions } = await hub.call("list-questions", { query: { state: "open" } });
  await expect
    .poll(() => page.title(), { timeout: patience })
    .toBe(`(${questions?.length}) Inbox – Switchboard at ${new URL(hub.url).host}`);
  expect(await notifications(page)).toEqual([]);

  await hide("hidden");
  const asked = await hub.session("Unseen", '@tool Bash {"command":"make unseen"}\n@result ok\n@say Made.');
  const question = await hub.question(asked.id);
  await expect
    .poll(() => notifications(page), { timeout: patience })
    .toEqual(["Unseen needs you: A tool needs your permission: make unseen"]);
  await hub.call("answer-question", { params: { id: question.id }, body: { decision: "allow" } });
  await expect.poll(() => notifications(page), { timeout: patience }).toEqual(["Unseen finished: Made."]);
  await hub.call("stop-session", { params: { id: seen.id }, body: {} });
});
