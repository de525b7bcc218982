// Code generated from openapi.json by internal/apigen. DO NOT EDIT.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface AddRule {
  client_id?: string;
  decision: "allow" | "ask" | "deny";
  /** How long it holds, in seconds */
  for?: number;
  message?: string;
  /** A rule such as Bash(git status:*), or * for everything */
  rule: string;
}

export interface Adopt {
  client_id?: string;
  /** The folder to work in; that of the conversation if absent */
  dir?: string;
  /** Go on with a copy */
  fork?: boolean;
  options?: SessionOptions;
  prompt?: string;
  title?: string;
}

export interface Always {
  destination?: "session" | "localSettings" | "projectSettings" | "userSettings" | "switchboard" | (string & {});
  rule?: string;
  suggestion?: number;
}

export interface Answer {
  always?: Always;
  choices?: { [name: string]: ChoiceAnswer };
  client_id?: string;
  compact?: boolean;
  content?: Json;
  /** May be left out with an outcome */
  decision?: "allow" | "deny" | "accept" | "decline" | "choose" | "cancel" | (string & {});
  /** Content blocks of images */
  images?: Json;
  input?: Json;
  interrupt?: boolean;
  message?: string;
  mode?: "default" | "acceptEdits" | "bypassPermissions" | (string & {});
  no_prompts?: boolean;
  note?: string;
  outcome?: "fresh" | "accept_edits" | "ask" | "revise" | "reject" | "outline" | (string & {});
  plan?: string;
  result?: Json;
  updates?: Json;
}

export interface Audit {
  items: AuditItem[] | null;
  next?: string;
}

export interface AuditItem {
  by?: string;
  /** allow, deny, ask, or what the answer said */
  decision: string;
  event_id: string;
  /** The id of the question */
  question?: string;
  reason?: string;
  /** The rule that decided */
  rule?: RuleRef;
  session: string;
  source?: "agent" | "person" | "program" | "hub" | (string & {});
  time: string;
  /** What it wanted to do, in one line */
  title?: string;
  tool?: string;
}

export interface BudgetUse {
  action: "warn" | "ask" | "interrupt" | (string & {});
  limit: number;
  name: string;
  over?: boolean;
  per: "session" | "folder" | "day" | (string & {});
  scope?: string;
  unit: "usd" | "turns" | "wall" | "idle" | (string & {});
  used: number;
}

export interface Budgets {
  budgets: BudgetUse[] | null;
}

export interface ChangedRow {
  event_id?: string;
  now: string;
  rule?: RuleRef;
  session: string;
  title?: string;
  tool: string;
  was: string;
}

export interface Choice {
  header?: string;
  /** Several options may be chosen */
  multiple?: boolean;
  options?: Option[] | null;
  /** The text, which is the key of its answer */
  question: string;
}

export interface ChoiceAnswer {
  labels?: string[] | null;
  notes?: string;
  /** Leave this question without an answer */
  skip?: boolean;
  /** Free text instead of, or beside, labels */
  text?: string;
}

export interface Closing {
  /** Why the stream ends, in one sentence */
  reason?: string;
}

export interface Code {
  /** Works once, for five minutes */
  code: string;
  /** The same for another device; absent if only this machine reaches the hub */
  device_url?: string;
  expires: string;
  /** SHA-256 fingerprint of the certificate that a browser warns about at device_url */
  fingerprint?: string;
  /** device_url as a QR code: rows of modules, 1 for dark */
  qr?: string[] | null;
  /** The console's address with the code in its fragment */
  url: string;
}

export interface ConfirmPolicy {
  /** The change that is meant: Policy.Pending.Sum */
  sum: string;
}

export interface ContextUse {
  max?: number;
  percent?: number;
  tokens?: number;
}

export interface Control {
  /** The request's body: an object with subtype */
  request: Json;
}

export interface ControlResult {
  /** The body of the answer, as the CLI wrote it */
  response?: Json;
}

export interface Conversation {
  id: string;
  /** Why it began: started, forked, clear, … */
  reason?: string;
  run?: number;
}

export interface Cost {
  /** By sub-agent */
  agents?: Json;
  failed?: number;
  /** By model */
  models?: Json;
  ms: number;
  turns: number;
  usd: number;
}

export interface CostItem {
  /** The session's id, the folder, the day or the model */
  key: string;
  ms?: number;
  title?: string;
  tokens?: Tokens;
  turns?: number;
  usd: number;
}

export interface Costs {
  items: CostItem[] | null;
  ms: number;
  /** Those of the turns that tell them by model */
  tokens?: Tokens;
  turns: number;
  usd: number;
}

export interface CreateCode {
  /** What the token will be called */
  name?: string;
  /** All if absent */
  scopes?: ("observe" | "prompt" | "approve" | "admin")[] | null;
}

export interface CreateSession {
  /** Your id of this request: the same id gets the same session again */
  client_id?: string;
  /** The folder to work in, an absolute path */
  dir: string;
  /** Go on with a copy of it */
  fork?: boolean;
  options?: SessionOptions;
  /** The first message */
  prompt?: string;
  /** The CLI's session_id of a conversation to go on with */
  resume?: string;
  title?: string;
  transport?: "shim" | "websocket" | "hybrid" | "tee";
}

export interface CreateToken {
  name: string;
  scopes: ("observe" | "prompt" | "approve" | "admin")[] | null;
  ttl?: number;
}

