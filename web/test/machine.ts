// Another machine for the tests in Chromium: the real program as a node of a hub, in a folder of its own.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InviteNode, Node, NodeInvitation } from "../src/api/types";
import { type Hub, program, until } from "./stage";

/** A machine that has been invited and joins a hub. It can be stopped and started again, as a laptop is closed and opened. */
export class Machine {
  readonly name: string;
  readonly folder: string;
  /** A folder that exists on this machine alone. */
  readonly project: string;
  private readonly hub: Hub;
  private child: ChildProcess | undefined;
  private log = "";

  private constructor(hub: Hub, name: string) {
    this.hub = hub;
    this.name = name;
    // Below a long TMPDIR the path of a socket would be too long.
    this.folder = mkdtempSync(join(tmpdir().length > 20 ? "/tmp" : tmpdir(), "sbn-"));
    chmodSync(this.folder, 0o700);
    this.project = join(this.folder, "train");
    for (const part of ["train", "home"]) mkdirSync(join(this.folder, part), { mode: 0o700 });
    writeFileSync(join(this.project, "model.py"), "print(1)\n");
  }

  /** Invites a machine to a hub and joins it, as its user does with the command that the hub gives. */
  static async join(hub: Hub, invite: InviteNode & { name: string }): Promise<Machine> {
    return new Machine(hub, invite.name).accept(await hub.call("invite-node", { body: invite }));
  }

  /** A machine that takes an invitation which was made elsewhere. */
  static accept(hub: Hub, name: string, invitation: Pick<NodeInvitation, "command">): Machine {
    return new Machine(hub, name).accept(invitation);
  }

  private accept({ command }: Pick<NodeInvitation, "command">): Machine {
    const [name, ...args] = command.split(" ");
    if (name !== "switchboard") throw new Error(`the command does not begin with the program: ${name}`);
    execFileSync(program, args, { encoding: "utf8", env: this.env(), stdio: "pipe" });
    return this;
  }

  private env(): Record<string, string> {
    const home = join(this.folder, "home");
    return {
      PATH: process.env.PATH ?? "",
      HOME: home,
      GORACE: "atexit_sleep_ms=0",
      SWITCHBOARD_SANDBOX_MODE: "off",
    };
  }

  /** Starts it and waits until the hub has it. */
  async up(): Promise<Machine> {
    const child = spawn(program, ["node", "run", "--agent", "sim"], {
      cwd: this.folder,
      env: this.env(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (text) => {
        this.log = (this.log + text).slice(-20_000);
      });
    }
    await until(`${this.name} is online`, async () => {
      if (child.exitCode !== null) throw new Error(`the machine did not start: ${this.log}`);
      return (await this.told())?.state === "online";
    });
    return this;
  }

  /** What the hub tells of it. */
  async told(): Promise<Node | undefined> {
    return (await this.hub.call("list-nodes")).nodes?.find(({ name }) => name === this.name);
  }

  /** Ends its process; its agents go on. */
  async down(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
    this.child = undefined;
  }

  /** Ends its process and its agents, also those that no hub can reach any more, and removes the folder. */
  async stop(): Promise<void> {
    await this.down();
    for (const pid of this.left()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended with another one.
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The processes that have this machine's home folder in their environment. */
  private left(): number[] {
    if (!existsSync("/proc/self/environ")) return [];
    const home = `HOME=${join(this.folder, "home")}\0`;
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "latin1").includes(home);
        } catch {
          return false; // it has just ended, or is another user's
        }
      })
      .map(Number);
  }
}
