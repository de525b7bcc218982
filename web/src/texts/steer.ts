import { modeHint, modeName } from "./modes";

const decisions: Readonly<Record<string, string>> = { allow: "Allow", ask: "Ask", deny: "Deny" };

/** What the windows are called in which the limits of an account are counted. */
const limits: Readonly<Record<string, string>> = {
  hourly: "One hour",
  five_hour: "Five hours",
  seven_day: "Seven days",
  seven_day_overage_included: "Seven days, including extra usage",
  seven_day_opus: "Seven days of Opus",
  seven_day_sonnet: "Seven days of Sonnet",
  overage: "Extra usage",
};

const budgetUnits: Readonly<Record<string, string>> = {
  usd: "US dollars",
  turns: "turns",
  wall: "seconds of work",
  idle: "seconds idle",
};

/** What the header of a session and its panels say. */
export const steerTexts = {
  // The header.
  back: "Back to sessions",
  rename: "Rename",
  titleLabel: "Session title",
  more: "Session menu",
  simulated: "simulated",
  simulatedHint: "Simulated agent: uses no account and runs no tools",
  unauthenticated: "unauthenticated",
  unauthenticatedHint: "Dialed in without a token: rules of its own apply",
  runner: (version: string) => `runner ${version}`,
  runnerHint: "Version of the environment that the agent runs in, as it says",
  relay: "relay",
  relayHint: (url: string) => `The agent belongs to another program; it is shown by the relay ${url}`,
  archivedBadge: "archived",
  tasks: (n: number) => (n === 1 ? "1 task" : `${n} tasks`),
  turns: (n: number) => (n === 1 ? "1 turn" : `${n} turns`),

  // Reasons why something cannot be done.
  needs: (scope: string) => `This device lacks the scope ${scope}.`,
  notRunning: "The agent isn't running. Resume it first.",
  notReachable: "Can't reach the agent right now.",
  noConversation: "No conversation yet. Send a message first.",

  // Mode, model, thinking.
  mode: "Permission mode",
  modeIs: (name: string) => `Permission mode: ${name}`,
  modeName,
  modeHint,
  bypassNotStarted: "Dangerous. Only for sessions that were started in this mode",
  bypassNeedsAdmin: "Dangerous. This device lacks the scope admin",
  bypassTitle: "Bypass permissions?",
  bypassFor: (title: string) => `Session: ${title}`,
  bypassText:
    "The agent will run every command and edit every file without asking, until you change the mode. Deny rules still apply. Use it only in a sandbox without anything you can't lose.",
  bypassAction: "Bypass permissions",
  model: "Model",
  modelIs: (name: string) => `Model: ${name}`,
  modelUnknown: "Model",
  noModels: "Models not known yet",
  modelNow: (name: string) => `Last turn: ${name}`,
  thinking: "Thinking",
  thinkingOff: "Off",
  thinkingTokens: (n: number) => `Up to ${n.toLocaleString("en")} tokens`,
  thinkingHint: "Ignored by models that choose automatically",

  // Interrupting.
  interrupt: "Interrupt the turn",
  interruptTitle: "Interrupt the turn?",
  interruptLoses: (n: number) => (n === 1 ? "This cancels the open question." : `This cancels ${n} open questions.`),
  interruptAction: "Interrupt",
  nothingToInterrupt: "No turn was running",

  // Commands and keys.
  group: "Session",
  writeKey: "Write a message",

  // Bars below the header.
  ended: (reason: string) => `Agent ended: ${reason}`,
  endedPlain: "Agent not running",
  unfinished: "A turn was running, or messages were queued.",
  exitCode: (code: number) => `Exit code ${code}`,
  stderr: "Standard error",
  resume: "Resume",
  waitsForCall:
    "Waiting for Claude Code to connect: run the command shown at creation. Lost it? Stop this session and create another.",
  agentOffline: "Connection to the agent lost. It may still be working; its output appears when it's back.",
  agentOfflineOn: (machine: string) =>
    `Connection to the agent on the machine ${machine} lost. It may still be working; its output appears when the machine is back.`,
  retry: (attempt: number, of: number | undefined, error: string) =>
    `Request to the model failed${error ? ` (${error})` : ""}. Retry ${attempt}${of ? ` of ${of}` : ""}.`,
  held: (reason: string) => `On hold: ${reason}`,
  heldUntil: "Until",
  heldResumes: "Continues automatically then.",
  release: "Continue",
  releaseMore: "Continue…",
  atReset: "Continue after the reset",
  archivedBar: "This session is archived and hidden from lists.",
  unarchive: "Unarchive",

  // The menu.
  contextEntry: "Context and cost",
  mcpEntry: "MCP servers",
  rulesEntry: "Session rules",
  tasksEntry: "Tasks",
  timelineEntry: "Timeline",
  forkEntry: "Fork conversation",
  resumeEntry: "Resume…",
  handbackEntry: "Continue in terminal",
  exportMarkdown: "Export as Markdown",
  exportJsonl: "Export as JSON lines",
  exportEvents: "Export event log",
  archiveEntry: "Archive",
  unarchiveEntry: "Unarchive",
  controlEntry: "Raw control request",
  environmentEntry: "Environment variables",
  stopEntry: "Stop agent",
  copyId: "Copy session ID",
  archived: "Session archived",
  unarchived: "Session unarchived",
  undo: "Undo",

  // Context and cost.
  context: "Context and cost",
  contextMeter: (percent: number) => `Context ${percent}% full`,
  contextFull: "Context used:",
  costWord: "cost",
  contextOf: (used: string, max: string) => `${used} of ${max} tokens`,
  contextParts: "Context usage by part",
  contextRefused: "Not available: the agent isn't running.",
  compactAt: (tokens: string) => `Auto-compacts at ${tokens} tokens.`,
  part: "Part",
  tokens: "Tokens",
  share: "Share",
  costTitle: "Cost",
  budgets: "Budgets",
  budgetLine: (used: string, limit: string, unit: string, per: string) =>
    `${used} of ${limit} ${budgetUnits[unit] ?? unit} per ${per}`,
  budgetOver: "used up",
  contextTooOld: "This version of Claude Code doesn't report context usage.",
  limits: "Account limits",
  limitName: (kind: string) => (Object.hasOwn(limits, kind) ? limits[kind] : undefined) ?? kind.replaceAll("_", " "),
  limitState: { near: "nearly used up", reached: "reached" },
  limitNear: (percent: number | undefined) => (percent === undefined ? "near limit" : `limit ${percent}%`),
  limitReached: "limit reached",
  limitUntil: "until",
  limitOver: "has been reset since",
  memory: "Memory files",
  mcpTools: "MCP tools",
  refresh: "Refresh",

  // MCP.
  mcp: "MCP servers",
  mcpNone: "No MCP servers.",
  mcpStatus: (status: string) =>
    (
      ({
        connected: "Connected",
        failed: "Failed",
        "needs-auth": "Needs login",
        pending: "Connecting",
        disabled: "Off",
      }) as Readonly<Record<string, string>>
    )[status] ?? status,
  mcpToolCount: (n: number) => (n === 1 ? "1 tool" : `${n} tools`),
  mcpToggle: (name: string) => `Use ${name}`,
  mcpReconnectOf: (name: string) => `Reconnect ${name}`,
  mcpAuth: "Log in with /mcp in Claude Code's terminal, then reconnect.",
  mcpAdd: "Add servers",
  mcpAddLabel: "Servers, as in Claude Code's configuration (JSON)",
  mcpAddHint: "Replaces all servers added here before. Servers from Claude Code's own configuration stay.",
  mcpAddExample: '{"notes": {"command": "notes-mcp", "args": []}}',
  mcpApply: "Apply",
  mcpAdded: (names: string) => `Added: ${names}`,
  mcpRemoved: (names: string) => `Removed: ${names}`,
  mcpNothing: "Nothing changed",
  mcpError: (name: string, error: string) => `${name}: ${error}`,

  // Fork.
  fork: "Fork conversation",
  forkText: "Starts a new session with a copy of the conversation. Files aren't copied: both sessions work in the same folder.",
  forkWhole: "Copies the whole conversation.",
  forkWhere: "Copy up to",
  forkAfter: "After this message",
  forkBefore: "Before this message, to rewrite it",
  forkTitle: "Title",
  forkTitleHint: "Leave empty to reuse this session's title",
  forkPrompt: "First message",
  forkPromptHint: "Leave empty to write it later",
  forkAction: "Fork",
  forked: "Fork started",

  // Rewind.
  rewind: "Restore files",
  rewindText: "Restores files the agent edited since this message. The conversation stays, and the agent isn't told.",
  rewindChecking: "Checking what would change",
  rewindNothing: "Nothing to restore: no files were edited since.",
  rewindCannot: "Can't restore the files",
  rewindFiles: (n: number) => (n === 1 ? "1 file would change" : `${n} files would change`),
  rewindLines: (insertions: number, deletions: number) => `${insertions} lines added, ${deletions} removed`,
  rewindAction: "Restore files",
  rewound: (n: number) => (n === 1 ? "1 file restored" : `${n} files restored`),
  rewindFork: "Fork before this message instead",

  // Rules.
  rules: "Session rules",
  rulesText: "Apply to this session only, in addition to the rules for all sessions. Deny beats ask, ask beats allow.",
  rulesNone: "No session rules.",
  decision: "Decision",
  decisionName: (decision: string) => decisions[decision] ?? decision,
  rule: "Rule",
  ruleHint: "For example Bash(git status:*), Edit(src/**), WebFetch(domain:example.org); * matches everything",
  ruleFor: "Duration",
  ruleForever: "Until the session ends",
  ruleMinutes: (n: number) => (n === 1 ? "1 minute" : `${n} minutes`),
  ruleHours: (n: number) => (n === 1 ? "1 hour" : `${n} hours`),
  ruleMessage: "Message to the agent",
  ruleAdd: "Add rule",
  ruleRemove: (rule: string) => `Remove rule ${rule}`,
  ruleExpires: "expires",
  rulePending: "applies from the next process on",
  ruleBy: (name: string) => `by ${name}`,
  rulesKeep: "Remember for this folder",
  rulesKept: "Your new sessions in this folder start with these rules",
  rulesKeepHint: "Rules that ask, and rules that expire, aren't remembered.",

  // Tasks.
  tasksTitle: "Tasks",
  tasksText: "Sub-agents and commands running in the background.",
  tasksNone: "Nothing is running in the background.",
  taskStop: "Stop",
  taskStopOf: (name: string) => `Stop ${name}`,

  // Resume and stop.
  resumeTitle: "Resume session",
  resumeText: "Starts a new process that continues the conversation.",
  resumePrompt: "Message",
  resumeFresh: "Start a new conversation",
  resumeFreshHint: "The agent forgets this one; you can still read it here",
  resumeForce: "Force, even if the old process may still be running",
  resumeForceHint: "Two processes would write to the same file. Use only if the old one is dead",
  stopTitle: "Stop the agent?",
  stopText: "Ends its process, the turn and everything it runs. Send a message later to resume the conversation.",
  stopForce: "Kill immediately, without time to save",
  stopAction: "Stop agent",

  // Hand back.
  handback: "Continue in terminal",
  handbackText: "Continue the conversation in Claude Code's own terminal with this command, on the agent's machine.",
  handbackOn: (machine: string) => `Run it on the machine ${machine}.`,
  handbackOwned: "Stop the agent first, or continue with a copy: two processes would write to the same file.",
  handbackFork: "Continue with a copy",
  handbackSimulated: "Simulated agent: Claude Code doesn't have this conversation.",
  handbackBack: "To come back, exit Claude Code there, then send a message here.",
  handbackCopy: "Copy command",
  handbackNoFolder: "The folder of the conversation is unknown. Look for it with: claude --resume",

  // Raw control.
  control: "Raw control request",
  controlText: "Sends a control request to Claude Code. It is checked and adapted to its version first.",
  controlLabel: "Request (JSON object with subtype)",
  controlExample: '{"subtype": "list_models"}',
  controlSend: "Send",
  controlAnswer: "Answer",

  // Environment.
  environment: "Environment variables",
  environmentText:
    "Sets a variable for the commands the agent runs from now on, until its process ends. Claude Code up to 2.1.173 takes any variable; newer versions take only their own tokens, such as CLAUDE_CODE_OAUTH_TOKEN.",
  environmentNameLabel: "Name",
  environmentValue: "Value",
  environmentHint: "Goes to the agent only. It isn't stored, and can't be shown again.",
  environmentName: "Use letters, digits and _, not starting with a digit",
  environmentSet: "Set variable",
  environmentDone: (name: string) => `${name} was set`,

  // Holds.
  holdTitle: "Continue the session",
  holdText: "How much more it may use before the next hold. Leave empty to grant the full budget again.",
  holdAmount: (unit: string) => `Additional ${budgetUnits[unit] ?? unit}`,
  holdWrong: "Enter a number above 0, or leave empty",
  holdAll: "Reasons",

  notJson: (why: string) => `This isn't valid JSON: ${why}`,
  notObject: "Must be a JSON object: { … }",
  cancel: "Cancel",
  close: "Close",
} as const;