export interface Created {
  archived?: boolean;
  budgets?: BudgetUse[] | null;
  context?: ContextUse;
  /** The CLI's own session_id */
  conversation?: string;
  /** All values that it has had, the current one last */
  conversations?: Conversation[] | null;
  cost?: Cost;
  created: string;
  /** The folder that the agent works in */
  dir?: string;
  /** Counters of what this server does not know in the CLI's lines */
  drift?: Json;
  /** How the last run ended, if state is ended */
  ended?: Ended;
  /** Why the queue is held back */
  holds?: Hold[] | null;
  /** The session's id, stable for ever */
  id: string;
  init?: Json;
  initialize?: Json;
  last_event_id?: string;
  /** Whether the agent is connected now */
  linked: boolean;
  /** Messages that are queued or on their way */
  messages?: Message[] | null;
  model?: string;
  /** What the session was created with */
  options?: SessionOptions;
  /** What is being written at this moment */
  partial?: Partial[] | null;
  permission_mode?: string;
  /** The beginning of the last prompt */
  prompt?: string;
  /** What the session asks now */
  questions?: Question[] | null;
  /** The account's limits by their kind, as the CLI told them */
  rate_limits?: Json;
  /** How the last turn ended */
  result?: TurnResult;
  /** Set while the CLI waits to repeat a request */
  retry?: Retry;
  /** The session's own rules */
  rules?: SessionRule[] | null;
  /** The number of the current or last process */
  run: number;
  /** Whether the agent is a simulation */
  simulated?: boolean;
  /** What the session is doing */
  state: "starting" | "idle" | "running" | "requires_action" | "background" | "offline" | "ended" | (string & {});
  /** Sub-agents and background work */
  tasks?: Task[] | null;
  /** The beginning of the last answer */
  text?: string;
  /** The title that somebody gave the session, else the CLI's */
  title?: string;
  /** The credential of a CLI that dials in; shown once */
  token?: string;
  /** How the agent is connected: shim, tee, websocket or hybrid */
  transport?: string;
  updated: string;
  /** The address for --sdk-url */
  url?: string;
  /** The version of the CLI */
  version?: string;
}

export interface CreatedToken {
  /** The text works only together with the cookie that this answer sets */
  cookie?: boolean;
  created: string;
  /** The request was made with this token */
  current?: boolean;
  expires?: string;
  id: string;
  kind?: string;
  name: string;
  scopes: ("observe" | "prompt" | "approve" | "admin" | (string & {}))[] | null;
  /** The token itself; shown once */
  text: string;
  /** When it was last used, to the minute */
  used?: string;
}

export interface Decision {
  enforced?: string;
  input?: Json;
  message?: string;
  rule: RuleRef;
  tool: string;
  tool_use_id?: string;
}

export interface Drift {
  items: DriftItem[] | null;
}

export interface DriftItem {
  count: number;
  kind: string;
  name: string;
  /** The version of the CLI */
  version?: string;
}

export interface EditMessage {
  content?: Json;
  text?: string;
}

export interface Ended {
  /** The exit code */
  code?: number;
  /** Why, in one sentence */
  reason: string;
  signal?: string;
  /** The end of what the CLI wrote to standard error, redacted */
  stderr?: string;
  time?: string;
  unfinished?: boolean;
}

export interface Environment {
  variables: { [name: string]: string };
}

export interface Error {
  code: string;
  detail?: string;
  hint?: string;
  question?: Question;
  session?: string;
  status: number;
  title: string;
}

export interface Event {
  after?: number;
  base64?: string;
  by?: string;
  data?: Json;
  id?: string;
  kind: string;
  line?: Json;
  run?: number;
  seq?: number;
  session: string;
  source?: "agent" | "person" | "program" | "hub" | (string & {});
  text?: string;
  time?: string;
}

export interface EventPage {
  events: Event[] | null;
  more?: boolean;
  next?: string;
  resume: "ok" | "gap" | "reset" | (string & {});
}

export interface ExplainCall {
  /** The folder that the agent works in */
  dir?: string;
  /** The tool's input */
  input?: Json;
  /** A session whose folder and own rules count */
  session?: string;
  tool: string;
}

export interface FileSuggestions {
  /** The folder that the paths begin in */
  dir?: string;
  /** Their paths, the likeliest first */
  files: string[] | null;
}

export interface Folder {
  git?: boolean;
  path: string;
  used?: string;
}

export interface Folders {
  folders: Folder[] | null;
}

export interface Fork {
  at?: string;
  client_id?: string;
  prompt?: string;
  title?: string;
}

export interface Frame {
  event?: Event;
  partial?: Partials;
  position?: string;
  reason?: string;
  resume?: Verdict;
  type: string;
}

export interface Hold {
  budget?: string;
  id: string;
  kind: "budget" | "rate_limit" | (string & {});
  reason: string;
  resumes?: boolean;
  since: string;
  until?: string;
}

export interface Info {
  agent?: string;
  agent_version?: string;
  api: string;
  capabilities: string[] | null;
  /** New sessions run a simulated agent */
  simulated?: boolean;
  storage?: string;
  version: string;
  warnings?: string[] | null;
}

export interface Interrupt {
  cancel_queued?: boolean;
}

export interface Interrupted {
  session: Session;
  /** Messages that were taken back */
  taken?: Message[] | null;
  /** Whether a turn was going on */
  was: boolean;
}

export interface Login {
  code: string;
  /** For browsers: keep half of the token in a cookie, and replace this browser's earlier token */
  cookie?: boolean;
  name?: string;
}

export interface MCPMessage {
  message: Json;
}

export interface Mark {
  from: number;
  to: number;
}

export interface Message {
  by?: string;
  client_id?: string;
  content?: Json;
  created?: string;
  /** It goes before the others in the queue */
  first?: boolean;
  id: string;
  line?: Json;
  mode?: string;
  /** Why it was not delivered */
  reason?: string;
  state: string;
  text?: string;
  /** The uuid that the line to the CLI carries */
  uuid?: string;
}

export interface OpenPhone {
  /** Address to listen on, such as 192.168.1.20 or 192.168.1.20:8775; the only private one if absent */
  listen?: string;
}

export interface Option {
  description?: string;
  label: string;
  /** What choosing it would look like */
  preview?: string;
}

export interface Partial {
  blocks: PartialBlock[] | null;
  message_id?: string;
  model?: string;
  parent_tool_use_id?: string;
}

export interface PartialBlock {
  cut?: boolean;
  id?: string;
  index: number;
  name?: string;
  text?: string;
  type: string;
}

export interface Partials {
  after: number;
  messages: Partial[] | null;
  session: string;
}

export interface Phone {
  /** When the certificate expires; it is renewed before */
  expires?: string;
  /** SHA-256 fingerprint of the hub's own certificate, which browsers do not know; absent if another address is in use */
  fingerprint?: string;
  /** The address is not a private one: the internet may reach it */
  public?: boolean;
  url: string;
}

