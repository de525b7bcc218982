import type { Scope } from "../store/hub";
import { Cell, type Readable } from "../store/readable";
import { coreTexts as t } from "../texts/core";

/** What a tab shows to the hub, and what it may do with it. */
export interface Held {
  readonly text: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The text works only together with a cookie that no script can read, so that the browser may keep it. */
  readonly cookie?: boolean;
}

/** The token of this tab, or why there is none. */
export interface TokenState {
  readonly held?: Held;
  /** A sentence for the login page. */
  readonly reason?: string;
}

const storageKey = "switchboard.token";
/** Set in a tab that was left on purpose: a reload does not bring it back with the token of another one. */
const leftKey = "switchboard.left";
const channelName = "switchboard";
const allScopes: readonly Scope[] = ["observe", "prompt", "approve", "admin"];

/** What tabs of one browser tell each other. A token never leaves the origin: channels do not reach beyond it. */
type TabMessage = { type: "token-wanted" } | { type: "token"; held: Held };

/** Where tokens are kept. What is absent keeps nothing. */
export interface Storages {
  /** Of this tab alone: for tokens that work without a cookie. */
  tab?: Storage;
  /** Of all tabs, also after the browser was closed: for those that need their cookie. */
  browser?: Storage;
}

/**
 * Holds the token of this tab. One that is bound to a cookie is kept by the browser, for all tabs. Another one, which somebody pasted, is
 * kept by its tab and gone with it; another tab has it only if it asks while this one is open.
 */
export class TokenBox {
  private readonly cell: Cell<TokenState>;
  private readonly storages: Storages;
  private readonly openChannel: (() => BroadcastChannel) | undefined;
  private channel: BroadcastChannel | undefined;

  constructor(storages: Storages = {}, openChannel?: () => BroadcastChannel) {
    this.storages = storages;
    this.openChannel = openChannel;
    this.cell = new Cell<TokenState>({ held: stored(storages.tab) ?? stored(storages.browser) });
  }

  get state(): Readable<TokenState> {
    return this.cell;
  }

  get(): Held | undefined {
    return this.cell.get().held;
  }

  set(held: Held): void {
    quietly(() => this.storages.tab?.removeItem(leftKey));
    quietly(() => this.storages.tab?.removeItem(storageKey));
    // Without storage the token lasts until the next reload.
    const storage = held.cookie ? this.storages.browser : this.storages.tab;
    quietly(() => storage?.setItem(storageKey, JSON.stringify(held)));
    this.cell.set({ held });
  }

  /**
   * Forgets the token, if it is still the one that is meant. Another tab may have logged in again meanwhile: its token is taken instead.
   * What the browser keeps is left alone: tabs see each other's changes late, and this one could remove the token that another has just got.
   */
  drop(reason: string, text?: string): void {
    const held = this.get();
    if (text !== undefined && held?.text !== text) return;
    quietly(() => this.storages.tab?.removeItem(storageKey));
    const other = held?.cookie ? stored(this.storages.browser) : undefined;
    this.cell.set(other && other.text !== held?.text ? { held: other } : { reason });
  }

  /** Forgets the token because somebody wants to leave: in all tabs if the browser keeps it. */
  leave(reason: string): void {
    const held = this.get();
    quietly(() => this.storages.tab?.removeItem(storageKey));
    if (!held || held.cookie) quietly(() => this.storages.browser?.removeItem(storageKey));
    this.cell.set({ reason });
    // Without storage a reload asks the other tabs.
    quietly(() => this.storages.tab?.setItem(leftKey, "yes"));
  }

  /** Takes over what another tab has done with the browser's token. */
  heard(event: Pick<StorageEvent, "key" | "newValue" | "storageArea">, reason: string): void {
    if (event.storageArea !== this.storages.browser || (event.key !== null && event.key !== storageKey)) return;
    const held = this.get();
    if (held && !held.cookie) return;
    const other = parsed(event.newValue);
    if (other) this.cell.set({ held: other });
    else if (held) this.cell.set({ reason });
  }

  /** Answers other tabs that ask for a token which only this one has, from now on. */
  serve(): void {
    if (this.channel || !this.openChannel) return;
    const channel = this.openChannel();
    this.channel = channel;
    channel.addEventListener("message", (e: MessageEvent<unknown>) => {
      const held = this.get();
      if (held && !held.cookie && isWanted(e.data)) channel.postMessage({ type: "token", held } satisfies TabMessage);
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
    return quietly(() => this.storages.tab?.getItem(leftKey)) === "yes";
  }

  close(): void {
    this.channel?.close();
    this.channel = undefined;
  }
}

/** The box of a real tab. */
export function tabTokenBox(): TokenBox {
  const storages = { tab: quietly(() => window.sessionStorage), browser: quietly(() => window.localStorage) };
  const box = new TokenBox(storages, "BroadcastChannel" in window ? () => new BroadcastChannel(channelName) : undefined);
  window.addEventListener("storage", (e) => box.heard(e, t.login.leftElsewhere));
  return box;
}

/** What a function returns, undefined if it throws: a browser may forbid storage, or have no room. */
function quietly<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

function stored(storage: Storage | undefined): Held | undefined {
  return parsed(quietly(() => storage?.getItem(storageKey)));
}

function parsed(text: string | null | undefined): Held | undefined {
  return text ? quietly(() => asHeld(JSON.parse(text))) : undefined;
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
  const scopes = "scopes" in value ? knownScopes(value.scopes) : [];
  const cookie = "cookie" in value && value.cookie === true;
  return cookie ? { text: value.text, name, scopes, cookie } : { text: value.text, name, scopes };
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

/** What lists of devices call this browser, such as "Chrome on macOS". */
export function browserName(userAgent: string): string | undefined {
  const first = (marks: readonly (readonly [mark: string, name: string])[]) =>
    marks.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = first([
    ["Edg/", "Edge"],
    ["EdgA/", "Edge"],
    ["EdgiOS/", "Edge"],
    ["OPR/", "Opera"],
    ["SamsungBrowser/", "Samsung Internet"],
    ["Firefox/", "Firefox"],
    ["FxiOS/", "Firefox"],
    ["CriOS/", "Chrome"],
    ["Chrome/", "Chrome"],
    ["Safari/", "Safari"],
  ]);
  const system = first([
    ["iPhone", "iPhone"],
    ["iPad", "iPad"],
    ["Android", "Android"],
    ["Windows", "Windows"],
    ["CrOS", "ChromeOS"],
    ["Mac OS X", "macOS"],
    ["Linux", "Linux"],
  ]);
  return browser && system ? `${browser} on ${system}` : (browser ?? system);
}
