// Code generated from openapi.json by internal/apigen. DO NOT EDIT.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface AddRule {
  client_id?: string;
  decision: "allow" | "ask" | "deny";
  /** Lifetime in seconds */
  for?: number;
  message?: string;
  /** A rule such as Bash(git status:*), or * for everything */
  rule: string;
}

export interface Adopt {
  client_id?: string;
  /** Working folder; default: that of the conversation */
  dir?: string;
  /** Options of the preset that do not apply, as in create-session */
  except?: string[] | null;
  /** Continue with a copy */
  fork?: boolean;
  /** The machine that the conversation is on: a name or id of list-nodes; default: the hub's own */
  node?: string;
  options?: SessionOptions;
  /** A preset of the hub, as in create-session */
  preset?: string;
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
  /** Image content blocks */
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

export interface AttachRelay {
  /** Look for relays on the ports 8765 to 8774 of the hub's machine instead, from time to time */
  discover?: boolean;
  /** Allow ws:// to another machine: everyone between can read and change everything */
  insecure?: boolean;
  /** Let rules answer what its agents ask */
  rules?: boolean;
  /** The address for front ends: ws:// on the hub's machine, or wss:// */
  url?: string;
}

export interface Audit {
  items: AuditItem[] | null;
  next?: string;
}

export interface AuditItem {
  by?: string;
  /** allow, deny, ask, refused by the sandbox, or what the answer said */
  decision: string;
  event_id: string;
  /** The id of the question */
  question?: string;
  reason?: string;
  /** What the sandbox refused, with decision refused */
  refusal?: SandboxRefusal;
  /** The rule that decided */
  rule?: RuleRef;
  session: string;
  source?: "agent" | "person" | "program" | "hub" | (string & {});
  time: string;
  /** What the agent wanted to do, in one line */
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
  /** The text, used as the key of its answer */
  question: string;
}

export interface ChoiceAnswer {
  labels?: string[] | null;
  notes?: string;
  /** Skip this question */
  skip?: boolean;
  /** Free text instead of, or together with, labels */
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
  /** The change to confirm: Policy.Pending.Sum */
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
  /** The body of the CLI's response */
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
  /** From turns that report them by model */
  tokens?: Tokens;
  turns: number;
  usd: number;
}

export interface CreateCode {
  /** The token's name */
  name?: string;
  /** All if absent */
  scopes?: ("observe" | "prompt" | "approve" | "admin")[] | null;
}

export interface CreateSession {
  /** Your id for this request: the same id returns the same session */
  client_id?: string;
  /** Working folder, an absolute path */
  dir: string;
  /** Options of the preset that do not apply, by name. A member of options that is false, zero or empty counts as one */
  except?: string[] | null;
  /** Continue with a copy of it */
  fork?: boolean;
  /** The machine to run the agent on: a name or id of list-nodes, or any for the least loaded one. Default: the hub's own, or with node_labels any */
  node?: string;
  /** Labels that the machine must have */
  node_labels?: { [name: string]: string };
  options?: SessionOptions;
  /** A preset of the hub, see list-presets. Options that the request has win over those of the preset; variables of env are joined */
  preset?: string;
  /** The first message */
  prompt?: string;
  /** The CLI's session_id of a conversation to continue */
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
  /** All values so far, the current one last */
  conversations?: Conversation[] | null;
  cost?: Cost;
  created: string;
  /** The agent's working folder */
  dir?: string;
  /** Counters of unrecognized parts of the CLI's lines */
  drift?: Json;
  /** How the last run ended, if state is ended */
  ended?: Ended;
  /** Whether the last turn failed, or the process ended before its work was done; retry-session sends its prompt again */
  failed?: boolean;
  /** Why the queue is held */
  holds?: Hold[] | null;
  /** The session's id, which never changes */
  id: string;
  init?: Json;
  initialize?: Json;
  last_event_id?: string;
  /** Whether the agent is connected now */
  linked: boolean;
  /** Queued messages and those being sent */
  messages?: Message[] | null;
  model?: string;
  /** The name of the machine that the agent runs on; absent for the hub's own */
  node?: string;
  /** The options with which the session was created */
  options?: SessionOptions;
  /** The message being written */
  partial?: Partial[] | null;
  permission_mode?: string;
  /** The beginning of the last prompt */
  prompt?: string;
  /** The session's open questions */
  questions?: Question[] | null;
  /** The account's limits by kind, as reported by the CLI */
  rate_limits?: Json;
  /** The address of the relay that shows the agent, if another program owns it */
  relay?: string;
  /** How the last turn ended */
  result?: TurnResult;
  /** Set while the CLI waits to retry a request */
  retry?: Retry;
  /** The session's own rules */
  rules?: SessionRule[] | null;
  /** The number of the current or last process */
  run: number;
  /** The version of the environment that a CLI which dialed in runs in, as it said in the header X-Environment-Runner-Version */
  runner?: string;
  /** What holds the processes of this run back */
  sandbox?: Sandbox;
  /** Whether the agent is a simulation */
  simulated?: boolean;
  /** The session's state */
  state: "starting" | "idle" | "running" | "requires_action" | "background" | "offline" | "ended" | (string & {});
  /** Sub-agents and background work */
  tasks?: Task[] | null;
  /** The beginning of the last answer */
  text?: string;
  /** The title that a person gave the session, else the CLI's, else the first line of the first prompt */
  title?: string;
  /** The credential of a CLI that dials in; shown once */
  token?: string;
  /** How the agent is connected: shim, tee, websocket, hybrid or relay */
  transport?: string;
  /** Whether the CLI of this run dialed in without a token (see dial.open); it has rules of its own */
  unauthenticated?: boolean;
  /** When a person, a program or the agent last did something in it */
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

export interface DrainNode {
  /** false: it takes new sessions again */
  draining: boolean;
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
  /** By name; the values are not shown again, and not stored */
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
  /** The agent's working folder */
  dir?: string;
  /** The tool's input */
  input?: Json;
  /** A session whose folder and own rules apply */
  session?: string;
  tool: string;
}

export interface FileSuggestions {
  /** The folder in which the paths begin */
  dir?: string;
  /** Their paths, best match first */
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

export interface ForgottenPreferences {
  /** The folders they were for; empty for all folders */
  removed: string[] | null;
}

export interface Fork {
  at?: string;
  client_id?: string;
  /** If absent, those of the session. What a snapshot does not show of them (mcp_servers, settings, env, extra_args) stays as it was where it is absent */
  options?: SessionOptions;
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
  /** Number of other machines that agents can run on */
  nodes?: number;
  /** Fingerprint of the hub's own certificate, to be given to switchboard login and node join; absent if it has none */
  pin?: string;
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
  /** Cancelled messages */
  taken?: Message[] | null;
  /** Whether a turn was running */
  was: boolean;
}

export interface InviteNode {
  /** By which sessions choose a node */
  labels?: { [name: string]: string };
  /** Number of sessions with a process it may have; no limit if absent */
  max_sessions?: number;
  /** The node's name: 2 to 63 of a-z, 0-9, dots and dashes; the machine's choice if absent */
  name?: string;
  /** For how many seconds the invitation is valid; default: 900 */
  ttl?: number;
}

export interface JoinNode {
  arch?: string;
  code: string;
  hostname?: string;
  /** The node's Ed25519 public key, in base64 */
  key: string;
  /** The node's name; ignored if the invitation has one */
  name?: string;
  os?: string;
  version?: string;
}

export interface JoinedNode {
  /** The hub's id, to be checked at each connection */
  hub: string;
  id: string;
  labels?: { [name: string]: string };
  name: string;
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
  /** Put it at the front of the queue */
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

export interface Node {
  /** The address that it is connected from, while it is */
  address?: string;
  arch?: string;
  /** The CLIs that it has found; sessions run the first */
  clis: NodeCLI[] | null;
  cpus?: number;
  created: string;
  /** It takes no new sessions */
  draining?: boolean;
  /** SHA-256 fingerprint of its public key */
  fingerprint: string;
  hostname?: string;
  id: string;
  /** What it was labeled with at its invitation */
  labels?: { [name: string]: string };
  /** When it was last connected; absent if it never was */
  last_seen?: string;
  /** Load of the last minute, divided by the number of CPUs */
  load?: number;
  /** Number of sessions with a process it may have; absent for no limit */
  max_sessions?: number;
  memory_bytes?: number;
  memory_free?: number;
  /** Unique; never changes */
  name: string;
  os?: string;
  /** What enforces sandboxes there; absent if nothing does */
  sandbox?: string;
  /** Number of its sessions with a process */
  sessions: number;
  /** Its clock minus the hub's, in milliseconds */
  skew_millis?: number;
  state: "online" | "offline" | "draining" | "revoked" | (string & {});
  /** Of its switchboard */
  version?: string;
}

export interface NodeCLI {
  path: string;
  simulated?: boolean;
  version?: string;
}

export interface NodeInvitation {
  /** Works once; shown once */
  code: string;
  /** What to run on the machine; holds the code */
  command: string;
  expires: string;
  /** Fingerprint of the hub's certificate; absent if the hub has none of its own */
  pin?: string;
  /** The hub's address */
  url: string;
}

export interface NodeList {
  nodes: Node[] | null;
}

export interface OpenPhone {
  /** Address to listen on, such as 192.168.1.20 or 192.168.1.20:8775; the only private one if absent */
  listen?: string;
}

export interface Option {
  description?: string;
  label: string;
  /** Preview of this option */
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
  /** Whether the rules file does not exist, which is no problem */
  missing?: boolean;
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
  scope: "builtin" | "global" | "folder" | "dialed" | "unauthenticated" | (string & {});
  source?: string;
}

export interface PreferenceList {
  /** What holds in the folder asked about; without one, in a folder that has none of its own */
  effective: Preferences;
  /** The user, or the name of the token; devices belong to the person whose code they used */
  person: string;
  /** Those for all folders first, then by folder */
  saved: SavedPreferences[] | null;
}

export interface Preferences {
  /** Rules to allow without asking, such as Bash(go test:*) */
  allow?: string[] | null;
  /** Rules to deny */
  deny?: string[] | null;
  model?: string;
  /** plan, dontAsk, default, acceptEdits or auto; bypassPermissions is not remembered */
  permission_mode?: string;
  /** What the operating system enforces, as in the options of a session */
  sandbox?: "off" | "deny-only" | "strict" | (string & {});
  /** Allow commands without asking; only with the sandbox strict */
  sandbox_auto_allow?: boolean;
}

export interface Preset {
  /** What it is for, in one line */
  description?: string;
  /** Options that are set and not shown, each with the names in it, such as those of variables */
  hidden?: { [name: string]: string[] | null };
  name: string;
  /** Its options, without mcp_servers, settings, env and extra_args */
  options?: SessionOptions;
}

export interface Presets {
  presets: Preset[] | null;
}

export interface Question {
  /** The sub-agent that asks */
  agent_id?: string;
  /** The answer */
  answer?: Answer;
  /** The path that caused the question */
  blocked_path?: string;
  /** Who answered or cancelled */
  by?: string;
  choices?: Choice[] | null;
  deadline?: number;
  delivery?: string;
  /** The purpose that the agent gives */
  description?: string;
  /** Where the answer came from: person, program or hub */
  from?: string;
  id: string;
  kind: "permission" | "choice" | "plan" | "form" | "dialog" | (string & {});
  opened: string;
  plan?: Plan;
  /** Why it was cancelled, or answered automatically */
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
  /** What the tool will do, in one line */
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

export interface Relay {
  created: string;
  /** This entry looks for relays on the ports 8765 to 8774 of the hub's machine */
  discover?: boolean;
  /** It was found by looking, and is listed while it is there */
  discovered?: boolean;
  /** Number of lines that were not taken in: of conversations that this hub runs itself, beyond the limits, or of no session */
  dropped?: number;
  /** Why it could not be reached, or why something of it is not shown */
  error?: string;
  id: string;
  /** Whether it may be another machine's without TLS */
  insecure?: boolean;
  /** Whether rules answer what its agents ask; otherwise people do */
  rules?: boolean;
  /** The sessions that it shows now */
  sessions: string[] | null;
  /** When the state began */
  since?: string;
  state: "connecting" | "connected" | "waiting" | "looking" | (string & {});
  /** Its address; absent for the entry that looks for relays */
  url?: string;
}

export interface RelayList {
  relays: Relay[] | null;
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
  /** Only report what would change */
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
  /** Calls that would be decided differently */
  changed?: ChangedRow[] | null;
  denied: number;
  /** There were too many calls; use fewer sessions or rules */
  incomplete?: boolean;
}

export interface Sandbox {
  /** Whether commands are allowed without a question */
  auto_allow?: boolean;
  enforcer: "bubblewrap" | "landlock" | "seatbelt" | "none" | (string & {});
  /** Number of paths that are hidden */
  hidden?: number;
  limits?: string[] | null;
  mode: "off" | "deny-only" | "strict" | (string & {});
  /** What the agent's processes can reach: everything, what rules and people allow, or the model alone */
  network?: "all" | "listed" | "none" | (string & {});
  /** Number of paths that cannot be written */
  read_only?: number;
  /** Why nothing is enforced, if the enforcer is none */
  reason?: string;
}

export interface SandboxRefusal {
  /** The program that tried, with its arguments, redacted */
  command?: string;
  /** How often, if it was refused several times in a row */
  count?: number;
  host?: string;
  kind: "network" | "file" | (string & {});
  path?: string;
  port?: number;
  reason?: string;
  rule?: RuleRef;
  time?: string;
  tool_use_id?: string;
}

export interface SavePreferences {
  /** Rules to allow without asking, such as Bash(go test:*) */
  allow?: string[] | null;
  /** Rules to deny */
  deny?: string[] | null;
  /** The folder, an absolute path; absent for all folders */
  dir?: string;
  model?: string;
  /** plan, dontAsk, default, acceptEdits or auto; bypassPermissions is not remembered */
  permission_mode?: string;
  /** What the operating system enforces, as in the options of a session */
  sandbox?: "off" | "deny-only" | "strict";
  /** Allow commands without asking; only with the sandbox strict */
  sandbox_auto_allow?: boolean;
}

export interface SavedPreferences {
  /** Rules to allow without asking, such as Bash(go test:*) */
  allow?: string[] | null;
  /** Rules to deny */
  deny?: string[] | null;
  /** The folder; absent for all folders */
  dir?: string;
  model?: string;
  /** plan, dontAsk, default, acceptEdits or auto; bypassPermissions is not remembered */
  permission_mode?: string;
  /** What the operating system enforces, as in the options of a session */
  sandbox?: "off" | "deny-only" | "strict" | (string & {});
  /** Allow commands without asking; only with the sandbox strict */
  sandbox_auto_allow?: boolean;
  updated: string;
}

export interface SearchHit {
  dir?: string;
  event_id: string;
  /** Who said it: user (a person or program), assistant, result (the end of a turn), tool (a result of a tool), plan, subagent, system (the CLI itself) */
  kind: "user" | "assistant" | "result" | "tool" | "plan" | "subagent" | "system" | (string & {});
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
  /** All values so far, the current one last */
  conversations?: Conversation[] | null;
  cost?: Cost;
  created: string;
  /** The agent's working folder */
  dir?: string;
  /** Counters of unrecognized parts of the CLI's lines */
  drift?: Json;
  /** How the last run ended, if state is ended */
  ended?: Ended;
  /** Whether the last turn failed, or the process ended before its work was done; retry-session sends its prompt again */
  failed?: boolean;
  /** Why the queue is held */
  holds?: Hold[] | null;
  /** The session's id, which never changes */
  id: string;
  init?: Json;
  initialize?: Json;
  last_event_id?: string;
  /** Whether the agent is connected now */
  linked: boolean;
  /** Queued messages and those being sent */
  messages?: Message[] | null;
  model?: string;
  /** The name of the machine that the agent runs on; absent for the hub's own */
  node?: string;
  /** The options with which the session was created */
  options?: SessionOptions;
  /** The message being written */
  partial?: Partial[] | null;
  permission_mode?: string;
  /** The beginning of the last prompt */
  prompt?: string;
  /** The session's open questions */
  questions?: Question[] | null;
  /** The account's limits by kind, as reported by the CLI */
  rate_limits?: Json;
  /** The address of the relay that shows the agent, if another program owns it */
  relay?: string;
  /** How the last turn ended */
  result?: TurnResult;
  /** Set while the CLI waits to retry a request */
  retry?: Retry;
  /** The session's own rules */
  rules?: SessionRule[] | null;
  /** The number of the current or last process */
  run: number;
  /** The version of the environment that a CLI which dialed in runs in, as it said in the header X-Environment-Runner-Version */
  runner?: string;
  /** What holds the processes of this run back */
  sandbox?: Sandbox;
  /** Whether the agent is a simulation */
  simulated?: boolean;
  /** The session's state */
  state: "starting" | "idle" | "running" | "requires_action" | "background" | "offline" | "ended" | (string & {});
  /** Sub-agents and background work */
  tasks?: Task[] | null;
  /** The beginning of the last answer */
  text?: string;
  /** The title that a person gave the session, else the CLI's, else the first line of the first prompt */
  title?: string;
  /** How the agent is connected: shim, tee, websocket, hybrid or relay */
  transport?: string;
  /** Whether the CLI of this run dialed in without a token (see dial.open); it has rules of its own */
  unauthenticated?: boolean;
  /** When a person, a program or the agent last did something in it */
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
  /** Additional folders that tools may use */
  add_dirs?: string[] | null;
  /** The agent that leads the conversation */
  agent?: string;
  agent_progress_summaries?: boolean;
  /** Sub-agents by name, as in the CLI's initialize request */
  agents?: Json;
  /** Allow switching to bypassPermissions later; admin only */
  allow_bypass?: boolean;
  /** Permission rules, such as Bash(git status:*) */
  allowed_tools?: string[] | null;
  append_system_prompt?: string;
  /** Ask before the agent enters plan mode */
  ask_plan_mode?: boolean;
  betas?: string[] | null;
  disallowed_tools?: string[] | null;
  effort?: "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
  /** Additional environment variables; admin only */
  env?: { [name: string]: string };
  exclude_dynamic_sections?: boolean;
  /** Raw CLI flags by name; admin only, and only if the hub's configuration allows it */
  extra_args?: { [name: string]: string | null };
  fallback_model?: string;
  forward_subagent_text?: boolean;
  /** Start a new process and conversation for each turn */
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
  /** The title passed to the CLI */
  name?: string;
  /** The CLI writes no transcript, so the conversation cannot be resumed */
  no_persistence?: boolean;
  /** plan, dontAsk, default, acceptEdits, auto; bypassPermissions needs the scope admin and the hub's consent */
  permission_mode?: string;
  plan_mode_instructions?: string;
  /** Plugin folders; admin only */
  plugin_dirs?: string[] | null;
  prompt_suggestions?: boolean;
  /** Seconds after which a question that someone could see is denied; 0 waits forever */
  question_deadline?: number;
  /** Continue automatically when a rate limit resets */
  resume_at_reset?: boolean;
  /** What the operating system enforces: nothing, what rules deny, or that only the working folder can be written and hosts are asked about. Empty for the hub's default; off needs the scope admin */
  sandbox?: "off" | "deny-only" | "strict" | (string & {});
  /** Allow commands without asking in a strict sandbox; deny and ask rules still apply */
  sandbox_auto_allow?: boolean;
  /** Where the CLI reads settings: user, project, local */
  setting_sources?: string[] | null;
  /** A settings object for the CLI; admin only */
  settings?: Json;
  /** The skills to offer */
  skills?: string[] | null;
  /** Only the MCP servers listed here */
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
  /** With deny: the reason, shown to the agent */
  message?: string;
  pending?: boolean;
  rule: string;
}

export interface SessionSummary {
  archived?: boolean;
  conversation?: string;
  created: string;
  dir?: string;
  /** Whether the last turn failed, or the process ended before it was done; false if someone interrupted or stopped it */
  failed?: boolean;
  id: string;
  last_event_id?: string;
  model?: string;
  /** The name of the machine that the agent runs on; absent for the hub's own */
  node?: string;
  /** Number of open questions */
  questions: number;
  /** The address of the relay that shows the agent, if another program owns it */
  relay?: string;
  run: number;
  /** What holds the processes of the last run back: its mode, or none if the mode could not be enforced */
  sandbox?: "off" | "deny-only" | "strict" | "none" | (string & {});
  simulated?: boolean;
  state: string;
  /** The beginning of what the agent said last, in one line */
  text?: string;
  title?: string;
  /** Whether the CLI dialed in without a token */
  unauthenticated?: boolean;
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
  /** Maximum number of sessions */
  limit?: number;
  /** The sessions to replay; default: the newest */
  sessions?: string[] | null;
  /** The rules, at most 5000; default: those in force */
  text?: string;
}

export interface Timeline {
  items: TimelineItem[] | null;
  more?: boolean;
  /** The id to continue after */
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
  /** Cache reads */
  cache_read: number;
  /** Cache writes */
  cache_write: number;
  /** Input without the cache */
  input: number;
  /** Written */
  output: number;
}

export interface Transcript {
  bytes: number;
  /** The CLI's session_id */
  conversation: string;
  /** Its working folder */
  dir?: string;
  marks?: Mark[] | null;
  modified: string;
  /** The name of the machine that it is on; absent for the hub's own */
  node?: string;
  session?: string;
  snippet?: string;
  /** Its title, or the beginning of its last or first prompt */
  title?: string;
}

export interface TranscriptList {
  /** The cursor of the next page; a page that isn't full may have one too */
  next?: string;
  transcripts: Transcript[] | null;
}

export interface TranscriptPage {
  /** Its lines unchanged, without those discarded by a rewind */
  lines: Json[] | null;
  more?: boolean;
  /** The number of the line to continue with */
  next?: number;
}

export interface TurnResult {
  failed?: boolean;
  interrupted?: boolean;
  /** What started the turn, if not a prompt */
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
  /** List decisions about agents' calls, newest first. Made by rules and by people, including answers to questions, and what sandboxes refused. */
  "get-audit": {
    method: "GET";
    path: "/v1/audit";
    scope: "observe";
    query?: {
      /** Only decisions in this session */
      session?: string;
      /** Only decisions by rules (true) or by people (false) */
      automatic?: "true" | "false";
      /** Only what sandboxes refused */
      refused?: boolean;
      /** Only decisions since then */
      since?: string;
      /** Where the previous page ended: its member next */
      cursor?: string;
      /** Maximum number of results; default 100 */
      limit?: number;
    };
    answer: Audit;
  };
  /** Download a copy of the journal. A consistent copy of all sessions, in one file. To restore it, replace journal.db with it while no hub runs. It contains everything said in all sessions, including what other operations hide because it may be secret. If a download fails midway, the connection is cut, so that it cannot be mistaken for a complete one. */
  "get-backup": {
    method: "GET";
    path: "/v1/backup";
    scope: "admin";
    answer: string;
  };
  /** Show budgets and how much of them is used. From the hub's configuration. A session's snapshot has those that concern it. */
  "get-budgets": {
    method: "GET";
    path: "/v1/budgets";
    scope: "observe";
    answer: Budgets;
  };
  /** Create a one-time code for a browser. It can be exchanged for a token, once. It can have only scopes that you have. */
  "create-code": {
    method: "POST";
    path: "/v1/codes";
    scope: "admin";
    body?: CreateCode;
    answer: Code;
  };
  /** Sum up the costs of agents. In US dollars, as reported by the CLI. */
  "get-costs": {
    method: "GET";
    path: "/v1/costs";
    scope: "observe";
    query?: {
      /** How to group the costs; default: session */
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
  /** Count unrecognized parts of the CLIs' lines. It is passed on and stored anyway. A newer hub may recognize it. */
  "get-drift": {
    method: "GET";
    path: "/v1/drift";
    scope: "observe";
    answer: Drift;
  };
  /** Read or follow the logs of all sessions at once. Events of all sessions in the order in which they were stored. Your place in it is a position: the id of server-sent events, the member position of a Frame, and the member next of a page. A page of the log in JSON; with "Accept: text/event-stream" a stream of server-sent events; with "Upgrade: websocket" the same as text messages, each a Frame. A stream begins with a frame "resume" (Verdict), which says whether it continues where you left off: ok; gap, if something in between was removed; reset, if it starts over because the log is a different one. Then come "event" (Event, stored, with an id), "live" (Event, not stored, without an id), "partial" (Partials: replaces what you have of messages being written) and possibly "closing" at the end (Closing: reconnect with the last id). An idle stream gets a comment or a ping every 15 seconds. A client that does not read is disconnected after a while and can resume with the last id; nothing is lost. Filters leave events out; ids and resuming work as without them. A filtered page may be empty and still have a next one. */
  "get-all-events": {
    method: "GET";
    path: "/v1/events";
    scope: "observe";
    query?: {
      /** The id of the last event that you have; absent: from the beginning; now: only new events. For all sessions: the position of the last event */
      after?: string;
      /** Same as after, under its name in other lists: the member next of the previous page */
      cursor?: string;
      /** Maximum number of events that a page examines; default 1000. A stream has no limit */
      limit?: number;
      /** Whether a stream has deltas and partial messages too */
      live?: boolean;
      /** Only events of these kinds, separated by commas; live stands for deltas and partial messages */
      kinds?: ("line" | "sent" | "live" | "history" | "created" | "run_started" | "run_launched" | "run_ended" | "link_up" | "link_lost" | "state" | "question_opened" | "question_settled" | "message" | "command" | "gap" | "oversize" | "updated" | "notice" | "question_changed" | "rule_added" | "rule_removed" | "decision" | "mode" | "hold" | "hold_over" | "budget" | "turn" | "sandbox_refused")[] | null;
      /** Only lines of these types, separated by commas, such as assistant,user,result. Events that aren't lines are not affected */
      types?: string[] | null;
      /** Only the conversation: lines of the types user, assistant and result, their deltas, questions, messages, states and gaps */
      messages?: boolean;
      /** Maximum silence of a stream in seconds; default 15. Heartbeats are then also sent as frames of the type heartbeat, which scripts in browsers can see */
      heartbeat?: number;
    };
    answer: EventPage;
  };
  /** Suggest folders to work in. Without a prefix, recent folders of sessions and conversations; with one, also matching folders on disk. */
  "list-folders": {
    method: "GET";
    path: "/v1/folders";
    scope: "admin";
    query?: {
      /** The beginning of an absolute path */
      prefix?: string;
      /** Maximum number of results; default 100 */
      limit?: number;
      /** The machine: a name or id of list-nodes; default: the hub's own */
      node?: string;
    };
    answer: Folders;
  };
  /** Show version and capabilities of the hub. Capabilities list what this hub can do: check them instead of its version. */
  "get-info": {
    method: "GET";
    path: "/v1/info";
    scope: "observe";
    answer: Info;
  };
  /** Exchange a one-time code for a token. Needs no token. A wrong code is answered after a delay. A browser asks for a cookie: then the token in the answer works only together with it, and the token of an earlier login of this browser is replaced. */
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
  /** List the machines that agents can run on, beside the hub's own. In the order of their names, with what they told about themselves last. */
  "list-nodes": {
    method: "GET";
    path: "/v1/nodes";
    scope: "observe";
    answer: NodeList;
  };
  /** Invite a machine to run agents. The answer has the command to run there. Its code works once. */
  "invite-node": {
    method: "POST";
    path: "/v1/nodes/invitations";
    scope: "admin";
    body?: InviteNode;
    answer: NodeInvitation;
  };
  /** Exchange an invitation for the identity of a node. Needs no token. A wrong code is answered after a delay. */
  "join-node": {
    method: "POST";
    path: "/v1/nodes/join";
    scope: "none";
    body: JoinNode;
    answer: JoinedNode;
  };
  /** Show a machine that agents can run on. With what it told about itself last. */
  "get-node": {
    method: "GET";
    path: "/v1/nodes/{node}";
    scope: "observe";
    pathParams: {
      /** The node's name or id */
      node: string;
    };
    answer: Node;
  };
  /** Remove a machine, and end its sessions' runs. It is revoked. The logs of its sessions stay. Processes that still run there are not ended. */
  "forget-node": {
    method: "DELETE";
    path: "/v1/nodes/{node}";
    scope: "admin";
    pathParams: {
      /** The node's name or id */
      node: string;
    };
    answer: void;
  };
  /** Start no new sessions on a machine, or start them again. Sessions that it has go on. */
  "drain-node": {
    method: "POST";
    path: "/v1/nodes/{node}/drain";
    scope: "admin";
    pathParams: {
      /** The node's name or id */
      node: string;
    };
    body: DrainNode;
    answer: Node;
  };
  /** Take a machine's right to connect. For good. Its connections are cut at once; its sessions are offline until it is forgotten. */
  "revoke-node": {
    method: "POST";
    path: "/v1/nodes/{node}/revoke";
    scope: "admin";
    pathParams: {
      /** The node's name or id */
      node: string;
    };
    answer: Node;
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
  /** Show the rules in force for all sessions. From the rules file, built-in sets and the hub itself, with a change of the file that waits for confirmation. */
  "get-policy": {
    method: "GET";
    path: "/v1/policy";
    scope: "observe";
    answer: Policy;
  };
  /** Confirm a change of the rules file that allows more. If the sum is not that of the pending change, the code is conflict: check again what it would allow. */
  "confirm-policy": {
    method: "POST";
    path: "/v1/policy/confirm";
    scope: "admin";
    body: ConfirmPolicy;
    answer: Policy;
  };
  /** Explain what the rules decide about a call. Changes nothing. A token may run four of explain-call and test-rules at a time; more get the code too_many. */
  "explain-call": {
    method: "POST";
    path: "/v1/policy/explain";
    scope: "observe";
    body: ExplainCall;
    answer: Decision;
  };
  /** Show the text of the rules file. With its hash, which replace-rules-file needs. */
  "get-rules-file": {
    method: "GET";
    path: "/v1/policy/file";
    scope: "admin";
    answer: RulesFile;
  };
  /** Replace the text of the rules file. hash is that of the text you have read: if the file has changed since, the code is conflict. Invalid rules are rejected with the line number. Rules that allow more than before wait for confirm-policy. */
  "replace-rules-file": {
    method: "PUT";
    path: "/v1/policy/file";
    scope: "admin";
    body: ReplaceRules;
    answer: Policy;
  };
  /** Replay the calls of sessions against rules. Changes nothing. If there are too many calls to check, incomplete says so. A token may run four of explain-call and test-rules at a time; more get the code too_many. */
  "test-rules": {
    method: "POST";
    path: "/v1/policy/test";
    scope: "observe";
    body?: TestRules;
    answer: RulesTested;
  };
  /** Show what your new sessions begin with. Your own alone. The member effective says what holds in the folder dir: what you prefer there, then what you prefer in all folders. A client applies it to what its create-session leaves open. */
  "get-preferences": {
    method: "GET";
    path: "/v1/preferences";
    scope: "observe";
    query?: {
      /** A folder, an absolute path */
      dir?: string;
    };
    answer: PreferenceList;
  };
  /** Remember what your new sessions begin with. In a folder, or in all folders without dir. Replaces what was remembered there; an empty request forgets it. The mode bypassPermissions is rejected: choose it for each session. */
  "save-preferences": {
    method: "PUT";
    path: "/v1/preferences";
    scope: "admin";
    body: SavePreferences;
    answer: SavedPreferences;
  };
  /** Forget what your new sessions begin with. What you prefer in the folder dir; without dir, what you prefer in all folders, and folders keep their own. With all, everything. */
  "forget-preferences": {
    method: "DELETE";
    path: "/v1/preferences";
    scope: "admin";
    query?: {
      /** A folder, an absolute path */
      dir?: string;
      /** Everything that is remembered for you */
      all?: boolean;
    };
    answer: ForgottenPreferences;
  };
  /** List the presets for new sessions, by name. They are in the hub's configuration. What may hold secrets is not shown, only the names of variables, servers, settings and flags. */
  "list-presets": {
    method: "GET";
    path: "/v1/presets";
    scope: "observe";
    answer: Presets;
  };
  /** List questions, oldest first. Includes settled ones, unless a state is given. */
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
      /** Only questions whose id has this prefix */
      prefix?: string;
      /** Where the previous page ended: its member next */
      cursor?: string;
      /** Maximum number of results; default 1000 */
      limit?: number;
    };
    answer: QuestionList;
  };
  /** Show a question. A settled one says who answered, and how. */
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
  /** Answer a question. The first answer counts. A later one gets the code already_settled and the settled question. An answer that does not fit is rejected with the reason, and the question stays open. Allowing more than the question suggests, permissions that outlive the agent's process, and the mode bypassPermissions need the scope admin. */
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
  /** List the relays of other programs that the hub is attached to. With the state of their connections, and the sessions that they show. */
  "list-relays": {
    method: "GET";
    path: "/v1/relays";
    scope: "admin";
    answer: RelayList;
  };
  /** Show the agents of another program's relay as sessions. The hub connects as a front end of that relay, and again whenever the connection is lost, also after a restart. Its sessions have the transport relay: they can be read, prompted, interrupted and answered, but not started, configured or stopped. */
  "attach-relay": {
    method: "POST";
    path: "/v1/relays";
    scope: "admin";
    body: AttachRelay;
    answer: Relay;
  };
  /** Detach the hub from a relay. Its sessions end here and keep their logs. Their agents are not affected. */
  "detach-relay": {
    method: "DELETE";
    path: "/v1/relays/{id}";
    scope: "admin";
    pathParams: {
      /** The relay's id */
      id: string;
    };
    answer: void;
  };
  /** Search messages, newest first. All words must occur; WORD* matches a prefix. The latest messages may not be found yet. */
  "search": {
    method: "GET";
    path: "/v1/search";
    scope: "observe";
    query: {
      /** The words */
      q: string;
      /** Only messages of this session */
      session?: string;
      /** Where the previous page ended: its member next */
      cursor?: string;
      /** Maximum number of results; default 100 */
      limit?: number;
    };
    answer: SearchResult;
  };
  /** List sessions, most recently updated first. Leaves out archived ones by default. */
  "list-sessions": {
    method: "GET";
    path: "/v1/sessions";
    scope: "observe";
    query?: {
      /** Only sessions in one of these states, separated by commas; failed selects those whose member failed is set */
      state?: ("starting" | "idle" | "running" | "requires_action" | "background" | "offline" | "ended" | "failed")[] | null;
      /** Only sessions in this folder */
      dir?: string;
      /** Only sessions with this text in their title or folder */
      q?: string;
      /** Include archived sessions */
      archived?: boolean;
      /** Only sessions on this machine: a name or id of list-nodes */
      node?: string;
      /** Where the previous page ended: its member next */
      cursor?: string;
      /** Maximum number of results; default 100 */
      limit?: number;
    };
    answer: SessionList;
  };
  /** Start an agent, or prepare a session for one that dials in. With transport websocket or hybrid no process is started: the response contains, once, the address and the credential for a CLI to dial in. The same client_id with the same request returns the same session. With a preset, the session has its options where the request has none. */
  "create-session": {
    method: "POST";
    path: "/v1/sessions";
    scope: "admin";
    body: CreateSession;
    answer: Created;
  };
  /** Show a session as it is now. Its state, open questions, queued messages, the message being written, and what the CLI last reported about its tools, commands, agents and models. Follow it from the event last_event_id. */
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
  /** Change title, model, permission mode or thinking. The permission mode needs the scope approve; modes that run commands without asking need admin. */
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
  /** Archive a session; lists leave it out. Same as update-session with the member archived. */
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
  /** Ask the CLI for its context usage. Returns the CLI's own response. */
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
  /** Send the CLI a control request of its own protocol. The request is checked and fitted to the CLI's version before it is sent. Returns the body of the CLI's response; if that is an error, the code is refused_by_agent. Only the hub sends initialize. */
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
  /** Change variables of the agent's environment. Where the CLI's version can do that, and for its present process. The values go to the CLI alone: the journal, events and exports have the names. */
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
  /** Read a session's log, or follow it. A page of the log in JSON; with "Accept: text/event-stream" a stream of server-sent events; with "Upgrade: websocket" the same as text messages, each a Frame. A stream begins with a frame "resume" (Verdict), which says whether it continues where you left off: ok; gap, if something in between was removed; reset, if it starts over because the log is a different one. Then come "event" (Event, stored, with an id), "live" (Event, not stored, without an id), "partial" (Partials: replaces what you have of messages being written) and possibly "closing" at the end (Closing: reconnect with the last id). An idle stream gets a comment or a ping every 15 seconds. A client that does not read is disconnected after a while and can resume with the last id; nothing is lost. Filters leave events out; ids and resuming work as without them. A filtered page may be empty and still have a next one. */
  "get-events": {
    method: "GET";
    path: "/v1/sessions/{id}/events";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    query?: {
      /** The id of the last event that you have; absent: from the beginning; now: only new events. For all sessions: the position of the last event */
      after?: string;
      /** Same as after, under its name in other lists: the member next of the previous page */
      cursor?: string;
      /** Maximum number of events that a page examines; default 1000. A stream has no limit */
      limit?: number;
      /** Whether a stream has deltas and partial messages too */
      live?: boolean;
      /** Only events of these kinds, separated by commas; live stands for deltas and partial messages */
      kinds?: ("line" | "sent" | "live" | "history" | "created" | "run_started" | "run_launched" | "run_ended" | "link_up" | "link_lost" | "state" | "question_opened" | "question_settled" | "message" | "command" | "gap" | "oversize" | "updated" | "notice" | "question_changed" | "rule_added" | "rule_removed" | "decision" | "mode" | "hold" | "hold_over" | "budget" | "turn" | "sandbox_refused")[] | null;
      /** Only lines of these types, separated by commas, such as assistant,user,result. Events that aren't lines are not affected */
      types?: string[] | null;
      /** Only the conversation: lines of the types user, assistant and result, their deltas, questions, messages, states and gaps */
      messages?: boolean;
      /** Maximum silence of a stream in seconds; default 15. Heartbeats are then also sent as frames of the type heartbeat, which scripts in browsers can see */
      heartbeat?: number;
    };
    answer: EventPage;
  };
  /** Download a session. jsonl: every line from and to the CLI, unchanged, without values of environments, MCP servers and settings. events: the log, one Event per line. markdown: for people. If a download fails midway, the connection is cut, so that it cannot be mistaken for a complete one. */
  "export-session": {
    method: "GET";
    path: "/v1/sessions/{id}/export";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    query?: {
      /** How to handle it */
      format?: "jsonl" | "events" | "markdown";
    };
    answer: string;
  };
  /** Ask the CLI for files that match the beginning of a path. For mentions in messages. Needs a CLI that supports it, such as 2.1.325. */
  "suggest-files": {
    method: "GET";
    path: "/v1/sessions/{id}/files";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    query?: {
      /** Beginning or part of a path */
      q?: string;
    };
    answer: FileSuggestions;
  };
  /** Start a new session with a copy of the conversation. The original session is not affected. Options, if given, are those of the new session. */
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
  /** Interrupt the current turn, and wait for its end. Cancels the turn's questions. If no turn was running, was is false and nothing is done. */
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
  /** Ask the CLI for its MCP servers and their states. Returns the CLI's own response. */
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
  /** Replace the MCP servers added at run time. Those in the CLI's own configuration stay. The CLI's response says which were added and removed, and which failed. */
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
  /** Send a JSON-RPC message to an MCP server of the agent. Returns the CLI's own response. */
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
  /** Reconnect an MCP server. Returns the CLI's own response. */
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
  /** Enable or disable an MCP server. Returns the CLI's own response. */
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
  /** Send a message to the agent. It waits until the agent is idle, or with mode steer is written into the running turn. An ended session is resumed for it. Events of the kind message report its progress. The same client_id is one message, however often it is sent. Content blocks that people don't write, such as tool results, need the scope admin. */
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
  /** Edit a queued message. Content blocks that people don't write, such as tool results, need the scope admin. */
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
  /** Cancel a queued message. If it is already being sent, the code is not_queued. */
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
  /** Release a session held by a budget or a rate limit. Without a body all holds are released, and each budget gets its amount once more. */
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
  /** Start a new process for a session that has ended. Options that differ from the session's, and force, need the scope admin. */
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
  /** Send the prompt of the failed turn again. It is a new message with the same text. A session that has ended is resumed for it. A session whose member failed is not set is refused with the code conflict. */
  "retry-session": {
    method: "POST";
    path: "/v1/sessions/{id}/retry";
    scope: "prompt";
    pathParams: {
      /** The session's id */
      id: string;
    };
    answer: Message;
  };
  /** Restore files to their state before a message. With dry_run it only reports what would change. Otherwise it needs the scope admin. */
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
  /** Add a rule to a session. A rule that allows, and the rule *, need the scope admin. */
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
  /** Remove a rule from a session. Removing a rule that denies or asks needs the scope admin, since it allows more. */
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
  /** Stop the agent's process; the session remains. It gets time to finish writing, except with force. A later message or resume-session starts another process. */
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
  /** Show the timeline of a session. Turns, prompts, tools, questions, decisions and runs, oldest first. cursor accepts the id of any event. */
  "get-timeline": {
    method: "GET";
    path: "/v1/sessions/{id}/timeline";
    scope: "observe";
    pathParams: {
      /** The session's id */
      id: string;
    };
    query?: {
      /** Where the previous page ended: its member next */
      cursor?: string;
      /** Maximum number of results; default 100 */
      limit?: number;
      /** Same as cursor */
      after?: string;
    };
    answer: Timeline;
  };
  /** Unarchive a session. Same as update-session with the member archived. */
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
  /** List the tokens. Their texts are not stored and cannot be shown. Expired tokens are listed for a week. */
  "list-tokens": {
    method: "GET";
    path: "/v1/tokens";
    scope: "admin";
    answer: TokenList;
  };
  /** Create a token. It can have only scopes that you have. Its text is shown once. */
  "create-token": {
    method: "POST";
    path: "/v1/tokens";
    scope: "admin";
    body: CreateToken;
    answer: CreatedToken;
  };
  /** Revoke a token. Closes its open streams and other connections. */
  "revoke-token": {
    method: "DELETE";
    path: "/v1/tokens/{id}";
    scope: "admin";
    pathParams: {
      /** The token's id: the part between the two underscores of its text */
      id: string;
    };
    answer: void;
  };
  /** List the CLI's conversations on disk, newest first. Includes conversations held without the hub. With q, only those with a message that contains all words. This reads files, some for each page, so a page may have fewer results than requested, even none, and still have a next one. */
  "list-transcripts": {
    method: "GET";
    path: "/v1/transcripts";
    scope: "admin";
    query?: {
      /** Only those in this folder, an absolute path */
      dir?: string;
      /** Only those whose id has this prefix */
      conversation?: string;
      /** Words in their messages */
      q?: string;
      /** The machine: a name or id of list-nodes; default: the hub's own */
      node?: string;
      /** Where the previous page ended: its member next */
      cursor?: string;
      /** Maximum number of results; default 100 */
      limit?: number;
    };
    answer: TranscriptList;
  };
  /** Read a conversation on disk. Leaves out lines discarded by a rewind. */
  "get-transcript": {
    method: "GET";
    path: "/v1/transcripts/{conversation}";
    scope: "admin";
    pathParams: {
      /** The CLI's session_id */
      conversation: string;
    };
    query?: {
      /** Its working folder; needed if it cannot be determined otherwise */
      dir?: string;
      /** The number of the first line: the member next of the previous page */
      cursor?: number;
      /** Maximum number of lines; default 100 */
      limit?: number;
      /** The machine: a name or id of list-nodes; default: the hub's own */
      node?: string;
    };
    answer: TranscriptPage;
  };
  /** Start a session that continues a conversation on disk. If a live session has it, the code is owned. */
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
