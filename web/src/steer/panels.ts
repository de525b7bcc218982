import type { OpenSession } from "../store/hub";
import { Cell } from "../store/readable";

/** What the header of a session can open. */
export type Panel =
  | { readonly kind: "fork"; readonly session: string; readonly uuid?: string }
  | { readonly kind: "rewind"; readonly session: string; readonly uuid: string }
  | {
      readonly kind:
        | "mcp"
        | "context"
        | "rules"
        | "tasks"
        | "resume"
        | "stop"
        | "handback"
        | "control"
        | "environment"
        | "rename"
        | "hold";
      readonly session: string;
    };

export type PlainPanel = Exclude<Panel["kind"], "fork" | "rewind">;

/**
 * The panel that is open. It is the module's, because messages in the conversation, the composer and the palette open panels that the header
 * draws, and they know nothing of each other.
 */
export const openedPanel = new Cell<Panel | undefined>(undefined);

/** Asks how to go on with a copy of the conversation up to a message (its uuid; the whole conversation without). */
export function openFork(session: OpenSession, uuid?: string): void {
  openedPanel.set({ kind: "fork", session: session.id, ...(uuid ? { uuid } : {}) });
}

/** Shows what going back to the files as they were before a message (its uuid) would change, and does it. */
export function openRewind(session: OpenSession, uuid: string): void {
  openedPanel.set({ kind: "rewind", session: session.id, uuid });
}

export function openPanel(session: OpenSession, kind: PlainPanel): void {
  openedPanel.set({ kind, session: session.id });
}

export function closePanel(): void {
  openedPanel.set(undefined);
}