export interface Plan {
  bypass?: boolean;
  context_percent?: number;
  outcomes?: string[] | null;
  path?: string;
  prompts?: PlanPrompt[] | null;
  source?: "request" | "file" | (string & {});
  text?: string;
}

export interface PlanPrompt {
  prompt: string;
  tool: string;
}

export interface Policy {
  enforce?: "cli" | "hook" | (string & {});
  file?: string;
  loaded?: string;
  pending?: PolicyChange;
  problem?: string;
  rules: PolicyRule[] | null;
}

export interface PolicyChange {
  sum: string;
  widens: string[] | null;
}

export interface PolicyRule {
  decision: "allow" | "ask" | "deny" | (string & {});
  enforced?: string;
  expires?: string;
  message?: string;
  rule: string;
  scope: "builtin" | "global" | "folder" | (string & {});
  source?: string;
}

export interface Question {
  /** The sub-agent that asks */
  agent_id?: string;
  /** What was answered */
  answer?: Answer;
  /** The path for which it asks */
  blocked_path?: string;
  /** Who answered or cancelled */
  by?: string;
  choices?: Choice[] | null;
  deadline?: number;
  delivery?: string;
  /** What the agent says that the call is for */
  description?: string;
  /** Where the answer came from: person, program or hub */
  from?: string;
  id: string;
  kind: "permission" | "choice" | "plan" | "form" | "dialog" | (string & {});
  opened: string;
  plan?: Plan;
  /** Why it was cancelled, or answered by itself */
  reason?: string;
  request: Json;
  /** The CLI's own id */
  request_id: string;
  rule?: RuleRef;
  run: number;
  session: string;
  settled?: string;
  stale?: boolean;
  state: "open" | "answered" | "answered_too_late" | "cancelled" | (string & {});
  suggestions?: Suggestion[] | null;
  /** What the tool is to do, in one line */
  title?: string;
  tool?: string;
  tool_use_id?: string;
  /** Why the CLI asks */
  why?: string;
}

export interface QuestionList {
  /** The cursor of the next page */
  next?: string;
  questions: Question[] | null;
}

export interface Release {
  at_reset?: boolean;
  client_id?: string;
  hold?: string;
  seconds?: number;
  turns?: number;
  usd?: number;
}

export interface ReplaceRules {
  hash: string;
  text: string;
}

export interface Resume {
  client_id?: string;
  force?: boolean;
  fresh?: boolean;
  /** If absent, those of the session. What a snapshot does not show of them (mcp_servers, settings, env, extra_args) stays as it was where it is absent */
  options?: SessionOptions;
  prompt?: string;
}

export interface Retry {
  attempt: number;
  error?: string;
  of?: number;
  time?: string;
}

export interface RevokedTokens {
  /** Their ids */
  revoked: string[] | null;
}

export interface Rewind {
  /** Only say what would change */
  dry_run?: boolean;
  /** The uuid of the message */
  user_message_id: string;
}

export interface RewindResult {
  can_rewind: boolean;
  deletions?: number;
  /** Why it cannot be done */
  error?: string;
  files_changed?: string[] | null;
  insertions?: number;
}

export interface RuleRef {
  decision: "allow" | "ask" | "deny" | (string & {});
  id?: string;
  reason?: string;
  rule: string;
  scope: string;
  source?: string;
}

export interface RulesFile {
  hash: string;
  path?: string;
  text: string;
}

export interface RulesTested {
  allowed: number;
  asked: number;
  calls: number;
  /** Calls that would be decided otherwise than they were */
  changed?: ChangedRow[] | null;
  denied: number;
  /** There were more calls than are looked at; name fewer sessions or rules */
  incomplete?: boolean;
}

export interface SearchHit {
  dir?: string;
  event_id: string;
  /** user, assistant or result */
  kind: string;
  marks?: Mark[] | null;
  seq: number;
  session: string;
  snippet: string;
  time: string;
  /** The session's title */
  title?: string;
}

export interface SearchResult {
  hits: SearchHit[] | null;
  /** The cursor of the next page */
  next?: string;
}

export interface SendMessage {
  /** Your id of the message: sent twice, it is one message */
  client_id?: string;
  /** Content blocks instead of text: text, image, document */
  content?: Json;
  /** queue (the default) waits until the agent is idle, steer writes into the running turn */
  mode?: "queue" | "steer";
  no_resume?: boolean;
  text?: string;
}

export interface Session {
  archived?: boolean;
  budgets?: BudgetUse[] | null;
  context?: ContextUse;
  /** The CLI's own session_id */
  conversation?: string;
  /** All values that it has had, the current one last */
  conversations?: Conversation[] | null;
  cost?: Cost;
  created: string;
  /** The folder that the agent works in */
  dir?: string;
  /** Counters of what this server does not know in the CLI's lines */
  drift?: Json;
  /** How the last run ended, if state is ended */
  ended?: Ended;
  /** Why the queue is held back */
  holds?: Hold[] | null;
  /** The session's id, stable for ever */
  id: string;
  init?: Json;
  initialize?: Json;
  last_event_id?: string;
  /** Whether the agent is connected now */
  linked: boolean;
  /** Messages that are queued or on their way */
  messages?: Message[] | null;
  model?: string;
  /** What the session was created with */
  options?: SessionOptions;
  /** What is being written at this moment */
  partial?: Partial[] | null;
  permission_mode?: string;
  /** The beginning of the last prompt */
  prompt?: string;
  /** What the session asks now */
  questions?: Question[] | null;
  /** The account's limits by their kind, as the CLI told them */
  rate_limits?: Json;
  /** How the last turn ended */
  result?: TurnResult;
  /** Set while the CLI waits to repeat a request */
  retry?: Retry;
  /** The session's own rules */
  rules?: SessionRule[] | null;
  /** The number of the current or last process */
  run: number;
  /** Whether the agent is a simulation */
  simulated?: boolean;
  /** What the session is doing */
  state: "starting" | "idle" | "running" | "requires_action" | "background" | "offline" | "ended" | (string & {});
  /** Sub-agents and background work */
  tasks?: Task[] | null;
  /** The beginning of the last answer */
  text?: string;
  /** The title that somebody gave the session, else the CLI's */
  title?: string;
  /** How the agent is connected: shim, tee, websocket or hybrid */
  transport?: string;
  updated: string;
  /** The version of the CLI */
  version?: string;
}

