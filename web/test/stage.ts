// What the tests in Chromium share: the real program with a simulated agent, and a browser that remembers everything that went wrong in it.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import type { Operations, Question, Session } from "../src/api/types";

const root = resolve(import.meta.dirname, "../..");
/** The program that is tried: what make build has put there. */
export const program = process.env.SWITCHBOARD_BIN ?? join(root, "bin/switchboard");

/** Where pictures of pages are kept whose tests have failed. */
const pictures = join(root, "bin/browser");

/** The last guard: nothing here should ever take so long, however busy the machine is. */
export const patience = Number(process.env.SWITCHBOARD_PATIENCE ?? 90_000);

export interface HubOptions {
  /** What sessions run: the path of a CLI. The simulated one if absent. */
  agent?: string;
  /** Further environment. */
  env?: Record<string, string>;
  /** Further arguments of serve. */
  args?: string[];
}

/** A hub in a folder of its own, with nothing of the user's around it. It can be killed and started again on the same port. */
export class Hub {
  readonly folder: string;
  readonly project: string;
  private readonly options: HubOptions;
  private child: ChildProcess | undefined;
  private log = "";
  url = "";
  private token = "";

  private constructor(options: HubOptions) {
    this.options = options;
    // Below a long TMPDIR the path of a socket would be too long.
    this.folder = mkdtempSync(join(tmpdir().length > 20 ? "/tmp" : tmpdir(), "sbw-"));
    chmodSync(this.folder, 0o700);
    this.project = join(this.folder, "blog");
    for (const name of ["blog", "home", "data"]) mkdirSync(join(this.folder, name), { mode: 0o700 });
    writeFileSync(join(this.project, "notes.txt"), "one\ntwo\n");
    writeFileSync(join(this.project, "slug.go"), "package blog\n");
  }

  static async start(options: HubOptions = {}): Promise<Hub> {
    if (!existsSync(program)) throw new Error(`${program} is not there: run make build`);
    const hub = new Hub(options);
    await hub.up();
    return hub;
  }

