import type { LinkState } from "../store/hub";
import { coreTexts as t } from "../texts/core";
import type { ApiError } from "./error";
import type { TokenBox } from "./token";
import type { Frame } from "./types";

/** How often the server is asked to say that a stream lives, in seconds. */
export const heartbeat = 10;
/** A stream that was silent for three heartbeats is dead, whatever the browser believes of the connection. */
const silence = 3 * heartbeat * 1000;
const firstPause = 500;
const longestPause = 15_000;

export interface StreamOptions {
  /** The address to connect with, asked for each time: it holds the last id. */
  address(): string;
  token: TokenBox;
  /** Takes what comes, heartbeats and closings left out, with how many characters it had. */
  frame(frame: Frame, size: number): void;
  /** Is told how the connection is. */
  status(state: LinkState): void;
  /** Finds out why a connection could not be made, which browsers do not tell: undefined if everything seems well. */
  why(): Promise<ApiError | undefined>;
  /** Tests give their own. */
  connect?: (address: string, protocols: string[]) => WebSocket;
  random?: () => number;
}

/**
 * Follows events by a WebSocket, for as long as it is not closed: a lost connection is made again, after pauses that grow. Each
 * connection begins with a frame "resume", which says how it fits to what was read before.
 */
export class EventStream {
  private readonly options: StreamOptions;
  private socket: WebSocket | undefined;
  /** The token that the connection was made with. */
  private shown = "";
  /** Whether this connection has brought anything. */
  private heard = false;
  private lastHeard = 0;
  private failures = 0;
  private retryAt = 0;
  private reason: string | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setInterval> | undefined;
  private done = false;

  constructor(options: StreamOptions) {
    this.options = options;
    this.connect();
  }

  /** Connects now if it waits for the next try, and looks whether the connection is alive. */
  retry(): void {
    if (this.done) return;
    if (this.timer !== undefined) {
      this.failures = 0;
      this.connect();
    } else {
      this.check();
    }
  }

  /** Drops the connection and makes another one at once, with the address as it is now. */
  restart(): void {
    if (this.done) return;
    this.leave();
    this.connect();
  }

  /** Ends it for good. */
  close(): void {
    this.done = true;
    this.leave();
    this.stopTimers();
  }

  private connect(): void {
    this.stopTimers();
    const held = this.options.token.get();
    if (!held) {
      this.refused();
      return;
    }
    this.shown = held.text;
    this.heard = false;
    this.reason = undefined;
    this.lastHeard = Date.now();
    this.options.status({ status: "connecting", since: Date.now() });
    const address = this.options.address().replace(/^http/, "ws");
    const protocols = ["switchboard.v1", `sb.token.${held.text}`];
    const socket = this.options.connect ? this.options.connect(address, protocols) : new WebSocket(address, protocols);
    this.socket = socket;
    socket.onmessage = (e: MessageEvent<unknown>) => this.message(socket, e.data);
    socket.onclose = (e: CloseEvent) => this.closed(socket, e.code);
    this.watch = setInterval(() => this.check(), heartbeat * 1000);
  }

  private message(socket: WebSocket, data: unknown): void {
    if (socket !== this.socket) return;
    this.lastHeard = Date.now();
    const frame = asFrame(data);
    if (!frame || frame.type === "heartbeat") return;
    if (frame.type === "closing") {
      this.reason = frame.reason;
      return;
    }
    if (!this.heard) {
      this.heard = true;
      this.failures = 0;
      this.options.status({ status: "online", since: Date.now() });
    }
    this.options.frame(frame, typeof data === "string" ? data.length : 0);
  }

  private check(): void {
    // By the clock on the wall, which goes on while a machine sleeps. One that was set back says nothing: then it is made anew.
    const quiet = Date.now() - this.lastHeard;
    if (!this.socket || (quiet >= 0 && quiet < silence)) return;
    // A connection that is dead takes minutes to say so: it is left without a goodbye.
    this.reason = t.silent;
    this.leave();
    this.later();
  }

  private closed(socket: WebSocket, code: number): void {
    if (socket !== this.socket) return;
    this.socket = undefined;
    if (code === 1008) {
      this.options.token.drop(t.tokenInvalid, this.shown);
      this.refused();
      return;
    }
    if (code === 1012 && !this.reason) this.reason = t.serverLeft;
    if (this.heard) this.later();
    else void this.findOut();
  }

  /** A connection that never was: the token may be the reason, and then trying again makes no sense. */
  private async findOut(): Promise<void> {
    this.later();
    const waiting = this.timer;
    const error = await this.options.why();
    if (this.done || this.timer === undefined || this.timer !== waiting) return;
    if (!this.options.token.get()) {
      this.stopTimers();
      this.refused();
    } else if (error && error.code !== "unreachable") {
      this.options.status({ status: "offline", since: Date.now(), retryAt: this.retryAt, reason: error.message });
    }
  }

  private later(): void {
    this.stopTimers();
    const pause = Math.min(longestPause, firstPause * 2 ** this.failures) * (0.5 + 0.5 * (this.options.random ?? Math.random)());
    this.failures++;
    const now = Date.now();
    this.retryAt = now + pause;
    this.options.status({ status: "offline", since: now, retryAt: this.retryAt, reason: this.reason ?? t.closedFor });
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.connect();
    }, pause);
  }

  private refused(): void {
    this.stopTimers();
    this.options.status({ status: "refused", since: Date.now(), reason: t.tokenInvalid });
  }

  private leave(): void {
    const socket = this.socket;
    this.socket = undefined;
    if (!socket) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  private stopTimers(): void {
    clearTimeout(this.timer);
    clearInterval(this.watch);
    this.timer = undefined;
    this.watch = undefined;
  }
}

function asFrame(data: unknown): Frame | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const frame: unknown = JSON.parse(data);
    return typeof frame === "object" && frame !== null && "type" in frame && typeof frame.type === "string"
      ? (frame as Frame)
      : undefined;
  } catch {
    return undefined;
  }
}
