import { useEffect, useRef } from "react";
import { Cell } from "../store/readable";

export interface Command {
  id: string;
  label: string;
  hint?: string;
  /** Keys that do the same; shown only. */
  keys?: string;
  run(): void;
}

export interface CommandGroup {
  name: string;
  commands: readonly Command[];
}

/** What the palette offers at present. */
export const commandGroups = new Cell<readonly CommandGroup[]>([]);

/** Offers commands in the palette (mod+k) while the component is there. */
export function useCommands(group: string, commands: readonly Command[]): void {
  const current = useRef(commands);
  current.current = commands;
  const listed = commands.map((command) => `${command.id}\t${command.label}\t${command.hint ?? ""}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `listed` stands for the commands
  useEffect(() => {
    const entry: CommandGroup = {
      name: group,
      get commands() {
        return current.current;
      },
    };
    commandGroups.set([...commandGroups.get(), entry]);
    return () => commandGroups.set(commandGroups.get().filter((other) => other !== entry));
  }, [group, listed]);
}