export interface SessionList {
  /** The cursor of the next page */
  next?: string;
  sessions: SessionSummary[] | null;
}

export interface SessionOptions {
  /** Further folders that tools may use */
  add_dirs?: string[] | null;
  /** The agent that leads the conversation */
  agent?: string;
  agent_progress_summaries?: boolean;
  /** Sub-agents by name, as in the CLI's initialize request */
  agents?: Json;
  /** Permits switching to bypassPermissions later; admin only */
  allow_bypass?: boolean;
  /** Permission rules, such as Bash(git status:*) */
  allowed_tools?: string[] | null;
  append_system_prompt?: string;
  /** Ask before the agent enters plan mode */
  ask_plan_mode?: boolean;
  betas?: string[] | null;
  disallowed_tools?: string[] | null;
  effort?: "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
  /** Further environment variables; admin only */
  env?: { [name: string]: string };
  exclude_dynamic_sections?: boolean;
  /** Raw flags of the CLI by name; admin only, and only if the server's configuration allows it */
  extra_args?: { [name: string]: string | null };
  fallback_model?: string;
  forward_subagent_text?: boolean;
  /** A new process and a new conversation for each turn */
  fresh?: boolean;
  include_hook_events?: boolean;
  /** The schema of the answer; needs max_turns */
  json_schema?: Json;
  max_budget_usd?: number;
  max_thinking_tokens?: number;
  max_turns?: number;
  /** MCP servers by name, as in the CLI's configuration; admin only */
  mcp_servers?: Json;
  model?: string;
  /** The title that the CLI is given */
  name?: string;
  /** The CLI writes no transcript: the conversation cannot be resumed */
  no_persistence?: boolean;
  /** default, plan, acceptEdits, dontAsk; bypassPermissions needs the right admin and the server's consent */
  permission_mode?: string;
  plan_mode_instructions?: string;
  /** Folders of plugins; admin only */
  plugin_dirs?: string[] | null;
  prompt_suggestions?: boolean;
  /** Seconds after which a question that somebody could see is refused; 0 waits for ever */
  question_deadline?: number;
  /** Go on by itself when a rate limit is over */
  resume_at_reset?: boolean;
  /** Where the CLI reads settings: user, project, local */
  setting_sources?: string[] | null;
  /** A settings object for the CLI; admin only */
  settings?: Json;
  /** The skills to offer */
  skills?: string[] | null;
  /** Only the MCP servers that are named here */
  strict_mcp?: boolean;
  supported_dialog_kinds?: string[] | null;
  /** Replaces the CLI's own */
  system_prompt?: string;
  task_budget?: number;
  thinking?: "adaptive" | "disabled" | (string & {});
  /** Other names for tools */
  tool_aliases?: { [name: string]: string };
  /** Built-in tools to offer */
  tools?: string[] | null;
}

export interface SessionRule {
  by?: string;
  created: string;
  decision: "allow" | "ask" | "deny" | (string & {});
  expires?: string;
  id: string;
  /** What the agent is told, with deny */
  message?: string;
  pending?: boolean;
  rule: string;
}

export interface SessionSummary {
  archived?: boolean;
  conversation?: string;
  created: string;
  dir?: string;
  /** Whether the last turn failed, or the process ended before its work was done; not if somebody has interrupted or stopped it */
  failed?: boolean;
  id: string;
  last_event_id?: string;
  model?: string;
  /** How many questions are open */
  questions: number;
  run: number;
  simulated?: boolean;
  state: string;
  title?: string;
  updated: string;
  usd: number;
}

export interface SetMCPServers {
  /** MCP servers by name, as in the CLI's configuration */
  servers: Json;
}

export interface Stop {
  force?: boolean;
}

export interface Suggestion {
  destination?: string;
  text: string;
  update: Json;
}

export interface Task {
  description?: string;
  id: string;
  kind?: string;
}

export interface TestRules {
  /** How many sessions at most */
  limit?: number;
  /** The sessions to look at; the newest if absent */
  sessions?: string[] | null;
  /** The rules, at most 5000; those in force if absent */
  text?: string;
}

export interface Timeline {
  items: TimelineItem[] | null;
  more?: boolean;
  /** The id to go on after */
  next?: string;
}

export interface TimelineItem {
  by?: string;
  event_id: string;
  failed?: boolean;
  kind: string;
  ms?: number;
  run?: number;
  seq: number;
  time: string;
  /** What happened, in one line */
  title: string;
  usd?: number;
}

export interface ToggleMCPServer {
  enabled: boolean;
}

export interface Token {
  created: string;
  /** The request was made with this token */
  current?: boolean;
  expires?: string;
  id: string;
  kind?: string;
  name: string;
  scopes: ("observe" | "prompt" | "approve" | "admin" | (string & {}))[] | null;
  /** When it was last used, to the minute */
  used?: string;
}

export interface TokenList {
  tokens: Token[] | null;
}

export interface Tokens {
  /** Read from the cache */
  cache_read: number;
  /** Put into the cache */
  cache_write: number;
  /** Read, the cache not included */
  input: number;
  /** Written */
  output: number;
}

export interface Transcript {
  bytes: number;
  /** The CLI's session_id */
  conversation: string;
  /** The folder that it was held in */
  dir?: string;
  marks?: Mark[] | null;
  modified: string;
  session?: string;
  snippet?: string;
  /** Its title, or the beginning of its first prompt */
  title?: string;
}

export interface TranscriptList {
  /** The cursor of the next page, which there may be behind one that is not full */
  next?: string;
  transcripts: Transcript[] | null;
}

