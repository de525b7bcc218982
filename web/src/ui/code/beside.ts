import { trustedScript } from "../markdown/policy";
import type { Seen } from "./lines";
import address from "./worker?worker&url";

type Lines = readonly (readonly Seen[])[] | undefined;

/** How long a text may take. Code that people write takes milliseconds; the first one waits for its language to be loaded. */
const patience = 5_000;

let worker: Worker | undefined;
let turn: Promise<unknown> = Promise.resolve();

/** Colours a text beside the page, one after the other. Undefined if it takes too long; it rejects if there can be no worker. */
export function readBeside(text: string, language: string): Promise<Lines> {
  const lines = turn.then(() => ask(text, language));
  turn = lines.catch(() => {}); // the next one is tried all the same
  return lines;
}

function ask(text: string, language: string): Promise<Lines> {
  return new Promise((resolve) => {
    const asked = worker ?? new Worker(trustedScript(address), { type: "module" });
    worker = asked;
    const stop = () => {
      asked.terminate();
      worker = undefined;
      resolve(undefined);
    };
    const late = setTimeout(stop, patience);
    asked.onmessage = ({ data }: MessageEvent<Lines>) => {
      clearTimeout(late);
      resolve(data);
    };
    asked.onerror = () => {
      clearTimeout(late);
      stop();
    };
    asked.postMessage({ text, language });
  });
}
