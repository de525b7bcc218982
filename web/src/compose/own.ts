import { openFork, openPanel, type PlainPanel } from "../steer/panels";
import type { Command } from "../steer/told";
import type { OpenSession } from "../store/hub";
import { steerTexts as t } from "../texts/steer";

const panels: Readonly<Record<string, { panel: PlainPanel | "fork"; hint: string }>> = {
  mcp: { panel: "mcp", hint: t.mcpEntry },
  context: { panel: "context", hint: t.contextEntry },
  rules: { panel: "rules", hint: t.rulesEntry },
  tasks: { panel: "tasks", hint: t.tasksEntry },
  rename: { panel: "rename", hint: t.rename },
  fork: { panel: "fork", hint: t.forkEntry },
  handback: { panel: "handback", hint: t.handbackEntry },
  stop: { panel: "stop", hint: t.stopEntry },
};

/** The commands of the console itself. One that the CLI has too is the CLI's. */
export const ownCommands: readonly Command[] = Object.entries(panels).map(([name, { hint }]) => ({ name, hint, args: "" }));

/** Does what a text says if it is a command of the console and none of the CLI's. Returns whether it was one. */
export function runOwn(session: OpenSession, text: string, cli: readonly Command[]): boolean {
  const name = /^\/(\S+)\s*$/.exec(text)?.[1];
  if (name === undefined || !Object.hasOwn(panels, name) || cli.some((c) => c.name === name)) return false;
  const panel = panels[name]?.panel;
  if (panel === undefined) return false;
  if (panel === "fork") openFork(session);
  else openPanel(session, panel);
  return true;
}