export interface TranscriptPage {
  /** Its lines as they are, those that were given up by a rewind left out */
  lines: Json[] | null;
  more?: boolean;
  /** The number of the line to go on with */
  next?: number;
}

export interface TurnResult {
  failed?: boolean;
  interrupted?: boolean;
  /** What started the turn if nobody prompted it */
  origin?: string;
  subtype: string;
}

export interface UpdateSession {
  archived?: boolean;
  max_thinking_tokens?: number;
  /** Empty for the default */
  model?: string;
  permission_mode?: string;
  title?: string;
}

export interface Verdict {
  last_event_id?: string;
  resume: "ok" | "gap" | "reset" | (string & {});
}

/** Operations holds every operation of the interface by its id. A parameter of the path stands in it in braces; answer is what comes with success, as JSON. */
export interface Operations {
  /** List what was decided about calls of agents, the newest first. By rules and by people. Answers to questions are among them. */
  "get-audit": {
    method: "GET";
    path: "/v1/audit";
    scope: "observe";
    query?: {
      /** Only decisions in this session */
      session?: string;
      /** Only decisions of rules (true) or of somebody (false) */
      automatic?: "true" | "false";
      /** Only decisions since then */
      since?: string;
      /** Where the page before ended: its member next */
      cursor?: string;
      /** How many at most; 100 if absent */
      limit?: number;
    };
    answer: Audit;
  };
  /** Download a copy of the journal. All sessions as they are at one moment, in one file. Put in the place of journal.db while no server runs it is a journal again. It holds what was said in all sessions, also what other operations leave out because it may be a secret. A download that fails on the way is cut off, so that it cannot be taken for a whole one. */
  "get-backup": {
    method: "GET";
    path: "/v1/backup";
    scope: "admin";
    answer: string;
  };
  /** Show the limits of what agents may use, with their use. Those of the server's configuration. What concerns one session is in its snapshot, too. */
  "get-budgets": {
    method: "GET";
    path: "/v1/budgets";
    scope: "observe";
    answer: Budgets;
  };
  /** Make a one-time code for a browser. Whoever has it gets a token for it, once. It can stand for no scope that you do not have. */
  "create-code": {
    method: "POST";
    path: "/v1/codes";
    scope: "admin";
    body?: CreateCode;
    answer: Code;
  };
  /** Sum up what agents have cost. In US dollars, as the CLI tells it. */
  "get-costs": {
    method: "GET";
    path: "/v1/costs";
    scope: "observe";
    query?: {
      /** What to sum up by; session if absent */
      by?: "session" | "dir" | "day" | "model";
      /** Only what was spent since then */
      since?: string;
    };
    answer: Costs;
  };
  /** Revoke the tokens of all other devices. Those that one-time codes were exchanged for, except the one that asks. */
  "revoke-devices": {
    method: "DELETE";
    path: "/v1/devices";
    scope: "admin";
    answer: RevokedTokens;
  };
  /** Count what this server does not know in the lines of CLIs. It is carried and kept all the same. A newer version of the server may know it. */
  "get-drift": {
    method: "GET";
    path: "/v1/drift";
    scope: "observe";
    answer: Drift;
  };
  /** Read or follow the logs of all sessions at once. All sessions' events in the order in which they were written down. Where you are in it is a position, which is the id of server-sent events, the member position of a Frame, and the member next of a page. A page of the log in JSON; with "Accept: text/event-stream" a stream of server-sent events; with "Upgrade: websocket" the same as text messages, each a Frame. A stream begins with a frame "resume" (Verdict), which says whether it goes on where you left off: ok; gap, if something between was removed; reset, if it begins anew because the log is another one. Then come "event" (Event, kept, with an id), "live" (Event, not kept, without an id), "partial" (Partials: replaces what you have of messages that are being written) and at the end perhaps "closing" (Closing: come back with the last id). While there is nothing to say a comment or a ping is sent every 15 seconds. Who does not read is cut off after a while and comes back with the last id: nothing is lost by that. Filters leave events out; ids and resuming work as without. A page that was filtered may be empty and have a next one. */
  "get-all-events": {
    method: "GET";
    path: "/v1/events";
    scope: "observe";
    query?: {
      /** The id of the last event that you have; absent: from the beginning; now: only what comes. Of all sessions: the position of the last event */
      after?: string;
      /** The same as after, under the name that it has in other lists: the member next of the page before */
      cursor?: string;
      /** How many events a page looks at, at most; 1000 if absent. A stream has no limit */
      limit?: number;
      /** Whether a stream has deltas and partial messages too */
      live?: boolean;
      /** Only events of these kinds, separated by commas; live stands for deltas and partial messages */
      kinds?: ("line" | "sent" | "live" | "history" | "created" | "run_started" | "run_launched" | "run_ended" | "link_up" | "link_lost" | "state" | "question_opened" | "question_settled" | "message" | "command" | "gap" | "oversize" | "updated" | "notice" | "question_changed" | "rule_added" | "rule_removed" | "decision" | "mode" | "hold" | "hold_over" | "budget" | "turn")[] | null;
      /** Of lines only those of these types, separated by commas, such as assistant,user,result. Events that are no lines are not affected */
      types?: string[] | null;
      /** Only the conversation: lines of the types user, assistant and result, their deltas, questions, messages, states and gaps */
      messages?: boolean;
      /** How many seconds a stream is silent at most; 15 if absent. Heartbeats then come as frames of the type heartbeat too, which scripts in browsers can see */
      heartbeat?: number;
    };
    answer: EventPage;
  };
  /** Suggest folders to work in. Without a prefix those that sessions and conversations were in lately; with one also folders on disk that begin with it. */
  "list-folders": {
    method: "GET";
    path: "/v1/folders";
    scope: "admin";
    query?: {
      /** The beginning of an absolute path */
      prefix?: string;
      /** How many at most; 100 if absent */
      limit?: number;
    };
    answer: Folders;
  };
  /** Say what the server is and can do. Capabilities name what this server can do: look there instead of at its version. */
  "get-info": {
    method: "GET";
    path: "/v1/info";
    scope: "observe";
    answer: Info;
  };
  /** Exchange a one-time code for a token. It needs no token. A wrong code is answered after a while. A browser asks for a cookie: then the token in the answer works only together with it, and the token of an earlier login of this browser is replaced. */
  "login": {
    method: "POST";
    path: "/v1/login";
    scope: "none";
    body: Login;
    answer: CreatedToken;
  };
  /** End the token of this device. Its cookie is removed, and connections that are open in its name are ended. A token that no one-time code was exchanged for stays valid: revoke it instead. */
  "logout": {
    method: "POST";
    path: "/v1/logout";
    scope: "observe";
    answer: void;
  };
  /** Listen for phones in the network. With TLS and a certificate that the hub makes once. It ends with the hub. Asked again with another address, the hub listens there instead. */
  "open-phone": {
    method: "POST";
    path: "/v1/phone";
    scope: "admin";
    body?: OpenPhone;
    answer: Phone;
  };
  /** Stop listening for phones in the network. Their connections are cut. Their tokens stay valid. */
  "close-phone": {
    method: "DELETE";
    path: "/v1/phone";
    scope: "admin";
    answer: void;
  };
  /** Show the rules that are in force for all sessions. Those of the rules file, of built-in sets and of this server itself, and a change of the file that waits for confirmation. */
  "get-policy": {
    method: "GET";
    path: "/v1/policy";
    scope: "observe";
    answer: Policy;
  };
  /** Confirm a change of the rules file that allows more. A sum that is not that of the change that waits is refused with the code conflict: look again at what it would allow. */
  "confirm-policy": {
    method: "POST";
    path: "/v1/policy/confirm";
    scope: "admin";
    body: ConfirmPolicy;
    answer: Policy;
  };
  /** Say what the rules would decide about a call, and why. Nothing is done. Of explain-call and test-rules a token may have four under way; more are refused with the code too_many. */
  "explain-call": {
    method: "POST";
    path: "/v1/policy/explain";
    scope: "observe";
    body: ExplainCall;
    answer: Decision;
  };
  /** Show the text of the rules file. With its hash, which replace-rules-file wants to see. */
  "get-rules-file": {
    method: "GET";
    path: "/v1/policy/file";
    scope: "admin";
    answer: RulesFile;
  };
  /** Put another text into the rules file. hash is that of the text that you have seen: if somebody has changed the file since, the code is conflict. A text that is wrong is refused with the line. What allows more than before waits for confirm-policy. */
  "replace-rules-file": {
    method: "PUT";
    path: "/v1/policy/file";
    scope: "admin";
    body: ReplaceRules;
    answer: Policy;
  };
  /** Say what rules would have decided about the calls of sessions. Nothing is changed. A great many calls are not all looked at; then incomplete says so. Of explain-call and test-rules a token may have four under way; more are refused with the code too_many. */
  "test-rules": {
    method: "POST";
    path: "/v1/policy/test";
    scope: "observe";
    body?: TestRules;
    answer: RulesTested;
  };
  /** List what agents ask, the oldest first. Also those that are settled, unless a state is given. */
  "list-questions": {
    method: "GET";
    path: "/v1/questions";
    scope: "observe";
    query?: {
      /** Only questions in this state */
      state?: "open" | "answered" | "answered_too_late" | "cancelled";
      /** Only questions of this session */
      session?: string;
      /** Only questions of this kind */
      kind?: "permission" | "choice" | "plan" | "form" | "dialog";
      /** Only questions whose id begins so */
      prefix?: string;
      /** Where the page before ended: its member next */
      cursor?: string;
      /** How many at most; 1000 if absent */
      limit?: number;
    };
    answer: QuestionList;
  };
  /** Show a question. Settled ones say who answered what. */
  "get-question": {
    method: "GET";
    path: "/v1/questions/{id}";
    scope: "observe";
    pathParams: {
      /** The question's id */
      id: string;
    };
    answer: Question;
  };
  /** Answer a question. The first answer counts. A later one is refused with the code already_settled and the question as it was settled. One that does not fit is refused with the reason, and the question stays open. What is allowed beyond what the question brought, what is kept longer than the agent's process, and the mode bypassPermissions need the right admin. */
  "answer-question": {
    method: "POST";
    path: "/v1/questions/{id}/answer";
    scope: "approve";
    pathParams: {
      /** The question's id */
      id: string;
    };
    body: Answer;
    answer: Question;
  };
  /** Find messages by their text, the newest first. All words must occur; one that ends in * may be the beginning of a word. What was said in the last moments may not be found yet. */
  "search": {
    method: "GET";
    path: "/v1/search";
    scope: "observe";
    query: {
      /** The words */
      q: string;
      /** Only messages of this session */
      session?: string;
      /** Where the page before ended: its member next */
      cursor?: string;
      /** How many at most; 100 if absent */
      limit?: number;
    };
    answer: SearchResult;
  };
  /** List sessions, the most recently updated first. Archived ones are left out unless they are asked for. */
  "list-sessions": {
    method: "GET";
    path: "/v1/sessions";
    scope: "observe";
    query?: {
      /** Only sessions in one of these states, separated by commas */
      state?: ("starting" | "idle" | "running" | "requires_action" | "background" | "offline" | "ended")[] | null;
      /** Only sessions in this folder */
      dir?: string;
      /** Only sessions with this text in their title or folder */
      q?: string;
      /** Also sessions that are archived */
      archived?: boolean;
      /** Where the page before ended: its member next */
      cursor?: string;
      /** How many at most; 100 if absent */
      limit?: number;
    };
    answer: SessionList;
  };
  /** Start an agent, or make a place for one that dials in. With transport websocket or hybrid no process is started: the answer holds the address and the credential that a CLI dials in with, this once. The same client_id with the same request gets the same session again. */
  "create-session": {
    method: "POST";
    path: "/v1/sessions";
    scope: "admin";
    body: CreateSession;
    answer: Created;
  };
  /** Show a session as it is now. Its state, what it asks, what waits in its queue, what is being written, and what the CLI told last of its tools, commands, agents and models. last_event_id is the event to follow it from. */
  "get-session": {
    method: "GET";
    path: "/v1/sessions/{id}";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    answer: Session;
  };
  /** Change title, model, permission mode or thinking. The permission mode needs the right approve; modes that run commands without asking need admin. */
  "update-session": {
    method: "PATCH";
    path: "/v1/sessions/{id}";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body: UpdateSession;
    answer: Session;
  };
  /** Put a session aside; lists leave it out. The same as update-session with the member archived. */
  "archive-session": {
    method: "POST";
    path: "/v1/sessions/{id}/archive";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    answer: Session;
  };
  /** Ask the CLI what takes up the context window. The answer is the CLI's own. */
  "get-context": {
    method: "GET";
    path: "/v1/sessions/{id}/context";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    answer: ControlResult;
  };
  /** Send the CLI a control request of its own protocol. The request is checked and fitted to the CLI's version before it is sent. The answer is the body of the CLI's; if that is an error, the code is refused_by_agent. initialize is sent by the server alone. */
  "control-session": {
    method: "POST";
    path: "/v1/sessions/{id}/control";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body: Control;
    answer: ControlResult;
  };
  /** Change variables of the agent's environment. Where the CLI's version can do that. Events and exports show the names alone. */
  "set-environment": {
    method: "POST";
    path: "/v1/sessions/{id}/environment";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body: Environment;
    answer: void;
  };
  /** Read a session's log, or follow it. A page of the log in JSON; with "Accept: text/event-stream" a stream of server-sent events; with "Upgrade: websocket" the same as text messages, each a Frame. A stream begins with a frame "resume" (Verdict), which says whether it goes on where you left off: ok; gap, if something between was removed; reset, if it begins anew because the log is another one. Then come "event" (Event, kept, with an id), "live" (Event, not kept, without an id), "partial" (Partials: replaces what you have of messages that are being written) and at the end perhaps "closing" (Closing: come back with the last id). While there is nothing to say a comment or a ping is sent every 15 seconds. Who does not read is cut off after a while and comes back with the last id: nothing is lost by that. Filters leave events out; ids and resuming work as without. A page that was filtered may be empty and have a next one. */
  "get-events": {
    method: "GET";
    path: "/v1/sessions/{id}/events";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    query?: {
      /** The id of the last event that you have; absent: from the beginning; now: only what comes. Of all sessions: the position of the last event */
      after?: string;
      /** The same as after, under the name that it has in other lists: the member next of the page before */
      cursor?: string;
      /** How many events a page looks at, at most; 1000 if absent. A stream has no limit */
      limit?: number;
      /** Whether a stream has deltas and partial messages too */
      live?: boolean;
      /** Only events of these kinds, separated by commas; live stands for deltas and partial messages */
      kinds?: ("line" | "sent" | "live" | "history" | "created" | "run_started" | "run_launched" | "run_ended" | "link_up" | "link_lost" | "state" | "question_opened" | "question_settled" | "message" | "command" | "gap" | "oversize" | "updated" | "notice" | "question_changed" | "rule_added" | "rule_removed" | "decision" | "mode" | "hold" | "hold_over" | "budget" | "turn")[] | null;
      /** Of lines only those of these types, separated by commas, such as assistant,user,result. Events that are no lines are not affected */
      types?: string[] | null;
      /** Only the conversation: lines of the types user, assistant and result, their deltas, questions, messages, states and gaps */
      messages?: boolean;
      /** How many seconds a stream is silent at most; 15 if absent. Heartbeats then come as frames of the type heartbeat too, which scripts in browsers can see */
      heartbeat?: number;
    };
    answer: EventPage;
  };
  /** Download a session. jsonl: every line of the CLI and to it as it was, one per line, without values of environments, MCP servers and settings. events: the log, an Event per line. markdown: for people. A download that fails on the way is cut off, so that it cannot be taken for a whole one. */
  "export-session": {
    method: "GET";
    path: "/v1/sessions/{id}/export";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    query?: {
      /** What to make of it */
      format?: "jsonl" | "events" | "markdown";
    };
    answer: string;
  };
  /** Ask the CLI for files that the beginning of a path may mean. For mentions in messages. It needs a CLI that knows how to, as 2.1.325 does. */
  "suggest-files": {
    method: "GET";
    path: "/v1/sessions/{id}/files";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    query?: {
      /** The beginning, or a part, of a path */
      q?: string;
    };
    answer: FileSuggestions;
  };
  /** Start a new session with a copy of the conversation. The session that it is taken from goes on as it is. */
  "fork-session": {
    method: "POST";
    path: "/v1/sessions/{id}/fork";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body?: Fork;
    answer: Created;
  };
  /** Stop the current turn, and answer when it has ended. Questions of the turn are cancelled. If no turn was going on, was is false and nothing is done. */
  "interrupt-session": {
    method: "POST";
    path: "/v1/sessions/{id}/interrupt";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body?: Interrupt;
    answer: Interrupted;
  };
  /** Ask the CLI for its MCP servers and their states. The answer is the CLI's own. */
  "get-mcp": {
    method: "GET";
    path: "/v1/sessions/{id}/mcp";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    answer: ControlResult;
  };
  /** Replace the MCP servers that the agent was given while it ran. Those of the CLI's own configuration stay. The answer, the CLI's own, says which were added and removed, and what failed. */
  "set-mcp": {
    method: "PUT";
    path: "/v1/sessions/{id}/mcp";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body: SetMCPServers;
    answer: ControlResult;
  };
  /** Send a JSON-RPC message to an MCP server of the agent. The answer is the CLI's own. */
  "message-mcp-server": {
    method: "POST";
    path: "/v1/sessions/{id}/mcp/{server}/message";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
      /** The name of the MCP server */
      server: string;
    };
    body: MCPMessage;
    answer: ControlResult;
  };
  /** Connect an MCP server again. The answer is the CLI's own. */
  "reconnect-mcp-server": {
    method: "POST";
    path: "/v1/sessions/{id}/mcp/{server}/reconnect";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
      /** The name of the MCP server */
      server: string;
    };
    answer: ControlResult;
  };
  /** Switch an MCP server on or off. The answer is the CLI's own. */
  "toggle-mcp-server": {
    method: "POST";
    path: "/v1/sessions/{id}/mcp/{server}/toggle";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
      /** The name of the MCP server */
      server: string;
    };
    body: ToggleMCPServer;
    answer: ControlResult;
  };
  /** Send a message to the agent. It waits until the agent is idle, or with mode steer is written into the running turn. A session that has ended is resumed for it. What becomes of it is told by events of the kind message. The same client_id is one message, however often it is sent. Blocks in content that no person writes, such as results of tools, need the right admin. */
  "send-message": {
    method: "POST";
    path: "/v1/sessions/{id}/messages";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body: SendMessage;
    answer: Message;
  };
  /** Change a message that is still queued. Blocks in content that no person writes, such as results of tools, need the right admin. */
  "edit-message": {
    method: "PATCH";
    path: "/v1/sessions/{id}/messages/{client_id}";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
      /** Your id of the message */
      client_id: string;
    };
    body: EditMessage;
    answer: Message;
  };
  /** Take a message back that is still queued. One that is on its way already is refused with the code not_queued. */
  "take-back-message": {
    method: "DELETE";
    path: "/v1/sessions/{id}/messages/{client_id}";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
      /** Your id of the message */
      client_id: string;
    };
    answer: Message;
  };
  /** Let a session go on that a budget or a rate limit holds back. Without a body everything that holds it back is released, and a budget gets as much again as it has. */
  "release-session": {
    method: "POST";
    path: "/v1/sessions/{id}/release";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body?: Release;
    answer: Session;
  };
  /** Start a new process for a session that has ended. Other options than those of the session, and force, need the right admin. */
  "resume-session": {
    method: "POST";
    path: "/v1/sessions/{id}/resume";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body?: Resume;
    answer: Session;
  };
  /** Restore files as they were before a message. With dry_run it only says what would change. Without, it needs the right admin. */
  "rewind-session": {
    method: "POST";
    path: "/v1/sessions/{id}/rewind";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body: Rewind;
    answer: RewindResult;
  };
  /** Add a rule to a session. A rule that allows, and the rule *, need the right admin. */
  "add-rule": {
    method: "POST";
    path: "/v1/sessions/{id}/rules";
    scope: "approve";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body: AddRule;
    answer: SessionRule;
  };
  /** Remove a rule from a session. To remove one that denies or asks needs the right admin: more is allowed without it. */
  "remove-rule": {
    method: "DELETE";
    path: "/v1/sessions/{id}/rules/{rule}";
    scope: "approve";
    pathParams: {
      /** The session's id */
      id: string;
      /** The rule's id */
      rule: string;
    };
    answer: SessionRule;
  };
  /** End the agent's process; the session stays. It is given the time to finish what it writes; with force it is not. A later message or resume-session starts another process. */
  "stop-session": {
    method: "POST";
    path: "/v1/sessions/{id}/stop";
    scope: "admin";
    pathParams: {
      /** The session's id */
      id: string;
    };
    body?: Stop;
    answer: Session;
  };
  /** Show what happened in a session, a line for each thing. Turns, prompts, tools, questions, decisions and runs, the oldest first. cursor takes the id of any event. */
  "get-timeline": {
    method: "GET";
    path: "/v1/sessions/{id}/timeline";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    query?: {
      /** Where the page before ended: its member next */
      cursor?: string;
      /** How many at most; 100 if absent */
      limit?: number;
      /** The same as cursor */
      after?: string;
    };
    answer: Timeline;
  };
  /** Take a session back from the archive. The same as update-session with the member archived. */
  "unarchive-session": {
    method: "POST";
    path: "/v1/sessions/{id}/unarchive";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    answer: Session;
  };
  /** List the tokens. Their texts are not kept, and cannot be shown. One that has expired is listed for a week. */
  "list-tokens": {
    method: "GET";
    path: "/v1/tokens";
    scope: "admin";
    answer: TokenList;
  };
  /** Make a token. It can be given no scope that you do not have. Its text is shown this once. */
  "create-token": {
    method: "POST";
    path: "/v1/tokens";
    scope: "admin";
    body: CreateToken;
    answer: CreatedToken;
  };
  /** Revoke a token. Streams and other connections that are open in its name are ended. */
  "revoke-token": {
    method: "DELETE";
    path: "/v1/tokens/{id}";
    scope: "admin";
    pathParams: {
      /** The token's id: what is between the two underscores of its text */
      id: string;
    };
    answer: void;
  };
  /** List conversations that the CLI has written to disk, the newest first. Those that were held without this server, too. With q those with a message in which all words occur: files are read for it, a part of them for each page, so that one may have less than was asked for, even nothing, and another one behind it. */
  "list-transcripts": {
    method: "GET";
    path: "/v1/transcripts";
    scope: "admin";
    query?: {
      /** Only those of this folder, an absolute path */
      dir?: string;
      /** Only those whose id begins so */
      conversation?: string;
      /** Words that somebody said in them */
      q?: string;
      /** Where the page before ended: its member next */
      cursor?: string;
      /** How many at most; 100 if absent */
      limit?: number;
    };
    answer: TranscriptList;
  };
  /** Read a conversation on disk. Lines that a rewind gave up are left out. */
  "get-transcript": {
    method: "GET";
    path: "/v1/transcripts/{conversation}";
    scope: "admin";
    pathParams: {
      /** The CLI's session_id */
      conversation: string;
    };
    query?: {
      /** The folder that it was held in; needed if it cannot be told otherwise */
      dir?: string;
      /** The number of the line to begin with: the member next of the page before */
      cursor?: number;
      /** How many lines at most; 100 if absent */
      limit?: number;
    };
    answer: TranscriptPage;
  };
  /** Start a session that goes on with a conversation on disk. One that a live session has is refused with the code owned. */
  "adopt-transcript": {
    method: "POST";
    path: "/v1/transcripts/{conversation}/adopt";
    scope: "admin";
    pathParams: {
      /** The CLI's session_id */
      conversation: string;
    };
    body?: Adopt;
    answer: Created;
  };
}

/** OperationID is the id of an operation. */
export type OperationID = keyof Operations;
