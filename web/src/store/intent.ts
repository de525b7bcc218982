import { useState } from "react";

/** Gives client ids to intents. The hub does what has the same id once, however often it is asked. */
export interface ClientIds {
  /** The id of what is asked for: the same one as long as that stays the same. */
  of(request: unknown): string;
  /** It was done: whoever asks for the same again means it once more. */
  done(): void;
}

export function clientIds(make: () => string = () => crypto.randomUUID()): ClientIds {
  let last: { request: string; id: string } | undefined;
  return {
    of(request) {
      const text = JSON.stringify(request);
      if (last?.request !== text) last = { request: text, id: make() };
      return last.id;
    },
    done() {
      last = undefined;
    },
  };
}

/** Client ids for what a component asks for. */
export function useClientIds(): ClientIds {
  return useState(() => clientIds())[0];
}
