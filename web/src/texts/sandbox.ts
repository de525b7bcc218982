import type { Sandbox, SandboxRefusal } from "../api/types";
import { hostPort } from "../talk/network";
import { sentence } from "../ui/format";

/** The modes of a sandbox, from the one that enforces nothing to the one that enforces most, and what each means. */
const known = {
  off: { name: "Off", hint: "Commands can do everything that your user can" },
  "deny-only": { name: "Deny only", hint: "The operating system enforces deny rules; the rest stays open" },
  strict: { name: "Strict", hint: "Only the working folder can be written; new hosts are asked about" },
} as const;

export type SandboxMode = keyof typeof known;

/** The modes that can be chosen. */
export const sandboxModes = Object.keys(known) as readonly SandboxMode[];

export function isSandboxMode(mode: string): mode is SandboxMode {
  return Object.hasOwn(known, mode);
}

function nameOf(mode: string): string {
  return isSandboxMode(mode) ? known[mode].name : mode;
}

const enforcers: Readonly<Record<string, string>> = { bubblewrap: "bubblewrap", landlock: "Landlock", seatbelt: "Seatbelt" };

function enforcerOf(enforcer: string): string {
  return (Object.hasOwn(enforcers, enforcer) ? enforcers[enforcer] : undefined) ?? enforcer;
}

function paths(n: number): string {
  return n === 1 ? "1 path" : `${n.toLocaleString("en")} paths`;
}

const open = "Commands can read, change and reach everything that the agent’s user can. Rules apply to tool calls only.";

/** What the console says about sandboxes. */
export const sandboxTexts = {
  // Choosing one.
  label: "Sandbox",
  hubDefault: "Hub default",
  hint: (mode: string) => (isSandboxMode(mode) ? known[mode].hint : "As the hub’s configuration says"),
  nameOf,
  autoAllow: "Allow commands without asking",
  autoAllowHint: "In a strict sandbox only. Deny and ask rules still apply.",

  // The badge.
  enforcerOf,
  off: "Sandbox off",
  notEnforced: (reason: string) => (reason === "" ? "Not enforced" : `Not enforced: ${reason}`),
  /** What is heard before the words of the badge, and before the enforcer. */
  badge: (s: Sandbox) => (s.mode !== "off" && s.enforcer === "none" ? `Sandbox ${nameOf(s.mode).toLowerCase()}: ` : "Sandbox: "),
  badgeBy: " enforced by ",
  listStrict: "strict",
  listStrictHint: "Strict sandbox: only the working folder can be written, and new hosts are asked about",
  listNone: "unenforced",
  listNoneHint: "Sandbox not enforced: rules apply to tool calls only",

  // What it means.
  title: (s: Sandbox) => {
    if (s.mode === "off") return "No sandbox";
    return s.enforcer === "none" ? "Sandbox not enforced" : `${nameOf(s.mode)} sandbox`;
  },
  open,
  unenforced: (mode: string) => `The mode is “${nameOf(mode)}”, but nothing on the agent’s machine enforces it. ${open}`,
  why: "Why",
  enforcedBy: "Enforced by",
  hidden: "Hidden",
  hiddenOf: (n: number) =>
    n === 0 ? "What rules deny, and Switchboard’s own files" : `${paths(n)}: what rules deny, and Switchboard’s own files`,
  writable: "Writable",
  writableOf: (s: Sandbox) => {
    const but = s.read_only ? ` but ${paths(s.read_only)} that rules protect` : "";
    if (s.mode === "strict")
      return `Only the working folder, temporary folders and Claude Code’s own files${but && `, all${but}`}`;
    return `Everything that isn’t hidden${but}`;
  },
  network: "Network",
  networkOf: (s: Sandbox) => {
    if (s.network === "none") return "Only the model can be reached";
    if (s.network !== "listed") return "Everything can be reached";
    return s.mode === "strict"
      ? "Hosts that a rule or a person allows; new hosts are asked about"
      : "Everything but hosts that rules deny";
  },
  commands: "Commands",
  commandsOf: (auto: boolean) =>
    auto ? "Allowed without asking; deny and ask rules still apply" : "Allowed, asked about or denied as without a sandbox",
  limits: "Limits",

  // Questions about hosts.
  connect: (host: string, port: number) => `Connect to ${hostPort(host, port)}?`,
  connectAny: "Connect to a host?",
  askedConnect: (host: string, port: number) => `Asked to connect to ${hostPort(host, port)}`,
  unknownProgram: "The program that asks isn’t known.",
  allowSession: "Allow for this session",
  hostRuleHint: "For all hosts below a name, write Network(host:*.example.com)",
  denyTitle: "Why not? (sent to the program)",

  // Commands that it lets run.
  itself: "the sandbox",
  allowed: "Allowed by the sandbox",

  // What it refused.
  refused: (r: SandboxRefusal) => {
    const times = (r.count ?? 1) > 1 ? ` (${(r.count ?? 1).toLocaleString("en")} times)` : "";
    if (r.kind === "file") return `Sandbox refused access to ${r.path || "a file"}${times}`;
    return `Sandbox refused a connection to ${hostPort(r.host ?? "", r.port ?? 0) || "a host"}${times}`;
  },
  refusedWhy: (r: SandboxRefusal) => (r.rule?.rule ? `Denied by the rule ${r.rule.rule}` : sentence(r.reason ?? "")),
  refusals: "Refused by the sandbox",
  moreRefusals: (n: number) => (n === 1 ? "Show 1 more refusal" : `Show ${n.toLocaleString("en")} more refusals`),
};
