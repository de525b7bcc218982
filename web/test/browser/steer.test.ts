import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, type Hub, patience, until } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

/** A turn that goes on until somebody ends it. */
const working = '@tool Bash {"command":"make"}\n@takes 1h';
const mayMake = { allowed_tools: ["Bash(make)"] };

function field(page: Page) {
  return page.getByRole("textbox", { name: "Message to the agent" });
}

async function openSession(id: string): Promise<Page> {
  const page = await chrome.show(hub, `/s/${id}`);
  // It may have shown another session before.
  const { title } = await hub.call("get-session", { params: { id } });
  await page.getByRole("heading", { name: title, exact: true, level: 1 }).waitFor();
  await field(page).waitFor();
  return page;
}

async function menu(page: Page, entry: string): Promise<void> {
  await page.getByRole("button", { name: "Session menu" }).click();
  await page.getByRole("menuitem", { name: entry, exact: true }).click();
}

function messages(id: string) {
  return hub.call("get-session", { params: { id } }).then((s) => s.messages ?? []);
}

/** The content blocks of the messages that the agent was sent. */
async function blocksSent(id: string): Promise<string> {
  return JSON.stringify((await hub.call("get-events", { params: { id }, query: { kinds: "sent", limit: "1000" } })).events);
}

test("enter sends, a draft outlives a reload, and up brings back what was sent", async () => {
  const { id } = await hub.session("Writing", "@say Ready.");
  await hub.await(id, "idle");
  const page = await openSession(id);
  await field(page).fill("@say It was heard.");
  await field(page).press("Enter");
  await page.getByText("It was heard.", { exact: true }).first().waitFor();
  await until("the field is empty", async () => (await field(page).inputValue()) === "");
  await field(page).fill("not sent yet");
  await page.reload();
  await until("the draft is there", async () => (await field(page).inputValue()) === "not sent yet");
  await field(page).press("ArrowUp");
  expect(await field(page).inputValue()).toBe("@say It was heard.");
  await field(page).press("ArrowDown");
  expect(await field(page).inputValue()).toBe("not sent yet");
});

test("commands and files are completed", async () => {
  const { id } = await hub.session("Completing", "@say Ready.");
  await hub.await(id, "idle");
  const page = await openSession(id);
  await field(page).pressSequentially("/comp");
  await page.getByRole("option", { name: "/compact" }).waitFor();
  await field(page).press("Tab");
  expect(await field(page).inputValue()).toBe("/compact ");
  await field(page).fill("");
  await field(page).pressSequentially("look at @slu");
  await page.getByRole("option", { name: "slug.go" }).waitFor();
  await field(page).press("Enter");
  expect(await field(page).inputValue()).toBe("look at @slug.go ");
});

test("what waits for a working agent can be changed, taken back and steered, and the turn interrupted", async () => {
  const { id } = await hub.session("Waiting", working, mayMake);
  await hub.await(id, "running");
  const page = await openSession(id);
  const queue = page.getByRole("region", { name: "Queued messages" });
  for (const text of ["@say first in the queue", "@say second in the queue"]) {
    await field(page).fill(text);
    await page.getByRole("button", { name: "Queue", exact: true }).click();
    await queue.getByText(text).waitFor();
  }

  await queue.getByRole("button", { name: "Edit" }).first().click();
  await queue.getByRole("textbox", { name: "Edit queued message" }).fill("@say first, changed");
  await queue.getByRole("button", { name: "Save" }).click();
  // The text stands in the field before the hub has it.
  const waiting = async () => (await messages(id)).map((m) => m.text);
  await expect.poll(waiting, { timeout: patience }).toEqual(["@say first, changed", "@say second in the queue"]);
  await queue.getByRole("textbox", { name: "Edit queued message" }).waitFor({ state: "detached" });
  await queue.getByText("@say first, changed").waitFor();

  await queue.getByRole("button", { name: "Unqueue" }).last().click();
  await until("it is in the field again", async () => (await field(page).inputValue()) === "@say second in the queue");
  await expect.poll(waiting, { timeout: patience }).toEqual(["@say first, changed"]);

  await queue.getByRole("button", { name: "Steer now" }).click();
  await queue.waitFor({ state: "detached" });
  await field(page).press("ControlOrMeta+Enter");
  await until("both were written into the turn", async () => {
    const sent = await blocksSent(id);
    return sent.includes("@say first, changed") && sent.includes("@say second in the queue");
  });
  expect((await hub.call("get-session", { params: { id } })).state).toBe("running");

  await field(page).press("Escape");
  expect(await field(page).evaluate((element) => document.activeElement === element)).toBe(false);
  await page.getByText("Press Esc again to interrupt the turn").waitFor();
  // On a busy machine the second may come too late, and is then a first one.
  await until("the turn was interrupted", async () => {
    await page.keyboard.press("Escape");
    return (await hub.call("get-session", { params: { id } })).state !== "running";
  });
  // The agent goes on with what it was told meanwhile, and is idle then: what it was doing would have taken an hour.
  await hub.await(id, "idle");
  await page.getByRole("button", { name: "Interrupt", exact: true }).waitFor({ state: "detached" });
});

