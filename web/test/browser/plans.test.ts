import { expect, test } from "vitest";
import type { Question } from "../../src/api/types";
import { answerTo, card, field, hub, onQuestions, open, planning, show, step, tells, written } from "../questions";
import { decide } from "../stage";

onQuestions();

const plan = "# Mend the slugs\n\n1. Write a test.\n2. Mend it.";
const presenting = (then: string) =>
  `@tool ExitPlanMode ${JSON.stringify({ plan: `${plan}\n\n@say Carried out.` })}\n@say ${then}`;

test("every outcome of a plan reaches the agent", async () => {
  const outcomes = ["fresh", "accept", "ask", "revise", "reject", "stop", "outline", "edited"] as const;
  const planned = new Map<string, { id: string; q: Question }>();
  await Promise.all(
    outcomes.map(async (name) => {
      const { id } = await hub.session(`Plan ${name}`, presenting(`Then ${name}.`), planning);
      planned.set(name, { id, q: await hub.question(id) });
    }),
  );
  const page = await open("/");
  const review = async (name: (typeof outcomes)[number]) => {
    const each = planned.get(name);
    if (!each) throw new Error(`nothing is planned for ${name}`);
    await show(page, `/s/${each.id}`);
    await card(page, each.q).getByRole("heading", { name: "Mend the slugs" }).waitFor();
    return each;
  };
  const mode = async (id: string) => (await hub.await(id, "idle")).permission_mode;

  let { id, q } = await review("accept");
  await decide(page, /^Yes, auto-accept edits/);
  expect(await answerTo(q.id)).toEqual({ outcome: "accept_edits" });
  await page.getByText("Then accept.", { exact: true }).waitFor();
  expect(await mode(id)).toBe("acceptEdits");

  ({ id, q } = await review("ask"));
  await page.getByText("More options").click();
  await page.getByText("Compact the conversation after this turn").click();
  await decide(page, /^Yes, manually approve edits/);
  expect(await answerTo(q.id)).toEqual({ outcome: "ask", compact: true });
  await page.getByText("Then ask.", { exact: true }).first().waitFor();
  await tells(id, "compact_boundary");
  expect(await mode(id)).toBe("default");

  ({ id, q } = await review("revise"));
  const lacks = field(page, "No, keep planning");
  await step(page, /^No, keep planning/, lacks);
  await step(page, "Send and keep planning", page.getByText("Describe the change or add an image."));
  await lacks.fill("Think of Umlauts.");
  await card(page, q)
    .locator("input[type=file]")
    .setInputFiles({ name: "shot.png", mimeType: "image/png", buffer: Buffer.from("shot") });
  await page.getByRole("img", { name: "shot.png" }).waitFor();
  await decide(page, "Send and keep planning");
  expect(await answerTo(q.id)).toMatchObject({ outcome: "revise", message: "Think of Umlauts.", images: [{ type: "image" }] });
  await tells(id, "Think of Umlauts.");
  expect(await mode(id)).toBe("plan");

  ({ id, q } = await review("reject"));
  await page.getByText("More options").click();
  await step(page, /^No, reject the plan/, field(page, /^Why reject/));
  await field(page, /^Why reject/).fill("Leave the slugs.");
  await decide(page, "Reject plan");
  expect(await answerTo(q.id)).toEqual({ outcome: "reject", message: "Leave the slugs." });
  await tells(id, "Leave the slugs.");
  expect(await mode(id)).toBe("plan");

  ({ id, q } = await review("stop"));
  await page.getByText("More options").click();
  await step(page, "Reject and stop…", field(page, /^Why reject.*turn stops/));
  await decide(page, "Reject and stop turn");
  expect(await answerTo(q.id)).toEqual({ outcome: "reject", interrupt: true });
  expect(await mode(id)).toBe("plan");
  expect(await written(id)).not.toContain('"text":"Then stop."');

  ({ id, q } = await review("outline"));
  await page.getByText("More options").click();
  await decide(page, /^Ask for a detailed outline/);
  expect(await answerTo(q.id)).toEqual({ outcome: "outline" });
  await tells(id, "a numbered list of every step");

  ({ id, q } = await review("edited"));
  await page.getByRole("tab", { name: "Edit" }).click();
  await field(page, /^Plan \(Markdown\)/).fill(`${plan}\n3. Have it read.`);
  await page.getByRole("tab", { name: "Read" }).click();
  await card(page, q).getByRole("listitem").filter({ hasText: "Have it read." }).waitFor();
  await decide(page, /^Yes, auto-accept edits/);
  expect(await answerTo(q.id)).toEqual({ outcome: "accept_edits", plan: `${plan}\n3. Have it read.` });
  await tells(id, /Approved Plan[^"]*Have it read/);

  // Last, since it takes the longest: the process that made the plan ends, and another begins with the plan alone.
  ({ id, q } = await review("fresh"));
  await decide(page, /^Yes, clear context/);
  expect(await answerTo(q.id)).toEqual({ outcome: "fresh" });
  await tells(id, /"text":"Carried out\."/);
  expect(await mode(id)).toBe("acceptEdits");
  expect((await hub.call("get-session", { params: { id } })).run).toBeGreaterThan(q.run);
});

test("a plan whose process has ended says so, offers what is still possible, and planning goes on", async () => {
  const { id } = await hub.session("Stale", presenting("Never said."), planning);
  const q = await hub.question(id);
  const page = await open(`/s/${id}`);
  await page.getByRole("button", { name: /^Yes, auto-accept edits/ }).waitFor();
  await hub.call("stop-session", { params: { id }, body: { force: true } });
  // At once, on the page that is open.
  await page.getByText("The process that asked has ended.").waitFor();
  await page.getByRole("button", { name: /^Yes, auto-accept edits/ }).waitFor({ state: "detached" });
  const offered = await page.getByRole("list", { name: "What next?" }).getByRole("button").allInnerTexts();
  expect(offered.map((text) => text.split("\n")[0])).toEqual([
    expect.stringMatching(/^Yes, clear context/),
    "No, keep planning",
    "No, reject the plan",
  ]);
  await step(page, /^No, keep planning/, field(page, "No, keep planning"));
  await field(page, "No, keep planning").fill("@say I plan on.");
  await decide(page, "Send and keep planning");
  expect(await answerTo(q.id)).toEqual({ outcome: "revise", message: "@say I plan on." });
  await page.getByText("I plan on.", { exact: true }).first().waitFor();
  expect((await hub.await(id, "idle")).permission_mode).toBe("plan");
});