  /** Starts the program and waits until it can be reached. */
  async up(): Promise<void> {
    const port = this.url ? new URL(this.url).port : "0";
    const child = spawn(
      program,
      [
        "serve",
        "--agent",
        this.options.agent ?? "sim",
        "--data-dir",
        join(this.folder, "data"),
        "--addr",
        `127.0.0.1:${port}`,
      ].concat(
        // Whoever works on the console tries another build than the one that is compiled in.
        process.env.SWITCHBOARD_CONSOLE ? ["--console", process.env.SWITCHBOARD_CONSOLE] : [],
        this.options.args ?? [],
      ),
      {
        cwd: this.folder,
        env: {
          PATH: process.env.PATH ?? "",
          HOME: join(this.folder, "home"),
          GORACE: "atexit_sleep_ms=0",
          // The default depends on what the machine has.
          SWITCHBOARD_SANDBOX_MODE: "off",
          ...this.options.env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.child = child;
    child.stderr?.on("data", (text) => {
      this.log = (this.log + text).slice(-20_000);
    });
    const out = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    for await (const line of out) {
      const [, address] = /^listening on (\S+)$/.exec(line) ?? [];
      if (address) this.url = address;
      if (line.startsWith("socket ")) {
        // Over the socket, which needs no token. It stays good when the program is started again.
        this.token ||= execFileSync(
          program,
          [
            "token",
            "create",
            "--name",
            "tests",
            "--scopes",
            "observe,prompt,approve,admin",
            "--data-dir",
            join(this.folder, "data"),
          ],
          { encoding: "utf8", env: { PATH: process.env.PATH ?? "", HOME: join(this.folder, "home"), ...this.options.env } },
        ).trim();
        break;
      }
    }
    child.stdout?.resume();
    if (!this.token) throw new Error(`the hub did not start: ${this.log}`);
  }

  /** Ends the program at once, as a crash would; agents go on. */
  async kill(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    this.child = undefined;
  }

  /** Ends the program and its agents, and removes the folder. */
  async stop(): Promise<void> {
    if (!this.child) await this.up();
    const child = this.child;
    if (child) {
      const { sessions } = await this.call("list-sessions", { query: { limit: "1000", archived: "true" } });
      const running = sessions?.filter(({ state }) => state !== "ended") ?? [];
      const stops = running.map(({ id }) => this.call("stop-session", { params: { id }, body: { force: true } }));
      await Promise.allSettled(stops);
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs a command beside the hub, as its user does in a terminal. */
  run(...args: string[]): string {
    const env = { PATH: process.env.PATH ?? "", HOME: join(this.folder, "home"), ...this.options.env };
    return execFileSync(program, [...args, "--data-dir", join(this.folder, "data")], { encoding: "utf8", env, stdio: "pipe" });
  }

  /** Calls an operation as its administrator. */
  async call<K extends keyof Operations>(
    operation: K,
    args: { params?: Record<string, string>; query?: Record<string, string>; body?: unknown } = {},
  ): Promise<Operations[K]["answer"]> {
    const { method, path } = operationOf(operation);
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(args.params?.[name] ?? ""));
    const query = args.query ? `?${new URLSearchParams(args.query)}` : "";
    const response = await fetch(this.url + filled + query, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" },
      body: args.body === undefined ? undefined : JSON.stringify(args.body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${operation}: ${response.status} ${text}`);
    return (text && response.headers.get("Content-Type")?.includes("json") ? JSON.parse(text) : text) as Operations[K]["answer"];
  }

  /** Makes a session. */
  session(title: string, prompt?: string, options: Record<string, unknown> = {}): Promise<Session> {
    return this.call("create-session", { body: { dir: this.project, title, prompt, options } });
  }

  /** Sends a message. */
  say(session: string, text: string): Promise<unknown> {
    return this.call("send-message", { params: { id: session }, body: { text } });
  }

  /** Waits until a session is in a state, with nothing waiting in its queue. */
  async await(session: string, state: string): Promise<Session> {
    return until(`${session} is ${state}`, async () => {
      const now = await this.call("get-session", { params: { id: session } });
      return now.state === state && !now.messages?.some((m) => m.state === "queued") ? now : undefined;
    });
  }

  /** Waits for an open question of a session. */
  async question(session: string): Promise<Question> {
    return until(`${session} asks`, async () => (await this.call("get-session", { params: { id: session } })).questions?.[0]);
  }

  /** An address with a one-time code. */
  async address(route = "", scopes?: string[]): Promise<string> {
    const code = await this.call("create-code", { body: scopes ? { scopes } : {} });
    return code.url + (route ? `&to=${encodeURIComponent(route)}` : "");
  }
}

/** Asks again until there is an answer, with a short pause: two files run at a time, and asking without one keeps a processor busy. */
export async function until<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
  const begun = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() - begun > patience) throw new Error(`it never came about that ${what}`);
    await new Promise((next) => setTimeout(next, 10));
  }
}

/** The cards of questions that take answers: one that has just come up, or moved, does not, so that nobody answers what they have not seen. */
export function listening(page: Page): Locator {
  return page.locator("article[id^=question-]:not([data-guarded])");
}

/** Presses a button of the only question on a page until it is taken: it may move under the press, which then does not count. */
export async function decide(page: Page, name: string | RegExp): Promise<void> {
  const button = page.getByRole("button", { name, exact: true });
  await button.first().waitFor();
  await until(`“${name}” is taken`, async () => {
    if ((await button.count()) === 0) return true;
    await listening(page)
      .locator(button)
      .first()
      .click({ timeout: 1000 })
      .catch(() => {}); // it has just gone
    return false;
  });
}

const paths = new Map<string, { method: string; path: string }>();

/** Reads from the server's own description how an operation is called. */
function operationOf(id: string): { method: string; path: string } {
  if (paths.size === 0) {
    const described = JSON.parse(readFileSync(join(root, "api/openapi.json"), "utf8")) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    for (const [path, methods] of Object.entries(described.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation.operationId) paths.set(operation.operationId, { method: method.toUpperCase(), path });
      }
    }
  }
  const found = paths.get(id);
  if (!found) throw new Error(`there is no operation ${id}`);
  return found;
}

export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** The smallest that is still in use. */
export const smallPhone: BrowserContextOptions = { ...phone, viewport: { width: 360, height: 640 } };

/**
 * The browser of this process, for all files of tests that run in it one after the other: starting one takes longer than many a test. It ends
 * with the process, whose pipe it is driven through.
 */
let browser: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  const executablePath = process.env.SWITCHBOARD_CHROMIUM;
  if (!executablePath) throw new Error("SWITCHBOARD_CHROMIUM is not set: run make browser");
  // Chromium refuses to run as root with its sandbox on.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}

/** Windows of a browser whose pages may not do what a page of ours never does: write errors to the console, or ask other hosts. */
export class Chrome {
  private readonly browser: Browser;
  private contexts: BrowserContext[] = [];
  /** The page that tests go on with one after the other. */
  private shared: Page | undefined;
  /** What went wrong since the last look. */
  private wrong: string[] = [];
  /** What is expected to go wrong: a hub that is killed is seen in the console of the browser. */
  expected: RegExp[] = [];

  private constructor(browser: Browser) {
    this.browser = browser;
  }

  static async start(): Promise<Chrome> {
    browser ??= launch();
    return new Chrome(await browser);
  }

  /** Opens a window of its own: nothing is shared with others. */
  async window(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: "reduce",
      ...options,
    });
    context.setDefaultTimeout(patience);
    this.contexts.push(context);
    context.on("page", (page) => this.watch(page));
    return context;
  }

  /** Opens a page at an address. */
  async open(address: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await this.window(options)).newPage();
    await page.goto(address);
    return page;
  }

  /**
   * Shows a route in the page that the tests of a file share: loading one takes longer than most of them. For tests that leave nothing behind
   * but what they did to sessions of their own.
   */
  async show(hub: Hub, route: string): Promise<Page> {
    if (!this.shared) {
      this.shared = await this.open(await hub.address(route));
      return this.shared;
    }
    // What the test before has left: the pointer, the focus, and messages at the edge, which stay while the pointer is on them.
    await this.shared.mouse.move(0, 0);
    await this.shared.evaluate((to) => {
      for (const dismiss of document.querySelectorAll<HTMLElement>("button[aria-label=Dismiss]")) dismiss.click();
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      location.hash = to;
    }, route);
    return this.shared;
  }

  private watch(page: Page): void {
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.wrong.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.wrong.push(`exception: ${error.stack ?? error.message}`));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (!["data:", "blob:"].includes(url.protocol) && url.hostname !== "127.0.0.1")
        this.wrong.push(`a request to ${request.url()}`);
    });
    page.on("websocket", (socket) => {
      if (new URL(socket.url()).hostname !== "127.0.0.1") this.wrong.push(`a WebSocket to ${socket.url()}`);
    });
  }

  /** Keeps what the open pages show, for whoever wants to know why a test has failed. */
  async remember(test: string): Promise<void> {
    mkdirSync(pictures, { recursive: true });
    const name = test.replace(/\W+/g, "-").slice(0, 80);
    for (const [n, page] of this.contexts.flatMap((context) => context.pages()).entries()) {
      const path = join(pictures, `${name}-${n}.png`);
      await page.screenshot({ path }).catch(() => {}); // a page that has crashed cannot be drawn
      console.log(`${page.url()} is in ${path}:\n${await page.locator("body").ariaSnapshot().catch(String)}`);
    }
  }

  /** Closes all windows, but for that of the shared page if it `stays`, and tells what went wrong in them. */
  async tidy(stays = false): Promise<string[]> {
    if (!stays) this.shared = undefined;
    const kept = this.shared?.context();
    await Promise.all(this.contexts.filter((context) => context !== kept).map((context) => context.close()));
    this.contexts = kept ? [kept] : [];
    const wrong = this.wrong.filter((text) => !this.expected.some((e) => e.test(text)));
    this.wrong = [];
    this.expected = [];
    return wrong;
  }

  /** Closes all windows. */
  async stop(): Promise<void> {
    await this.tidy();
  }
}
