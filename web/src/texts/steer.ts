import { modeHint, modeName } from "./modes";

const decisions: Readonly<Record<string, string>> = { allow: "Allow", ask: "Ask", deny: "Deny" };

/** What the windows are called in which the limits of an account are counted. */
const limits: Readonly<Record<string, string>> = {
  hourly: "One hour",
  five_hour: "Five hours",
  seven_day: "Seven days",
  seven_day_overage_included: "Seven days, with usage beyond the plan",
  seven_day_opus: "Seven days of Opus",
  seven_day_sonnet: "Seven days of Sonnet",
  overage: "Usage beyond the plan",
};

const budgetUnits: Readonly<Record<string, string>> = {
  usd: "US dollars",
  turns: "turns",
  wall: "seconds at work",
  idle: "seconds idle",
};

/** What the header of a session and its panels say. */
export const steerTexts = {
  // The header.
  back: "Back to the sessions",
  rename: "Rename",
  titleLabel: "Title of the session",
  more: "More about this session",
  simulated: "simulated",
  simulatedHint: "The agent is simulated: no account is used and no tool is run",
  archivedBadge: "archived",
  tasks: (n: number) => (n === 1 ? "1 task" : `${n} tasks`),
  turns: (n: number) => (n === 1 ? "1 turn" : `${n} turns`),

  // Reasons why something cannot be done.
  needs: (scope: string) => `This token lacks the scope ${scope}. Log in with one that has it.`,
  notRunning: "The agent is not running. Resume it first.",
  notReachable: "The agent cannot be reached at present.",
  noConversation: "There is no conversation yet. Send a message first.",

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
  noModels: "The agent has not told its models yet",
  modelNow: (name: string) => `The last turn used ${name}`,
  thinking: "Thinking",
  thinkingOff: "Off",
  thinkingTokens: (n: number) => `Up to ${n.toLocaleString("en")} tokens`,
  thinkingHint: "Models that decide by themselves how much to think ignore this",

  // Interrupting.
  interrupt: "Interrupt the turn",
  interruptTitle: "Interrupt the turn?",
  interruptLoses: (n: number) => (n === 1 ? "This cancels the open question." : `This cancels ${n} open questions.`),
  interruptAction: "Interrupt",
  nothingToInterrupt: "No turn was running",

  // Commands and keys.
  group: "Session",
  writeKey: "Write to the agent",

  // Bars below the header.
  ended: (reason: string) => `The agent has ended: ${reason}`,
  endedPlain: "The agent is not running",
  unfinished: "A turn was going on, or messages were waiting.",
  exitCode: (code: number) => `Exit code ${code}`,
  stderr: "What it wrote to standard error",
  resume: "Resume",
  waitsForCall:
    "This session waits for a Claude Code that somebody starts with the command that was shown when it was made. If the command is lost, stop this session and make another one.",
  agentOffline: "The connection to the agent is lost. It may still be at work; what it does is shown when it is back.",
  retry: (attempt: number, of: number | undefined, error: string) =>
    `The model cannot be reached${error ? ` (${error})` : ""}. Try ${attempt}${of ? ` of ${of}` : ""}.`,
  held: (reason: string) => `Held back: ${reason}`,
  heldUntil: "Until",
  heldResumes: "It goes on by itself then.",
  release: "Let it go on",
  releaseMore: "Let it go on…",
  atReset: "Go on when it is over",
  archivedBar: "This session is archived. Lists leave it out.",
  unarchive: "Take it back",

  // The menu.
  contextEntry: "Context and cost",
  mcpEntry: "MCP servers",
  rulesEntry: "Rules of this session",
  tasksEntry: "Tasks",
  timelineEntry: "Timeline",
  forkEntry: "Fork the conversation",
  resumeEntry: "Resume…",
  handbackEntry: "Go on in a terminal",
  exportMarkdown: "Export as Markdown",
  exportJsonl: "Export as JSON lines",
  exportEvents: "Export the event log",
  archiveEntry: "Archive",
  unarchiveEntry: "Take back from the archive",
  controlEntry: "Raw control request",
  stopEntry: "Stop the agent",
  copyId: "Copy the session's id",
  archived: "The session was archived",
  unarchived: "The session was taken back from the archive",
  undo: "Undo",

  // Context and cost.
  context: "Context and cost",
  contextMeter: (percent: number) => `Context ${percent} % full`,
  contextFull: "Context full to",
  costWord: "cost",
  contextOf: (used: string, max: string) => `${used} of ${max} tokens`,
  contextParts: "What takes up the context window",
  contextRefused: "The agent was not asked what takes up its context: it is not running.",
  compactAt: (tokens: string) => `It is compacted by itself at ${tokens} tokens.`,
  part: "Part",
  tokens: "Tokens",
  share: "Share",
  costTitle: "Cost",
  budgets: "Budgets",
  budgetLine: (used: string, limit: string, unit: string, per: string) =>
    `${used} of ${limit} ${budgetUnits[unit] ?? unit} per ${per}`,
  budgetOver: "used up",
  contextTooOld: "This version of the CLI cannot tell what takes up its context.",
  limits: "Limits of the account",
  limitName: (kind: string) => (Object.hasOwn(limits, kind) ? limits[kind] : undefined) ?? kind.replaceAll("_", " "),
  limitState: { near: "nearly used up", reached: "reached" },
  limitNear: (percent: number | undefined) => (percent === undefined ? "limit is near" : `limit ${percent} %`),
  limitReached: "limit reached",
  limitUntil: "until",
  limitOver: "has begun anew since it was told",
  memory: "Memory files",
  mcpTools: "Tools of MCP servers",
  refresh: "Refresh",

  // MCP.
  mcp: "MCP servers",
  mcpNone: "The agent has no MCP servers.",
  mcpStatus: (status: string) =>
    (
      ({
        connected: "Connected",
        failed: "Failed",
        "needs-auth": "Needs a login",
        pending: "Connecting",
        disabled: "Off",
      }) as Readonly<Record<string, string>>
    )[status] ?? status,
  mcpToolCount: (n: number) => (n === 1 ? "1 tool" : `${n} tools`),
  mcpToggle: (name: string) => `Use ${name}`,
  mcpReconnectOf: (name: string) => `Connect ${name} again`,
  mcpAuth: "Log in to it in Claude Code's own terminal (/mcp), then connect it again.",
  mcpAdd: "Add servers",
  mcpAddLabel: "Servers by name, as in Claude Code's configuration (JSON)",
  mcpAddHint:
    "This replaces the servers that were added here before: those that are not named are removed. Those of the CLI's own configuration stay.",
  mcpAddExample: '{"notes": {"command": "notes-mcp", "args": []}}',
  mcpApply: "Apply",
  mcpAdded: (names: string) => `Added: ${names}`,
  mcpRemoved: (names: string) => `Removed: ${names}`,
  mcpNothing: "Nothing was changed",
  mcpError: (name: string, error: string) => `${name}: ${error}`,

  // Fork.
  fork: "Fork the conversation",
  forkText:
    "A new session goes on with a copy of the conversation. This one stays as it is. Files are not copied: both work in the same folder.",
  forkWhole: "The whole conversation is copied.",
  forkWhere: "Where the copy ends",
  forkAfter: "After this message",
  forkBefore: "Before it, to write it anew",
  forkTitle: "Title",
  forkTitleHint: "If you leave it empty, it is called after this one",
  forkPrompt: "First message",
  forkPromptHint: "If you leave it empty, the new session waits for one",
  forkAction: "Fork",
  forked: "The fork has started",

  // Rewind.
  rewind: "Restore files",
  rewindText:
    "Files that the agent has edited become what they were before this message. The conversation stays: the agent does not know of it unless you tell it.",
  rewindChecking: "Looking at what would change",
  rewindNothing: "Nothing would change: the agent has edited no files since.",
  rewindCannot: "The files cannot be restored",
  rewindFiles: (n: number) => (n === 1 ? "1 file would change" : `${n} files would change`),
  rewindLines: (insertions: number, deletions: number) => `${insertions} lines added, ${deletions} removed`,
  rewindAction: "Restore files",
  rewound: (n: number) => (n === 1 ? "1 file was restored" : `${n} files were restored`),
  rewindFork: "Fork before this message instead",

  // Rules.
  rules: "Rules of this session",
  rulesText: "They hold in this session only, beside those for all sessions. Deny beats ask, and ask beats allow.",
  rulesNone: "This session has no rules of its own.",
  decision: "Decision",
  decisionName: (decision: string) => decisions[decision] ?? decision,
  rule: "Rule",
  ruleHint: "Such as Bash(git status:*), Edit(src/**), WebFetch(domain:example.org), or * for everything",
  ruleFor: "How long",
  ruleForever: "As long as the session",
  ruleMinutes: (n: number) => (n === 1 ? "1 minute" : `${n} minutes`),
  ruleHours: (n: number) => (n === 1 ? "1 hour" : `${n} hours`),
  ruleMessage: "What the agent is told",
  ruleAdd: "Add the rule",
  ruleRemove: (rule: string) => `Remove the rule ${rule}`,
  ruleExpires: "ends",
  rulePending: "takes effect with the next process",
  ruleBy: (name: string) => `by ${name}`,

  // Tasks.
  tasksTitle: "Tasks",
  tasksText: "Sub-agents and commands that run in the background.",
  tasksNone: "Nothing runs in the background.",
  taskStop: "Stop",
  taskStopOf: (name: string) => `Stop ${name}`,

  // Resume and stop.
  resumeTitle: "Resume the session",
  resumeText: "A new process goes on with the conversation.",
  resumePrompt: "Message",
  resumeFresh: "Begin a new conversation",
  resumeFreshHint: "The agent remembers nothing of this one; it stays here to be read",
  resumeForce: "Even if the old process may still be alive",
  resumeForceHint: "Two processes on one conversation write into the same file. Only if you know that it is dead",
  stopTitle: "Stop the agent?",
  stopText:
    "Its process ends, with the turn and everything that it runs. The session stays: a later message starts another process that goes on with the conversation.",
  stopForce: "At once, without the time to finish what it writes",
  stopAction: "Stop the agent",

  // Hand back.
  handback: "Go on in a terminal",
  handbackText: "This line goes on with the conversation in Claude Code's own terminal, on the machine that the agent runs on.",
  handbackOwned:
    "A conversation has one driver: while the hub's own process runs, two would write into the same file. Stop the agent first, or go on with a copy.",
  handbackFork: "Go on with a copy",
  handbackSimulated: "The agent is simulated, so that no Claude Code knows this conversation.",
  handbackBack: "To come back, leave it there, and then send a message here.",
  handbackCopy: "Copy the line",
  handbackNoFolder: "Nobody knows which folder the conversation was held in. Look for it in the list of: claude --resume",

  // Raw control.
  control: "Raw control request",
  controlText: "Sends the CLI a request of its own protocol. It is checked and fitted to the CLI's version first.",
  controlLabel: "Request (JSON, an object with subtype)",
  controlExample: '{"subtype": "list_models"}',
  controlSend: "Send",
  controlAnswer: "Answer",

  // Holds.
  holdTitle: "Let the session go on",
  holdText:
    "Say how much more it may use before it is held back again. Without an amount it gets as much again as the budget has.",
  holdAmount: (unit: string) => `How many more ${budgetUnits[unit] ?? unit}`,
  holdWrong: "Write a number above 0, or nothing",
  holdAll: "What holds it back",

  notJson: (why: string) => `This is no JSON: ${why}`,
  notObject: "This must be a JSON object: { … }",
  cancel: "Cancel",
  close: "Close",
} as const;
