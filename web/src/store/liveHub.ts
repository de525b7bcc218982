import { type Api, address, createApi } from "../api/client";
import { asApiError } from "../api/error";
import { EventStream, heartbeat, type StreamOptions } from "../api/stream";
import type { TokenBox } from "../api/token";
import type { Frame, Info } from "../api/types";
import { coreTexts as t } from "../texts/core";
import type { Hub, LinkState, OpenSession, Scope } from "./hub";
import { Inbox } from "./inbox";
import { LiveSession } from "./openSession";
import { Cell } from "./readable";
import { SessionList } from "./sessionList";

/** The events that change what the list of sessions and the inbox show. Lines are those of the type result alone. */
const kinds = [
  "created",
  "state",
  "question_opened",
  "question_changed",
  "question_settled",
  "updated",
  "run_started",
  "run_ended",
  "line",
];

/** How long a session that nobody shows any more is kept, so that going back to it shows it at once. */
const linger = 15_000;

export interface LiveHubOptions {
  token: TokenBox;
  /** The address of the page; document.baseURI if absent. */
  base?: string;
  api?: Api;
  connect?: StreamOptions["connect"];
}

/** The hub that the page is of. It connects at once, and until it is closed. */
export class LiveHub implements Hub {
  readonly api: Api;
  readonly link = new Cell<LinkState>({ status: "connecting", since: Date.now() });
  readonly info = new Cell<Info | undefined>(undefined);

  private readonly token: TokenBox;
  private readonly base: string;
  private readonly connect: StreamOptions["connect"];
  private readonly list: SessionList;
  private readonly inbox: Inbox;
  private readonly stream: EventStream;
  /** Where the stream of all sessions is; undefined until the first frame, and when all is to be read anew. */
  private position: string | undefined;
  private readonly opened = new Map<string, { session: LiveSession; users: number; timer?: ReturnType<typeof setTimeout> }>();
  private readonly woken = () => {
    if (document.visibilityState === "visible") this.retry();
  };

  constructor(options: LiveHubOptions) {
    this.token = options.token;
    this.base = options.base ?? document.baseURI;
    this.connect = options.connect;
    this.api = options.api ?? createApi(options.token, { base: this.base });
    this.list = new SessionList(this.api);
    this.inbox = new Inbox(this.api);
    this.stream = new EventStream({
      address: () =>
        address(this.base, "/v1/events", {
          query: { after: this.position ?? "now", live: false, kinds, types: "result", heartbeat },
        }),
      token: this.token,
      connect: this.connect,
      frame: (f) => this.frame(f),
      status: (s) => this.linked(s),
      why: async () => {
        try {
          this.info.set(await this.api.call("get-info"));
          return undefined;
        } catch (e) {
          return asApiError(e);
        }
      },
    });
    if (typeof window !== "undefined") {
      window.addEventListener("online", this.woken);
      document.addEventListener("visibilitychange", this.woken);
    }
  }

  get sessions(): SessionList["state"] {
    return this.list.state;
  }

  get questions(): Inbox["state"] {
    return this.inbox.state;
  }

  can = (scope: Scope): boolean => this.token.get()?.scopes.includes(scope) ?? false;

  me = (): string | undefined => this.token.get()?.name || undefined;

  open = (id: string): OpenSession => {
    let entry = this.opened.get(id);
    if (!entry) {
      const online = () => this.link.get().status === "online";
      const options = { api: this.api, token: this.token, base: this.base, connect: this.connect, online };
      entry = { session: new LiveSession(id, options, () => this.release(id)), users: 0 };
      this.opened.set(id, entry);
    }
    clearTimeout(entry.timer);
    entry.timer = undefined;
    entry.users++;
    return entry.session;
  };

  retry = (): void => {
    this.stream.retry();
    if (this.link.get().status === "online") this.readFailed();
    for (const { session } of this.opened.values()) session.retry();
  };

  logout = (): void => {
    this.token.leave(t.login.leftOut);
  };

  /** Ends all connections. */
  close(): void {
    this.stream.close();
    this.list.close();
    this.inbox.close();
    for (const { session, timer } of this.opened.values()) {
      clearTimeout(timer);
      session.close();
    }
    this.opened.clear();
    if (typeof window !== "undefined") {
      window.removeEventListener("online", this.woken);
      document.removeEventListener("visibilitychange", this.woken);
    }
  }

  private release(id: string): void {
    const entry = this.opened.get(id);
    if (!entry || --entry.users > 0) return;
    entry.timer = setTimeout(() => {
      if (entry.users > 0) return;
      entry.session.close();
      this.opened.delete(id);
    }, linger);
  }

  private frame(f: Frame): void {
    if (f.type === "resume" && f.resume) {
      if (this.position === undefined) {
        // It begins with what comes from now on; what was before is in the lists.
        this.position = f.resume.last_event_id;
        void this.list.reload();
        void this.inbox.reload();
      } else if (f.resume.resume !== "ok") {
        // The stream would tell everything from the beginning: the lists tell it shorter.
        this.position = undefined;
        this.stream.restart();
      } else {
        this.readFailed();
      }
      return;
    }
    if (f.type !== "event" || !f.event) return;
    if (f.position) this.position = f.position;
    this.list.event(f.event);
    this.inbox.event(f.event);
  }

  /** Reads again what could not be read of the lists. */
  private readFailed(): void {
    this.list.retry();
    this.inbox.retry();
  }

  private linked(state: LinkState): void {
    const before = this.link.get();
    // From being offline to trying again it is still the same interruption: its beginning is what people want to know.
    if (state.status === "connecting" && before.status === "offline") {
      this.link.set({ ...before, retryAt: undefined });
      return;
    }
    const since = state.status === "offline" && before.status === "offline" ? before.since : state.since;
    this.link.set({ ...state, since });
    if (state.status === "online") {
      void this.readInfo();
      for (const { session } of this.opened.values()) session.retry();
    }
  }

  private async readInfo(): Promise<void> {
    try {
      this.info.set(await this.api.call("get-info"));
    } catch {
      // The stream tells that there is no connection; it is read again with the next one.
    }
  }
}
