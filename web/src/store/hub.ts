import { createContext, useContext } from "react";
import type { Api } from "../api/client";
import type { ApiError } from "../api/error";
import type { Info, Question, Session, SessionSummary } from "../api/types";
import type { Item } from "../talk/item";
import type { Readable } from "./readable";

export type Scope = "observe" | "prompt" | "approve" | "admin";

/** How the page is connected with the hub. */
export interface LinkState {
  status: "connecting" | "online" | "offline" | "refused";
  /** When this status began, in milliseconds. */
  since: number;
  /** When the next try is made, in milliseconds, while offline. */
  retryAt?: number;
  /** Why, in one sentence. */
  reason?: string;
}

/** Everything that the page knows of a hub. There is one, from login to logout. */
export interface Hub {
  readonly api: Api;
  readonly link: Readable<LinkState>;
  readonly info: Readable<Info | undefined>;
  /** All sessions that are not archived, by id. Complete once `loaded`; older ones come page by page in the background. */
  readonly sessions: Readable<{ loaded: boolean; error?: ApiError; byId: ReadonlyMap<string, SessionSummary> }>;
  /** What agents ask, the oldest first; those that were settled within the last minute stay, with by, answer and state. */
  readonly questions: Readable<{ loaded: boolean; error?: ApiError; list: readonly Question[] }>;
  can(scope: Scope): boolean;
  /** The name under which this device prompts and answers; undefined if it is not known. See youOr. */
  me(): string | undefined;
  /** Opens a session. Whoever opens one releases it; it is closed when the last one has. */
  open(session: string): OpenSession;
  /** Tries to connect now instead of at retryAt. */
  retry(): void;
  /** Forgets the token of this tab and shows the login page. */
  logout(): void;
}

/** A session that is on the screen. */
export interface OpenSession {
  readonly id: string;
  /** The snapshot, kept current. */
  readonly snapshot: Readable<{ session?: Session; error?: ApiError }>;
  /** The order of the items at the top, and how they were come by. It changes when one comes or goes, never because of a delta. */
  readonly order: Readable<ItemOrder>;
  /** One item. Undefined if it has gone (a reset). */
  item(id: string): Readable<Item | undefined>;
  /** Loads the page before the first item; a large one on the way to something far away. */
  older(far?: boolean): Promise<void>;
  /**
   * Loads what is needed to show an event, and returns the id of the item that tells of it, also if that is a sub-agent's. Undefined if there
   * is no such event.
   */
  reveal(event: string): Promise<string | undefined>;
  /** Is told whether the reader is at the end: then the oldest items of a long conversation may be dropped to save memory. */
  reading(atEnd: boolean): void;
  release(): void;
}

export interface ItemOrder {
  readonly ids: readonly string[];
  /** Whether there is more before the first. */
  readonly older: boolean;
  readonly loading: boolean;
  /** Why older items could not be read. */
  readonly error?: ApiError;
  /** A sentence for the top of the conversation: that something was removed (gap), that it was read anew (reset). */
  readonly notice?: "gap" | "reset";
  /** Counts resets: with another one, nothing of before holds. */
  readonly generation: number;
}

export const HubContext = createContext<Hub | undefined>(undefined);

export function useHub(): Hub {
  const hub = useContext(HubContext);
  if (!hub) throw new Error("useHub outside of a HubContext");
  return hub;
}
