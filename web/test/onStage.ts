// A hub and a browser for a file of tests, which are ended with it.
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { Chrome, Hub } from "./stage";

/**
 * Starts both before the first test and gives them out. After each test its windows are closed, but for the shared page if the test passed,
 * `clean` removes what it has left on the hub, and nothing may have gone wrong in the browser.
 */
export function onStage(give: (hub: Hub, chrome: Chrome) => void, clean?: () => Promise<void>): void {
  let hub: Hub | undefined;
  let chrome: Chrome | undefined;
  beforeAll(async () => {
    [hub, chrome] = await Promise.all([Hub.start(), Chrome.start()]);
    give(hub, chrome);
  });
  afterEach(async ({ task }) => {
    const failed = task.result?.state === "fail";
    if (failed) await chrome?.remember(task.name);
    const wrong = await chrome?.tidy(!failed);
    await clean?.();
    expect(wrong, "what went wrong in the browser").toEqual([]);
  });
  afterAll(async () => {
    await chrome?.stop();
    await hub?.stop();
  });
}