test("images that are pasted and files that are dropped go along with a message", async () => {
  const { id } = await hub.session("Attaching", "@say Ready.");
  await hub.await(id, "idle");
  const page = await openSession(id);
  await field(page).evaluate(async (element) => {
    const canvas = document.createElement("canvas");
    canvas.width = 8;
    canvas.height = 8;
    const image = await new Promise<Blob | null>((done) => canvas.toBlob(done));
    const pasted = new DataTransfer();
    if (image) pasted.items.add(new File([image], "shot.png", { type: "image/png" }));
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: pasted, bubbles: true, cancelable: true }));
    const dropped = new DataTransfer();
    dropped.items.add(new File(["what was dropped"], "dropped.txt"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
  });
  const attachments = page.getByRole("list", { name: "Attachments" });
  await attachments.getByText("shot.png").waitFor();
  await attachments.getByText("dropped.txt").waitFor();
  await field(page).fill("@say Seen.");
  await field(page).press("Enter");
  await page.getByText("Seen.", { exact: true }).first().waitFor();
  await attachments.waitFor({ state: "detached" });
  const sent = await blocksSent(id);
  expect(sent).toContain('"media_type":"image/png"');
  expect(sent).toContain("what was dropped");
});

test("mode, model and thinking are chosen while it runs", async () => {
  const { id } = await hub.session("Choosing", "@say Ready.");
  await hub.await(id, "idle");
  const page = await openSession(id);
  await page.getByRole("button", { name: "Permission mode: Default" }).click();
  // From safe to dangerous, and the last one cannot be chosen in a session that was not started for it.
  const names = await page
    .getByRole("menuitem")
    .evaluateAll((all) => all.map((one) => one.querySelector("span span")?.textContent));
  expect(names).toEqual(["Plan mode", "Don't ask", "Default", "Accept edits", "Auto", "Bypass permissions"]);
  expect(await page.getByRole("menuitem", { name: /^Bypass permissions/ }).getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("menuitem", { name: /^Auto/ }).click();
  await page.getByRole("button", { name: "Permission mode: Auto" }).click();
  await page.getByRole("menuitem", { name: /^Plan mode/ }).click();
  await page.getByRole("button", { name: "Permission mode: Plan mode" }).waitFor();
  await page.getByRole("button", { name: /^Model:/ }).click();
  await page.getByRole("menuitem", { name: /^Haiku/ }).click();
  await page.getByRole("button", { name: "Model: Haiku" }).click();
  await page.getByRole("menuitem", { name: "Up to 10,000 tokens" }).click();
  await until("the hub knows it", async () => {
    const now = await hub.call("get-session", { params: { id } });
    return now.permission_mode === "plan" && now.options?.model === "haiku" && now.options.max_thinking_tokens === 10_000;
  });
  await page.getByRole("button", { name: /^Context used: / }).click();
  await page.getByRole("dialog").getByRole("rowheader", { name: "System prompt" }).waitFor();
});

test("a message can be written anew in a fork, and what a rewind would change is shown before it is done", async () => {
  const path = `${hub.project}/made.txt`;
  const { id } = await hub.session("Going back", "@say Ready.", { permission_mode: "acceptEdits" });
  await hub.await(id, "idle");
  await hub.say(id, `@tool Write ${JSON.stringify({ file_path: path, content: "x" })}\n@say Written.`);
  const page = await openSession(id);
  await page.getByText("Written.", { exact: true }).first().waitFor();
  await hub.await(id, "idle");
  const prompt = page.locator("article").filter({ hasText: "@tool Write" }).first();
  const act = async (entry: string) => {
    await prompt.hover();
    await prompt.getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: entry }).click();
  };

  await act("Rewind files to here");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 file would change").waitFor();
  await dialog.getByText(path, { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Restore files" }).click();
  await page.getByText("1 file restored").waitFor();

  await act("Fork from here");
  const first = dialog.getByRole("textbox", { name: "First message" });
  expect(await first.inputValue()).toContain("@tool Write");
  await first.fill("@say Another way.");
  await dialog.getByRole("button", { name: "Fork", exact: true }).click();
  await page.getByRole("heading", { name: "Going back (fork)" }).waitFor();
  await page.getByText("Another way.", { exact: true }).first().waitFor();
  expect(page.url()).not.toContain(id);
});

test("an agent is stopped and resumed, and its MCP servers and rules are seen and changed", async () => {
  const { id } = await hub.session("Steering", "@say Ready.");
  await hub.await(id, "idle");
  const page = await openSession(id);
  const dialog = page.getByRole("dialog");

  await menu(page, "MCP servers");
  await dialog.getByText("No MCP servers.").waitFor();
  await dialog.getByRole("textbox", { name: /^Servers, as in/ }).fill('{"notes": {"command": "notes-mcp"}}');
  await dialog.getByRole("button", { name: "Apply" }).click();
  await dialog.getByText("Added: notes").waitFor();
  await dialog.getByRole("button", { name: "Reconnect notes" }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await menu(page, "Session rules");
  await dialog.getByRole("textbox", { name: "Rule", exact: true }).fill("Bash(git status:*)");
  await dialog.getByRole("button", { name: "Add rule" }).click();
  await dialog.getByRole("button", { name: "Remove rule Bash(git status:*)" }).click();
  await dialog.getByText("No session rules.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await menu(page, "Stop agent");
  await page.getByRole("alertdialog").getByRole("button", { name: "Stop agent" }).click();
  await hub.await(id, "ended");
  await page.getByRole("button", { name: "Resume and send" }).waitFor();
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await hub.await(id, "idle");
  await field(page).fill("@say Here again.");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Here again.", { exact: true }).first().waitFor();
});

test("a limit of the account is told, holds messages back, and can be let go", async () => {
  const limit = (status: string, utilization: number) =>
    `@line ${JSON.stringify({
      type: "rate_limit_event",
      uuid: crypto.randomUUID(),
      rate_limit_info: { status, rateLimitType: "five_hour", utilization, resetsAt: Math.round(Date.now() / 1000) + 3600 },
    })}`;
  const { id } = await hub.session("Limits", `${limit("allowed_warning", 0.91)}\n@say Ready.`);
  await hub.await(id, "idle");
  const page = await openSession(id);
  await page.getByText("Close to the rate limit (five hour), 91% used").waitFor();
  await page.getByRole("button", { name: "limit 91%" }).click();
  const limits = page.getByRole("dialog").getByRole("region", { name: "Account limits" });
  await limits.getByText("Five hours").waitFor();
  await limits.getByText("nearly used up").waitFor();
  await page.keyboard.press("Escape");

  await field(page).fill(`${limit("rejected", 1)}\n@say That was the last one.`);
  await field(page).press("Enter");
  await page.getByRole("button", { name: "limit reached" }).waitFor();
  await page.getByText("On hold: the account's limit for five hours is reached").first().waitFor();
  await field(page).fill("@say It went on.");
  await field(page).press("Enter");
  await page.getByRole("region", { name: "Queued messages" }).getByText("@say It went on.").waitFor();
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await page.getByText("It went on.", { exact: true }).first().waitFor();
});

test("a change to a queued message that comes too late is not lost", async () => {
  const { id } = await hub.session("Too late", working, mayMake);
  await hub.await(id, "running");
  const page = await openSession(id);
  const queue = page.getByRole("region", { name: "Queued messages" });
  await field(page).fill("@say As it was.");
  await field(page).press("Enter");
  await queue.getByRole("button", { name: "Edit" }).click();
  await queue.getByRole("textbox", { name: "Edit queued message" }).fill("@say As it should be.");
  // It is told for a few seconds only.
  const told = page.getByText("The message was sent before you changed it").waitFor();
  await hub.call("interrupt-session", { params: { id }, body: {} });
  await told;
  await page.getByText("As it was.", { exact: true }).first().waitFor();
  expect(await field(page).inputValue()).toBe("@say As it should be.");
});
