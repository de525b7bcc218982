// A hub for tests of components: everything that it shows is set by the test, and what is asked of it is written down.

import type { Api, Args } from "../api/client";
import { ApiError } from "../api/error";
import type { Info, Node, Operations, Question, Session, SessionSummary } from "../api/types";
import type { Item } from "../talk/item";
import type { Hub, ItemOrder, LinkState, OpenSession, Scope } from "./hub";
import { Cell } from "./readable";

type Answers = { [K in keyof Operations]?: (args: Args<K>) => Operations[K]["answer"] | Promise<Operations[K]["answer"]> };

/** A call that was made of a fake hub. */
export interface Call {
  operation: keyof Operations;
  params?: Record<string, string>;
  query?: unknown;
  body?: unknown;
}

export class FakeApi implements Api {
  /** What was asked, in order. */
  readonly calls: Call[] = [];
  private answers: Answers = {};

  /** Says what an operation answers from now on. One that throws an ApiError refuses. */
  on<K extends keyof Operations>(
    operation: K,
    answer: (args: Args<K>) => Operations[K]["answer"] | Promise<Operations[K]["answer"]>,
  ): void {
    this.answers = { ...this.answers, [operation]: answer };
  }

  /** The calls of one operation. */
  of(operation: keyof Operations): Call[] {
    return this.calls.filter((c) => c.operation === operation);
  }

  call = async <K extends keyof Operations>(operation: K, args: Args<K> = {}): Promise<Operations[K]["answer"]> => {
    this.calls.push({ operation, params: args.params, query: args.query, body: args.body });
    const answer = this.answers[operation];
    if (!answer) throw new ApiError({ status: 404, code: "not_found", title: `The fake hub has no answer to ${operation}` });
    return answer(args);
  };

  download = async (
    operation: keyof Operations,
    args: { params?: Record<string, string>; query?: Record<string, string> },
    _name: string,
  ): Promise<void> => {
    this.calls.push({ operation, params: args.params, query: args.query });
  };
}

/** An open session whose snapshot and items are set by the test. */
export class FakeSession implements OpenSession {
  readonly id: string;
  readonly snapshot: Cell<{ session?: Session; error?: ApiError }>;
  readonly order = new Cell<ItemOrder>({ ids: [], older: false, loading: false, generation: 0 });
  /** How many have released it. */
  released = 0;
  /** How often older was called. */
  olderAsked = 0;
  private items = new Map<string, Cell<Item | undefined>>();

  constructor(id: string, session?: Session) {
    this.id = id;
    this.snapshot = new Cell<{ session?: Session; error?: ApiError }>({ session });
  }

  item = (id: string): Cell<Item | undefined> => {
    let cell = this.items.get(id);
    if (!cell) {
      cell = new Cell<Item | undefined>(undefined);
      this.items.set(id, cell);
    }
    return cell;
  };

  /** Puts items at the end, or others in their places. Those with a parent are not at the top. */
  put(...items: readonly Item[]): void {
    const ids = [...this.order.get().ids];
    for (const item of items) {
      this.item(item.id).set(item);
      if (!item.parent && !ids.includes(item.id)) ids.push(item.id);
    }
    this.order.set({ ...this.order.get(), ids });
  }

  older = async (): Promise<void> => {
    this.olderAsked++;
  };

  reveal = async (event: string): Promise<string | undefined> => {
    for (const cell of this.items.values()) {
      const item = cell.get();
      if (item && (item.event === event || item.more?.includes(event))) return item.id;
    }
    return undefined;
  };

  reading = (_atEnd: boolean): void => {};

  release = (): void => {
    this.released++;
  };
}

export class FakeHub implements Hub {
  readonly api = new FakeApi();
  readonly link = new Cell<LinkState>({ status: "online", since: 0 });
  readonly info = new Cell<Info | undefined>({ api: "v1", version: "test", capabilities: [], simulated: true });
  readonly sessions = new Cell<{ loaded: boolean; error?: ApiError; byId: ReadonlyMap<string, SessionSummary> }>({
    loaded: true,
    byId: new Map(),
  });
  readonly questions = new Cell<{ loaded: boolean; error?: ApiError; list: readonly Question[] }>({ loaded: true, list: [] });
  /** What the token may do. */
  scopes = new Set<Scope>(["observe", "prompt", "approve", "admin"]);
  retries = 0;
  loggedOut = false;
  private opened = new Map<string, FakeSession>();

  can = (scope: Scope): boolean => this.scopes.has(scope);

  /** What this device is called. */
  name: string | undefined = "console, Test";

  me = (): string | undefined => this.name;

  /** The open session of an id, which tests fill. */
  open = (id: string): FakeSession => {
    let session = this.opened.get(id);
    if (!session) {
      session = new FakeSession(id, aSession({ id }));
      this.opened.set(id, session);
    }
    return session;
  };

  retry = (): void => {
    this.retries++;
  };

  logout = (): void => {
    this.loggedOut = true;
  };

  /** Puts sessions into the list. */
  list(...sessions: readonly SessionSummary[]): void {
    this.sessions.set({ loaded: true, byId: new Map(sessions.map((s) => [s.id, s])) });
  }

  /** Puts questions into the inbox. */
  ask(...questions: readonly Question[]): void {
    this.questions.set({ loaded: true, list: questions });
  }
}

/** A hub for tests, online, that may do everything. */
export function fakeHub(): FakeHub {
  return new FakeHub();
}

const morning = "2026-02-03T04:05:06Z";

/** A snapshot with what is given in it. */
export function aSession(parts: Partial<Session> = {}): Session {
  return {
    id: "s1",
    created: morning,
    updated: morning,
    dir: "/home/ann/blog",
    linked: true,
    run: 1,
    state: "idle",
    last_event_id: "e:1",
    ...parts,
  };
}

/** An entry of the list of sessions with what is given in it. */
export function aSummary(parts: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id: "s1",
    created: morning,
    updated: morning,
    dir: "/home/ann/blog",
    questions: 0,
    run: 1,
    state: "idle",
    usd: 0,
    ...parts,
  };
}

/** Another machine, online, with what is given in it. */
export function aNode(parts: Partial<Node> = {}): Node {
  return {
    id: `n-${parts.name ?? "gpu-1"}`,
    name: "gpu-1",
    state: "online",
    created: morning,
    last_seen: morning,
    version: "v0.1.0",
    os: "linux",
    arch: "amd64",
    hostname: "gpu-1.lan",
    clis: [{ path: "/usr/bin/claude", version: "2.1.325" }],
    sandbox: "bubblewrap",
    cpus: 8,
    load: 0.25,
    memory_bytes: 32 * 2 ** 30,
    memory_free: 8 * 2 ** 30,
    sessions: 0,
    fingerprint: "sha256:Qm9v4x2eZ1u0",
    ...parts,
  };
}

/** An open question for permission with what is given in it. */
export function aQuestion(parts: Partial<Question> = {}): Question {
  return {
    id: "q1",
    session: "s1",
    run: 1,
    request_id: "r1",
    kind: "permission",
    state: "open",
    opened: morning,
    tool: "Bash",
    title: "ls",
    request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" } },
    ...parts,
  };
}
