import type { Scope } from "../store/hub";
import { Cell, type Readable } from "../store/readable";

/** What a tab shows to the server, and what it may do with it. */
export interface Held {
  readonly text: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/** The token of this tab, or why there is none. */
export interface TokenState {
  readonly held?: Held;
  /** A sentence for the login page. */
  readonly reason?: string;
}

const storageKey = "switchboard.token";
/** Set in a tab that somebody has left on purpose: a reload does not bring it back with the token of another one. */
const leftKey = "switchboard.left";
const channelName = "switchboard";
const allScopes: readonly Scope[] = ["observe", "prompt", "approve", "admin"];

/** What tabs of one browser tell each other. A token never leaves the origin: channels do not reach beyond it. */
type TabMessage = { type: "token-wanted" } | { type: "token"; held: Held };

/**
 * Holds the token of this tab, in the tab's own storage: it is gone with the tab, and another tab has it only if it asks while this one
 * is open.
 */
export class TokenBox {
  private readonly cell: Cell<TokenState>;
  private readonly storage: Storage | undefined;
  private readonly openChannel: (() => BroadcastChannel) | undefined;
  private channel: BroadcastChannel | undefined;

  constructor(storage: Storage | undefined, openChannel?: () => BroadcastChannel) {
    this.storage = storage;
    this.openChannel = openChannel;
    this.cell = new Cell<TokenState>({ held: stored(storage) });
  }

  get state(): Readable<TokenState> {
    return this.cell;
  }

  get(): Held | undefined {
    return this.cell.get().held;
  }

  set(held: Held): void {
    try {
      this.storage?.removeItem(leftKey);
      this.storage?.setItem(storageKey, JSON.stringify(held));
    } catch {
      // Without storage the token lasts until the next reload.
    }
    this.cell.set({ held });
  }

  /** Forgets the token, if it is still the one that is meant. */
  drop(reason: string, text?: string): void {
    if (text !== undefined && this.get()?.text !== text) return;
    try {
      this.storage?.removeItem(storageKey);
    } catch {
      // It was not kept.
    }
    this.cell.set({ reason });
  }

  /** Forgets the token because somebody wants to leave. */
  leave(reason: string): void {
    this.drop(reason);
    try {
      this.storage?.setItem(leftKey, "yes");
    } catch {
      // A reload then asks the other tabs.
    }
  }

  /** Answers other tabs that ask for a token, from now on. */
  serve(): void {
    if (this.channel || !this.openChannel) return;
    const channel = this.openChannel();
    this.channel = channel;
    channel.addEventListener("message", (e: MessageEvent<unknown>) => {
      const held = this.get();
      if (held && isWanted(e.data)) channel.postMessage({ type: "token", held } satisfies TabMessage);
    });
  }

  /** Asks the other tabs for a token, and waits for an answer so long. */
  async ask(milliseconds: number): Promise<Held | undefined> {
    if (!this.openChannel || this.left()) return undefined;
    const channel = this.openChannel();
    try {
      return await new Promise<Held | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), milliseconds);
        channel.addEventListener("message", (e: MessageEvent<unknown>) => {
          const held = givenToken(e.data);
          if (!held) return;
          clearTimeout(timer);
          resolve(held);
        });
        channel.postMessage({ type: "token-wanted" } satisfies TabMessage);
      });
    } finally {
      channel.close();
    }
  }

  private left(): boolean {
    try {
      return this.storage?.getItem(leftKey) === "yes";
    } catch {
      return false;
    }
  }

  close(): void {
    this.channel?.close();
    this.channel = undefined;
  }
}

/** The box of a real tab. */
export function tabTokenBox(): TokenBox {
  let storage: Storage | undefined;
  try {
    storage = window.sessionStorage;
  } catch {
    storage = undefined; // forbidden by the browser's settings
  }
  return new TokenBox(storage, "BroadcastChannel" in window ? () => new BroadcastChannel(channelName) : undefined);
}

function stored(storage: Storage | undefined): Held | undefined {
  try {
    const text = storage?.getItem(storageKey);
    return text ? asHeld(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}

function isWanted(message: unknown): boolean {
  return typeof message === "object" && message !== null && "type" in message && message.type === "token-wanted";
}

function givenToken(message: unknown): Held | undefined {
  if (typeof message !== "object" || message === null || !("type" in message) || message.type !== "token") return undefined;
  return "held" in message ? asHeld(message.held) : undefined;
}

function asHeld(value: unknown): Held | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!("text" in value) || typeof value.text !== "string" || value.text === "") return undefined;
  const name = "name" in value && typeof value.name === "string" ? value.name : "";
  return { text: value.text, name, scopes: "scopes" in value ? knownScopes(value.scopes) : [] };
}

/** Those of a list that are scopes. */
export function knownScopes(list: unknown): Scope[] {
  return Array.isArray(list) ? allScopes.filter((s) => list.includes(s)) : [];
}

/** What somebody pasted into the login page: a token, or a code, alone or in an address. Undefined if there is nothing in it. */
export function readPasted(pasted: string): { token: string } | { code: string } | undefined {
  const text = pasted.trim();
  // A terminal may have broken it into lines.
  if (text.startsWith("sb_")) return { token: text.replace(/\s+/g, "") };
  const inAddress = /[#&?]code=([^&\s]+)/.exec(text)?.[1];
  if (inAddress) return { code: decoded(inAddress) };
  return text === "" ? undefined : { code: text };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Takes the one-time code out of the address bar, so that it is in no history and no bookmark, and returns it. The address may say which
 * page to go to.
 */
export function takeCode(location: Location, history: History): string | undefined {
  if (!location.hash.startsWith("#code=")) return undefined;
  const fragment = new URLSearchParams(location.hash.slice(1));
  const to = fragment.get("to") ?? "";
  // Only routes of this page begin with a slash.
  history.replaceState(history.state, "", location.pathname + location.search + (to.startsWith("/") ? `#${to}` : ""));
  return fragment.get("code") || undefined;
}

/** The browser's name, for the name of its token. */
export function browserName(userAgent: string): string | undefined {
  const phone = /iPhone|iPad|Android/.exec(userAgent)?.[0];
  const name = (
    [
      ["Edg", "Edge"],
      ["OPR", "Opera"],
      ["Firefox", "Firefox"],
      ["FxiOS", "Firefox"],
      ["CriOS", "Chrome"],
      ["Chrome", "Chrome"],
      ["Safari", "Safari"],
    ] as const
  ).find(([mark]) => userAgent.includes(`${mark}/`))?.[1];
  if (!name) return phone;
  return phone ? `${name} on ${phone}` : name;
}
