// The first ten minutes in a browser, from an empty home: an agent is started from a terminal, the console is opened and answers it, a phone
// joins, the hub is killed and comes back. The pictures are those of docs/first-time.md.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Chrome, decide, program, until } from "../stage";
import { makeFolders } from "./scene";
import { take } from "./take";

const media = resolve(import.meta.dirname, "../../../docs/media/story");

let home: string;
let removeFolders: (() => void) | undefined;
let chrome: Chrome;
let port: number;

beforeAll(async () => {
  home = mkdtempSync("/tmp/sbs-");
  chmodSync(home, 0o700);
  removeFolders = makeFolders();
  mkdirSync(media, { recursive: true });
  port = await freePort();
  chrome = await Chrome.start();
});
afterAll(async () => {
  await chrome?.stop();
  run("stop", "--all");
  process.kill(hubProcess(), "SIGTERM");
  await until("the hub has ended", async () => !alive(hubProcess()));
  rmSync(home, { recursive: true, force: true });
  removeFolders?.();
});

/** A port that nobody has. The hub keeps it over its restart, as it does with its own. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (!address || typeof address === "string") throw new Error("there is no port");
  return address.port;
}

/** Runs a command as a new user does in a terminal. */
function run(...args: string[]): string {
  const env = { PATH: process.env.PATH ?? "", HOME: home, SWITCHBOARD_ADDR: `127.0.0.1:${port}` };
  return execFileSync(program, args, { cwd: "/tmp/projects/blog", encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] });
}

const hubProcess = () => Number(readFileSync(join(home, ".local/share/switchboard/simulated/lock"), "utf8").split("\n")[0]);

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The link that a command has printed. */
function link(printed: string): string {
  const found = /https?:\/\/\S+/.exec(printed)?.[0];
  if (!found) throw new Error(`there is no link in ${printed}`);
  return found;
}

const shown = (page: Page, text: string | RegExp) => page.getByText(text).filter({ visible: true }).first().waitFor();

test("an agent from a terminal, answered in the console and on a phone, while its hub is killed", async () => {
  const picture = (page: Page, name: string) => take(page, join(media, `${name}.png`));
  const session = run("run", "--simulated", "--detach", "Our slugs have double dashes. Fix that.").trim();

  const desktop = await chrome.open(link(run("console", "--no-open", session)));
  await shown(desktop, "Run this command?");
  await picture(desktop, "1-question");
  await decide(desktop, "Allow once");
  await shown(desktop, "What should the slug be");
  await picture(desktop, "2-answered");

  const phone = await chrome.open(link(run("console", "--phone", "--listen", "127.0.0.1:0")), {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    ignoreHTTPSErrors: true,
  });
  await phone.getByRole("link", { name: "Inbox" }).first().click();
  await shown(phone, "What should the slug be");
  await picture(phone, "3-phone");

  chrome.expected = [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /WebSocket connection to/];
  process.kill(hubProcess(), "SIGKILL");
  await desktop.getByRole("button", { name: "Retry now" }).waitFor();
  await picture(desktop, "4-hub-killed");
  run("run", "--simulated", "--detach", "Which tests are slow?"); // the next command starts it again
  await desktop.getByRole("button", { name: "Retry now" }).waitFor({ state: "detached" });
  await shown(desktop, "What should the slug be");
  await picture(desktop, "5-hub-back");
  expect(await chrome.tidy(), "what went wrong in the browser").toEqual([]);
});
