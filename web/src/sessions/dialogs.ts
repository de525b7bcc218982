import { Cell } from "../store/readable";

/** What a new session begins with, besides the choices of last time. */
export interface Preset {
  dir?: string;
  prompt?: string;
}

/** Which of the dialogs about sessions is open. */
export type OpenDialog = { dialog: "new"; preset?: Preset } | { dialog: "adopt" } | { dialog: "by-hand"; dir?: string };

export const openDialog = new Cell<OpenDialog | undefined>(undefined);

/** Opens the dialog for a new session. */
export function openNewSession(preset?: Preset): void {
  openDialog.set({ dialog: "new", preset });
}

/** Opens the dialog that adopts a conversation from disk. */
export function openAdopt(): void {
  openDialog.set({ dialog: "adopt" });
}

/** Opens the dialog that makes a session for a CLI which somebody starts by hand. */
export function openByHand(dir?: string): void {
  openDialog.set({ dialog: "by-hand", dir });
}

export function closeDialog(): void {
  openDialog.set(undefined);
}
