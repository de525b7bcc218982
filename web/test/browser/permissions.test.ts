import { expect, test } from "vitest";
import { answerTo, card, chrome, field, hub, key, onQuestions, open, settled, step, tells, written } from "../questions";
import { decide, listening, until } from "../stage";

onQuestions();

test("a permission is allowed, edited, allowed always, denied with a reason, and denied so that the turn ends", async () => {
  const { id } = await hub.session("Permissions");
  const page = await open(`/s/${id}`);

  await hub.say(id, '@tool Bash {"command":"make one","timeout":5000}\n@result made one\n@say First.');
  let q = await hub.question(id);
  await decide(page, "Allow once");
  expect(await answerTo(q.id)).toEqual({ decision: "allow" });
  await page.getByText("First.", { exact: true }).waitFor();

  await hub.say(id, '@tool Bash {"command":"make two","timeout":5000}\n@say Second.');
  q = await hub.question(id);
  await step(page, "Edit…", field(page, "Command to run"));
  await field(page, "Command to run").fill("make two --dry-run");
  await step(page, "Review edit", page.getByText("Edited by you"));
  await card(page, q).getByText("make two --dry-run").first().waitFor();
  await decide(page, "Allow as edited");
  expect(await answerTo(q.id)).toEqual({ decision: "allow", input: { command: "make two --dry-run", timeout: 5000 } });
  await page.getByText("Second.", { exact: true }).waitFor();

  await hub.say(id, '@tool Bash {"command":"make three"}\n@result ok\n@say Third.');
  q = await hub.question(id);
  const suggested = (q.suggestions?.[0]?.text ?? "").replace(/^allow /, "");
  expect(suggested).toContain("make three");
  const rules = page.getByRole("radiogroup", { name: "Allow this from now on" });
  await step(page, "Always…", rules);
  await rules.getByText(suggested, { exact: true }).click();
  await page.getByRole("radiogroup", { name: "Applies to" }).getByText("This session, until its process ends").click();
  await decide(page, "Always allow");
  expect(await answerTo(q.id)).toEqual({ decision: "allow", always: { suggestion: 0, destination: "session" } });
  await page.getByText("Third.", { exact: true }).waitFor();
  await hub.await(id, "idle");
  // The same again is not asked any more.
  await hub.say(id, '@tool Bash {"command":"make three"}\n@result ok\n@say Once more.');
  await page.getByText("Once more.", { exact: true }).waitFor();

  await hub.say(id, '@tool Bash {"command":"make four"}\n@result ok\n@say Fourth.');
  q = await hub.question(id);
  const reason = field(page, "Why not? (sent to the agent)");
  await step(page, "Deny…", reason);
  await reason.fill("Not on a Friday.");
  await decide(page, "Deny");
  expect(await answerTo(q.id)).toEqual({ decision: "deny", message: "Not on a Friday." });
  await tells(id, "Not on a Friday.");
  await page.getByText("Fourth.", { exact: true }).waitFor();

  await hub.say(id, '@tool Bash {"command":"make five"}\n@result ok\n@say Fifth.');
  q = await hub.question(id);
  await step(page, "Deny and stop…", field(page, /the turn stops/));
  await decide(page, "Deny and stop turn");
  expect(await answerTo(q.id)).toEqual({ decision: "deny", interrupt: true });
  await hub.await(id, "idle");
  expect(await written(id)).not.toContain('"text":"Fifth."');
  // What became of each is told in the conversation.
  await page
    .getByText(/^denied and turn stopped by you/)
    .first()
    .waitFor();
});

test("of two pages that answer at once one is taken, and the other is told who was faster and with what", async () => {
  const { id } = await hub.session("Contested", '@tool Bash {"command":"make love"}\n@result made\n@say Made.');
  const q = await hub.question(id);
  const [one, two] = await Promise.all([chrome.open(await hub.address(`/s/${id}`)), chrome.open(await hub.address("/inbox"))]);
  chrome.expected = [/409/]; // the browser itself writes of a request that failed
  // Both answers are held until the other one is on its way.
  let held = 0;
  let release: () => void = () => {};
  const both = new Promise<void>((free) => {
    release = free;
  });
  const statuses: number[] = [];
  for (const page of [one, two]) {
    await page.route("**/v1/questions/*/answer", async (route) => {
      if (++held === 2) release();
      await both;
      await route.continue();
    });
    page.on("response", (response) => {
      if (response.url().endsWith(`/${q.id}/answer`)) statuses.push(response.status());
    });
  }
  await step(two, "Deny…", field(two, "Why not? (sent to the agent)"));
  await field(two, "Why not? (sent to the agent)").fill("Not now.");
  await Promise.all([decide(one, "Allow once"), decide(two, "Deny")]);
  const { answer, by } = await settled(q.id);
  await until("both have an answer", async () => statuses.length === 2);
  expect(statuses.sort()).toEqual([200, 409]);
  const allowed = answer?.decision === "allow";
  const outcome = (who: string) => (allowed ? `allowed by ${who}` : `denied by ${who}: Not now.`);
  const [faster, slower] = allowed ? [one, two] : [two, one];
  await faster.getByText(outcome("you"), { exact: true }).first().waitFor();
  await slower
    .getByText(outcome(by ?? ""), { exact: true })
    .first()
    .waitFor();
  expect(await two.getByRole("button", { name: "Deny", exact: true }).count()).toBe(0);
});

test("keys answer only with the focus in the card", async () => {
  const { id } = await hub.session("Keys", '@tool Bash {"command":"make keys"}\n@result ok\n@say Allowed by key.');
  const q = await hub.question(id);
  const page = await open(`/s/${id}`);
  const isOpen = async () => (await hub.call("get-question", { params: { id: q.id } })).state === "open";
  await listening(page).waitFor();
  await page.keyboard.press("y");
  const composer = field(page, "Message to the agent");
  await composer.focus();
  await page.keyboard.type("y");
  expect(await composer.inputValue()).toBe("y");
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press("y");
  expect(await isOpen()).toBe(true);
  await page.keyboard.press("q");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe(`question-${q.id}`);
  await key(page, q, "y", async () => !(await isOpen()));
  expect(await answerTo(q.id)).toEqual({ decision: "allow" });
  await page.getByText("Allowed by key.", { exact: true }).waitFor();
});
