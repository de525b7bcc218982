/** What the page of machines, the choice of a machine and the sign of one beside a session say. */

function count(n: number, one: string, many: string): string {
  return n === 1 ? `1 ${one}` : `${n.toLocaleString("en")} ${many}`;
}

/** A few names, and how many more there are. */
function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(", ");
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}

export const machinesTexts = {
  title: "Machines",
  list: "Machines",
  summary: (all: number, online: number) => `${online} of ${all} connected`,
  /** Beside a session. */
  on: (name: string) => `Runs on the machine ${name}`,
  prefix: "Machine",
  keys: { add: "Add a machine", next: "Next machine", previous: "Previous machine" },
  needAdmin: "Needs the scope “admin”, which this device doesn’t have.",

  empty: {
    title: "No other machines",
    what: "A machine is another computer that runs agents for this hub: a workstation, a cloud machine, a container. It connects to the hub on its own, so it needs no open port.",
    how: "Add one here, then run the command that you get on that machine. In New session you can then choose where an agent works.",
    terminal: "In a terminal:",
    command: "switchboard node invite",
  },

  states: { online: "Online", offline: "Offline", draining: "Draining", revoked: "Revoked" },
  statesMean: {
    online: "Connected, takes sessions",
    offline: "Not connected",
    draining: "Connected, takes no new sessions",
    revoked: "Locked out: its key no longer works",
  },
  drainingToo: "Draining",

  facts: {
    lastSeen: "Last seen",
    never: "Never connected",
    program: "Switchboard",
    otherVersion: (hub: string) => `The hub is ${hub}`,
    system: "System",
    address: "Address",
    clis: "Claude Code",
    clisNone: "None found",
    clisNoneHint: "Install Claude Code there, or name it in the machine’s configuration.",
    simulated: "simulated",
    versionUnknown: "unknown version",
    sandbox: "Sandbox",
    sandboxNone: "None found: sandboxes are not enforced there",
    load: "Load",
    loadOf: (percent: number, cpus: number) => `${percent}% of ${count(cpus, "CPU", "CPUs")}`,
    loadPlain: (percent: number) => `${percent}%`,
    memory: "Memory",
    memoryOf: (free: string, all: string) => `${free} free of ${all}`,
    sessions: "Sessions",
    sessionsOf: (n: number, most: number) => `${n} of ${most}`,
    sessionsPlain: (n: number) => String(n),
    showSessions: (name: string) => `Show the sessions on ${name}`,
    labels: (name: string) => `Labels of ${name}`,
    fingerprint: "Key",
    fingerprintHint: "Compare with what the machine shows: switchboard node show",
    more: "Details",
  },
  skew: (amount: string, ahead: boolean) => `Its clock is ${amount} ${ahead ? "ahead of" : "behind"} the hub’s`,
  skewHint: "Turn on time synchronization (NTP) there. Times of files and deadlines are off until then.",

  actions: {
    more: (name: string) => `Actions for ${name}`,
    drain: "Drain",
    drainHint: "Takes no new sessions; running ones continue",
    undrain: "Stop draining",
    undrainHint: "Takes new sessions again",
    revoke: "Revoke",
    revokeHint: "Lock the machine out",
    forget: "Forget",
    forgetHint: "Remove it from the hub",
    sessions: "Show sessions",
    copyId: "Copy machine ID",
    copied: "Machine ID copied",
  },
  drained: (name: string, sessions: number) =>
    sessions === 0
      ? `${name} takes no new sessions`
      : `${name} takes no new sessions; ${count(sessions, "session continues", "sessions continue")}`,
  undrained: (name: string) => `${name} takes sessions again`,
  revoked: (name: string) => `${name} is locked out`,
  forgotten: (name: string) => `${name} is forgotten`,

  revoke: {
    title: (name: string) => `Revoke “${name}”?`,
    text: "Its connections are cut immediately and its key never works again. Do this if the machine is lost or may be misused.",
    none: "No sessions are running there.",
    sessions: (n: number) =>
      `${count(n, "session goes", "sessions go")} offline. ${n === 1 ? "Its agent is" : "Their agents are"} not stopped: the hub can no longer reach ${n === 1 ? "it" : "them"}.`,
    after: "This can’t be undone. To use the machine again, forget it here and invite it again.",
    action: "Revoke",
  },
  forget: {
    title: (name: string) => `Forget “${name}”?`,
    text: "The machine is removed from the hub, and its key never works again.",
    none: "No sessions are running there.",
    sessions: (n: number) =>
      `${count(n, "running session ends", "running sessions end")}. ${n === 1 ? "Its conversation stays" : "Their conversations stay"} readable here, but can’t be continued.`,
    processes: "Processes on the machine are not stopped. To stop them properly, stop the sessions first.",
    action: "Forget",
  },

  invite: {
    button: "Add a machine",
    title: "Add a machine",
    submit: "Create command",
    intro: "You get a command to run on the other machine, where Switchboard must be installed.",
    name: "Name",
    nameHint:
      "Such as gpu-1. Lower-case letters, digits, dots and hyphens. It can’t be changed later. Leave empty to choose it there.",
    nameWrong: "Use 2 to 63 lower-case letters, digits, dots or hyphens, with a letter or digit at both ends.",
    nameReserved: "“any” stands for the least loaded machine. Choose another name.",
    nameTaken: "There is a machine of this name already.",
    labels: "Labels",
    labelsHint: "Optional. One NAME=VALUE per line, such as gpu=a100. Sessions can ask for them.",
    labelsWrong: "Enter one NAME=VALUE per line.",
    labelsMany: (most: number) => `A machine has at most ${most} labels.`,
    most: "Maximum sessions",
    mostHint: "Optional. How many agents it runs at a time.",
    mostWrong: (most: number) => `Enter a whole number from 1 to ${most.toLocaleString("en")}, or leave empty.`,
    expiry: "The command works for",
    expiries: { "900": "15 minutes", "3600": "1 hour", "86400": "1 day" } as Readonly<Record<string, string>>,
    made: "Run this on the other machine",
    copy: "Copy the command",
    expires: (at: string) => `It works once, until ${at}. The code in it is shown only here: treat it like a password.`,
    expired: "The code has expired. Create a new command.",
    start: "Then start the machine, and keep it running:",
    run: "switchboard node run",
    copyRun: "Copy the command that starts the machine",
    local: "This address works only on the hub’s own machine",
    localHint: "Start the hub where other machines reach it, then create a new command:",
    localCommand: "switchboard serve --addr 0.0.0.0:8765 --tls-self-signed",
    copyLocal: "Copy the command that starts the hub",
    waiting: "Waiting for the machine…",
    joined: (name: string) => `${name} has joined. Start it with the second command.`,
    connected: (name: string) => `${name} is connected.`,
    again: "Create another",
    done: "Done",
  },

  field: {
    label: "Machine",
    hint: "Where the agent runs.",
    here: "This machine",
    hereHint: "Where the hub runs",
    any: "Any (least loaded)",
    anyHint: "The hub chooses a machine that takes sessions",
    anyNone: "No machine takes sessions now",
    labels: "By labels",
    labelsHint: "The hub chooses a machine that has certain labels",
    labelsNone: "No machine has labels",
    gone: "The hub no longer has this machine. Choose another.",
    unknown: "The machines can’t be read now.",
    ready: (load: number | undefined, sessions: string) =>
      [load === undefined ? "" : `load ${load}%`, sessions].filter(Boolean).join(", "),
    sessionsOf: (n: number, most: number) => (most > 0 ? `${n} of ${most} sessions` : count(n, "session", "sessions")),
    offline: (ago: string) => (ago ? `Not connected, last seen ${ago}` : "Never connected"),
    draining: "Draining: takes no new sessions",
    full: (n: number, most: number) => `Full: ${n} of ${most} sessions`,
    revoked: "Revoked",
  },

  labels: {
    label: "Labels",
    placeholder: "gpu=h100, zone=eu",
    hint: "Labels that the machine must have: NAME=VALUE, with commas between them.",
    missing: "Enter at least one label, such as gpu=h100.",
    wrong: (word: string) => `“${word}” is no label. Enter NAME=VALUE, such as gpu=h100.`,
    nameWrong: (name: string) => `“${name}” can’t be a label’s name. Use up to 63 letters, digits, and . _ / - in between.`,
    valueWrong: (value: string) => `“${value}” can’t be a label’s value. Use up to 63 letters, digits, and . _ : / @ + -`,
    twice: (name: string) => `The label “${name}” has two values. Remove one of them.`,
    many: (most: number) => `Enter at most ${most} labels.`,
    noneFits: (labels: number) => (labels === 1 ? "No machine has this label." : "No machine has all of these labels."),
    refused: (name: string, why: string) => `Only ${name} has them. ${why}.`,
    allRefuse: "No machine that has them takes sessions now.",
    fits: (names: readonly string[]) =>
      names.length === 1 ? `Runs on ${names[0]}.` : `Runs on the least loaded of ${names.length} machines: ${namesOf(names)}.`,
    names: namesOf,
  },
};
