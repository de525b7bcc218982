// What the console takes with ten thousand messages. The figures are printed with what we want them to be.
import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import type { Session } from "../../src/api/types";
import { longAnswer, longSession } from "../long";
import { Chrome, Hub } from "../stage";

const messages = 10_000;

let hub: Hub;
let chrome: Chrome;
let long: Session;

beforeAll(async () => {
  [hub, chrome] = await Promise.all([Hub.start(), Chrome.start()]);
  long = await longSession(hub, messages);
});
afterAll(async () => {
  await chrome?.stop();
  await hub?.stop();
});

function print(what: string, figure: string, goal: string): void {
  console.log(`${what.padEnd(52)} ${figure.padStart(28)}   goal: ${goal}`);
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

async function open(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(await hub.address(`/s/${long.id}`));
  await page.getByRole("feed").getByText("Turn done").last().waitFor();
  return page;
}

/** The seconds that the page's thread has worked, whatever else the machine was doing meanwhile. */
async function work(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find((metric) => metric.name === "TaskDuration")?.value ?? 0;
}

test(`a conversation of ${messages} messages`, async () => {
  const context = await chrome.window({ reducedMotion: "no-preference" });
  // Opening: from the address to the end of the conversation on the screen, with nothing in the browser's cache the first time.
  const opened: number[] = [];
  for (let i = 0; i < 5; i++) {
    const fresh = i === 0 ? context : await chrome.window();
    const page = await fresh.newPage();
    const address = await hub.address(`/s/${long.id}`);
    const begun = performance.now();
    await page.goto(address);
    await page.getByRole("feed").getByText("Turn done").last().waitFor();
    opened.push(performance.now() - begun);
    await page.close();
  }
  opened.sort((a, b) => a - b);
  print("opening, median of 5", `${(at(opened, 0.5) / 1000).toFixed(2)} s`, "1.5 s");

  const page = await open(context);
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  print("elements in the page", String(elements), "bounded");

  // Scrolling up through many pages of older messages, as a fast wheel does.
  const frames = await page.getByRole("feed").evaluate(async (feed) => {
    const times: number[] = [];
    let last = performance.now();
    for (let i = 0; i < 600; i++) {
      feed.dispatchEvent(new WheelEvent("wheel", { deltaY: -120 })); // it is somebody who scrolls
      feed.dispatchEvent(new WheelEvent("wheel"));
      feed.scrollBy({ top: -120, behavior: "instant" });
      await new Promise((next) => requestAnimationFrame(next));
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    return times;
  });
  const total = frames.reduce((sum, time) => sum + time, 0);
  const slow = [...frames].sort((a, b) => a - b);
  print(
    "scrolling",
    `${((frames.length * 1000) / total).toFixed(0)} frames/s, p95 ${at(slow, 0.95).toFixed(0)} ms`,
    "50 frames/s",
  );
  await page.close();

  // Two hundred deltas a second for some seconds.
  const stream = await open(context);
  const session = await context.newCDPSession(stream);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await stream.evaluate(() => {
    const tasks: number[] = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push(entry.duration);
    }).observe({ type: "longtask" });
    const frames: number[] = [];
    let last = performance.now();
    const tick = (now: number) => {
      frames.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    const changes = { frames: 0 };
    const feed = document.querySelector('[role="feed"]');
    const observer = new MutationObserver(() => {
      changes.frames++;
    });
    if (feed) observer.observe(feed, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { tasks, frames, changes });
  });
  const before = await work(session);
  const answers = Array.from({ length: 20 }, () => longAnswer(40, "More.")).join("\n");
  await hub.say(long.id, `@slow 5ms\n${answers}\n@say The very end of it.`);
  await stream.getByText("The very end of it.", { exact: true }).waitFor();
  const worked = (await work(session)) - before;
  const {
    tasks,
    frames: drawn,
    changes,
  } = await stream.evaluate(() => {
    const seen = window as unknown as { tasks: number[]; frames: number[]; changes: { frames: number } };
    return { tasks: seen.tasks, frames: seen.frames, changes: seen.changes.frames };
  });
  const gaps = [...drawn].sort((a, b) => a - b);
  print("streaming, 200 deltas/s: time between frames, p95", `${at(gaps, 0.95).toFixed(0)} ms`, "50 ms");
  print("streaming: work of the page for each change", `${((worked * 1000) / Math.max(changes, 1)).toFixed(1)} ms`, "16 ms");
  print("streaming: tasks over 50 ms", `${tasks.length}, longest ${Math.max(0, ...tasks).toFixed(0)} ms`, "less than 5 % of all");

  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  print("memory of scripts after it", `${(usedSize / 1e6).toFixed(0)} MB`, "bounded");
});
