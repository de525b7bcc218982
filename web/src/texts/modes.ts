/** What Claude Code calls its permission modes, and what each means, from the safest to the most dangerous one. */
const known = {
  plan: { name: "Plan mode", hint: "Reads and plans; changes nothing until you approve the plan" },
  dontAsk: { name: "Don't ask", hint: "Denies everything that no rule allows" },
  default: { name: "Default", hint: "Asks before it edits files or runs commands" },
  acceptEdits: { name: "Accept edits", hint: "Edits files without asking; asks before it runs commands" },
  auto: { name: "Auto", hint: "Claude Code decides what is safe, and asks about the rest" },
  bypassPermissions: { name: "Bypass permissions", hint: "Dangerous: runs and edits everything without asking" },
} as const;

export type Mode = keyof typeof known;

/** The modes that can be chosen, from the safest to the most dangerous one. */
export const modes = Object.keys(known) as readonly Mode[];

/** What asks for nothing any more: it is marked, and confirmed before it is set. */
export const dangerousMode = "bypassPermissions" satisfies Mode;

function isKnown(mode: string): mode is Mode {
  return Object.hasOwn(known, mode);
}

/** What a mode is called; one that a newer CLI has is called what it calls it. */
export function modeName(mode: string): string {
  return isKnown(mode) ? known[mode].name : mode;
}

export function modeHint(mode: string): string {
  return isKnown(mode) ? known[mode].hint : "";
}
