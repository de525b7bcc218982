import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { onStage } from "../onStage";
import { type Chrome, type Hub, patience } from "../stage";

let hub: Hub;
let chrome: Chrome;

onStage((theHub, theChrome) => {
  hub = theHub;
  chrome = theChrome;
});

/** What is seen of a line of each type, or why nothing is. */
const seen: { readonly [type: string]: RegExp | string } = {
  user: /What is in this picture\?/,
  assistant: /Here's my response/,
  stream_event: "pieces of a message, shown while it is written",
  "system/init": /MCP server gh needs a login/,
  "system/status": "the state, in the header",
  "system/compact_boundary": /Conversation compacted \(auto\): 155k tokens/,
  "system/session_state_changed": "the state, in the header",
  "system/commands_changed": "for the composer",
  "system/worker_shutting_down": /Agent process shutting down: idle/,
  auth_status: /Login needed/,
  "system/plugin_install": /Plugin market installed/,
  "system/session_writes_lost": /Could not write the transcript \(ENOSPC\)/,
  "system/mirror_error": /Could not copy the transcript: no route/,
  "system/files_persisted": /1 file saved, 1 failed/,
  "system/informational": /A hook has to say something/,
  "system/notification": /Stop hook ran/,
  "system/local_command_output": /Total cost: \$0\.01/,
  "system/memory_recall": /Recalled 1 memory/,
  rate_limit_event: "a limit that is far is told with the context only",
  "system/api_retry": /Retry 1 of 10 in 578ms: the API did not answer \(overloaded\)/,
  "system/model_refusal_fallback": /Another model takes over/,
  "system/model_refusal_no_fallback": /The model refused/,
  "system/permission_denied": /denied/,
  "system/elicitation_complete": /Form of gh completed/,
  "system/control_request_progress": /Request: api retry, attempt 2 of 10/,
  tool_progress: "how long a tool has been running, in its card",
  "system/hook_started": /Hook SessionStart:startup/,
  "system/hook_progress": /Hook SessionStart:startup/,
  "system/hook_response": /Hook SessionStart:startup: success/,
  "system/task_started": "in the card of the call that started it",
  "system/task_progress": "in the card of the call that started it",
  "system/task_updated": /Background task t1: completed/,
  "system/task_notification": /Background task t2: stopped/,
  "system/background_tasks_changed": "the tasks, in the header",
  "system/thinking_tokens": "the state, in the header",
  tool_use_summary: /Read 3 files/,
  streamlined_text: /Done\./,
  streamlined_tool_use_summary: /Ran 2 commands/,
  prompt_suggestion: /Suggestion: run the tests/,
  conversation_reset: /New conversation \(clear\)/,
  active_goal: /Goal: tests pass \(two fail\)/,
  command_lifecycle: "for who has sent the message",
  control_request: "the hub tells of questions",
  control_response: "not for people",
  control_cancel_request: "the hub tells of questions",
  keep_alive: "not for people",
  update_environment_variables: "not for people",
  error: /overloaded_error: The API is temporarily overloaded/,
  result: /Turn failed/,
};

/** The types of the lines that the simulated agent writes for @every. */
function everyType(): Set<string> {
  const text = readFileSync(resolve(import.meta.dirname, "../../../claude/claudetest/every.ndjson"), "utf8");
  const types = new Set<string>();
  for (const line of text.split("\n").filter(Boolean)) {
    const { type, subtype } = JSON.parse(line) as { type: string; subtype?: string };
    types.add(type === "system" ? `${type}/${subtype}` : type);
  }
  return types;
}

test("every type of line is shown, or there is a reason why not, and unknown ones are shown as they are", async () => {
  expect([...everyType()].filter((type) => !(type in seen)).sort(), "types that nobody has decided about").toEqual([]);
  const session = await hub.session("Everything", '@every\n@line {"type":"of_tomorrow","colour":"green"}');
  // So tall that no row is left out of the virtual list.
  const page = await chrome.open(await hub.address(`/s/${session.id}`), { viewport: { width: 1280, height: 9000 } });
  const feed = page.getByRole("feed");
  await feed.getByText("of_tomorrow").first().waitFor();
  const missing = async () => {
    const text = (await feed.textContent()) ?? "";
    return Object.keys(seen).filter((type) => {
      const how = seen[type];
      return how instanceof RegExp && !how.test(text);
    });
  };
  await expect.poll(missing, { timeout: patience }).toEqual([]);
  // There is room for the whole of a line that opens.
  const cut = await feed.evaluate((e) =>
    [...e.querySelectorAll<HTMLElement>("button[aria-expanded] > span:first-of-type")]
      .filter((title) => title.scrollWidth > title.clientWidth && (title.parentElement?.offsetWidth ?? 0) < e.clientWidth / 2)
      .map((title) => title.textContent),
  );
  expect(cut, "titles that are cut though there is room").toEqual([]);
  // The line of tomorrow can be looked at, and so can any other.
  await page
    .getByRole("article")
    .filter({ hasText: "of_tomorrow" })
    .getByRole("button", { name: /of_tomorrow|Unknown|type/ })
    .first()
    .click();
  await feed.getByText("green").first().waitFor();
});

test("what a sub-agent does stands within its call while it does it, and its report when it is over", async () => {
  const told = [
    "@say I look at **slug.go**.",
    '@tool Write {"file_path":"report.md","content":"fine"}',
    "@say There are no more mistakes.",
  ].join("\n");
  const call = { description: "Look for mistakes", subagent_type: "general-purpose", prompt: told };
  const session = await hub.session(
    "Two of them",
    `@say Somebody looks.\n@tool Task ${JSON.stringify(call)}\n@say So much for now.`,
  );
  const page = await chrome.open(await hub.address(`/s/${session.id}`));
  const card = page
    .getByRole("article")
    .filter({ has: page.getByRole("button", { name: /general-purpose: Look for mistakes/ }) })
    .first();
  const steps = card.getByRole("article");
  // It waits for an answer: what it said and what it wants to do are there.
  await steps.filter({ hasText: "I look at slug.go." }).first().waitFor();
  await steps
    .filter({ hasText: /Write.*needs an answer/s })
    .first()
    .waitFor();
  await card.getByText("In the background").first().waitFor();
  const question = await hub.question(session.id);
  await hub.call("answer-question", { params: { id: question.id }, body: { decision: "allow", client_id: "a" } });
  await hub.await(session.id, "idle");
  // It is over, and folded to one line.
  const head = card.getByRole("button", { name: /general-purpose: Look for mistakes/ });
  await expect.poll(() => head.getAttribute("aria-expanded"), { timeout: patience }).toBe("false");
  await head.click();
  expect(await card.getByRole("region", { name: "Report" }).textContent()).toContain("There are no more mistakes.");
  await card.getByRole("button", { name: /^\d steps$/ }).click();
  await steps.filter({ hasText: "There are no more mistakes." }).first().waitFor();
  // What it was told is there on demand.
  await card.getByRole("button", { name: /Prompt/ }).click();
  await card.getByText("@tool Write").first().waitFor();
  // After a reload it is as it was.
  await page.reload();
  await head.click();
  await card.getByRole("button", { name: /^\d steps$/ }).click();
  await steps.filter({ hasText: "There are no more mistakes." }).first().waitFor();
});
