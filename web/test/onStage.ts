// A hub and a browser for a file of tests, which are ended with it.
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { Chrome, Hub } from "./stage";

/** Starts both before the first test and gives them out. After each test nothing may have gone wrong in the browser. */
export function onStage(give: (hub: Hub, chrome: Chrome) => void): void {
  let hub: Hub | undefined;
  let chrome: Chrome | undefined;
  beforeAll(async () => {
    [hub, chrome] = await Promise.all([Hub.start(), Chrome.start()]);
    give(hub, chrome);
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await chrome?.remember(task.name);
    expect(await chrome?.tidy(), "what went wrong in the browser").toEqual([]);
  });
  afterAll(async () => {
    await chrome?.stop();
    await hub?.stop();
  });
}
