import { expect, test } from "vitest";
import { answerTo, field, hub, onQuestions, open, press, step, tells } from "../questions";
import { decide, listening } from "../stage";

onQuestions();

const form = {
  message: "Where shall it go?",
  requested_schema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", minLength: 3 },
      copies: { type: "integer", title: "Copies", minimum: 1, maximum: 9 },
      country: {
        type: "string",
        title: "Country",
        enum: ["Chile", "Denmark", "Egypt", "Finland", "Ghana", "Norway", "Nepal", "Oman"],
      },
      public: { type: "boolean", title: "Public" },
    },
    required: ["name", "country"],
  },
};
const filling = (what: object) => `@tool mcp__deploy__put {}\n@form ${JSON.stringify(what)}`;
const mayDeploy = { allowed_tools: ["mcp__deploy__put"] };

test("a form is checked, sent, declined and cancelled; a page is followed by a click only", async () => {
  const { id } = await hub.session("Forms", undefined, mayDeploy);
  const page = await open(`/s/${id}`);

  await hub.say(id, `${filling(form)}\n@say Filled in.`);
  let q = await hub.question(id);
  await page.getByRole("heading", { name: "deploy asks: Where shall it go?" }).waitFor();
  await step(page, "Send form", page.getByText("Required.").first());
  await field(page, /^Name/).fill("ab");
  await field(page, /^Copies/).fill("ten");
  await step(page, "Send form", page.getByText("Too short or too long."));
  await page.getByText("Enter a number, such as 12 or -0.5.").waitFor();
  expect((await hub.call("get-question", { params: { id: q.id } })).state).toBe("open");
  await field(page, /^Name/).fill("blog");
  await field(page, /^Copies/).fill("3");
  // In a list, letters find what begins with them: n and c are no answers there, neither when it is open nor before.
  const country = page.getByRole("button", { name: /Country/ });
  await country.focus();
  await listening(page).waitFor();
  await page.keyboard.press("n");
  await country.press("Enter");
  await page.getByRole("listbox").waitFor();
  await listening(page).waitFor({ state: "attached" });
  await page.keyboard.press("n");
  await page.keyboard.press("o");
  await page.getByRole("option", { name: "Norway" }).click();
  await page.getByRole("radiogroup", { name: "Public" }).getByText("No", { exact: true }).click();
  await decide(page, "Send form");
  const content = { name: "blog", copies: 3, country: "Norway", public: false };
  expect(await answerTo(q.id)).toEqual({ decision: "accept", content });
  await tells(id, "Norway");
  await page.getByText("Filled in.", { exact: true }).waitFor();

  for (const [button, decision] of [
    ["Decline", "decline"],
    ["Cancel", "cancel"],
  ] as const) {
    await hub.say(id, `${filling(form)}\n@say After ${decision}.`);
    q = await hub.question(id);
    await decide(page, button);
    expect(await answerTo(q.id)).toEqual({ decision });
    await tells(id, `The form was not filled in: ${decision}`);
    await page.getByText(`After ${decision}.`, { exact: true }).waitFor();
  }

  await hub.say(id, `${filling({ message: "Log in", mode: "url", url: "https://login.invalid/a?b=c" })}\n@say Visited.`);
  q = await hub.question(id);
  const link = page.getByRole("link", { name: "Open page" });
  expect(await link.getAttribute("href")).toBe("https://login.invalid/a?b=c");
  expect(await link.getAttribute("rel")).toContain("noopener");
  await decide(page, "I've visited it");
  expect(await answerTo(q.id)).toEqual({ decision: "accept" });
  await page.getByText("Visited.", { exact: true }).waitFor();

  await hub.say(id, filling({ message: "Log in", mode: "url", url: "javascript:alert(1)" }));
  q = await hub.question(id);
  await page.getByText("Not an http or https address").waitFor();
  expect(await link.count()).toBe(0);
  await decide(page, "Decline");
  expect(await answerTo(q.id)).toEqual({ decision: "decline" });
});

test("a dialog of the CLI’s own is answered with what it offers, or cancelled", async () => {
  const { id } = await hub.session("Dialogs");
  const page = await open(`/s/${id}`);
  const shows = (request: string) =>
    hub.say(
      id,
      `@line ${JSON.stringify({
        type: "control_request",
        request_id: request,
        request: { subtype: "request_user_dialog", dialog_kind: "branch", payload: { branches: ["main", "next"] } },
      })}`,
    );
  await shows("dialog-1");
  let q = await hub.question(id);
  await page.getByRole("heading", { name: "Answer the dialog branch" }).waitFor();
  const result = field(page, "Result as JSON");
  await press(page.getByRole("button", { name: '"next"' }), async () => (await result.inputValue()) === '"next"');
  await decide(page, "Send result");
  expect(await answerTo(q.id)).toEqual({ decision: "choose", result: "next" });

  await hub.await(id, "idle");
  await shows("dialog-2");
  q = await hub.question(id);
  await decide(page, "Cancel dialog");
  expect(await answerTo(q.id)).toEqual({ decision: "cancel" });
});
