import type { Message } from "../api/types";
import { keptDraft } from "../app/drafts";
import { Cell } from "../store/readable";
import { arr, at, isObject, str } from "../talk/json";
import type { Attachment } from "./attach";

const cells = new Map<string, Cell<readonly Attachment[]>>();

/**
 * What is attached to the message that is being written to a session. It is the module's, as drafts are: whoever looks at another session
 * and comes back finds it again. Files are too large to be kept over a reload.
 */
export function attached(session: string): Cell<readonly Attachment[]> {
  let cell = cells.get(session);
  if (!cell) {
    cell = new Cell<readonly Attachment[]>([]);
    cells.set(session, cell);
  }
  return cell;
}

/** The text that is being written to a session. */
export function written(session: string): Cell<string> {
  return keptDraft(`compose.${session}`);
}

/** What a message says, and the blocks beside it. */
export function partsOf(message: Pick<Message, "text" | "content">): { text: string; blocks: readonly Attachment["block"][] } {
  if (message.content === undefined || message.content === null) return { text: message.text ?? "", blocks: [] };
  if (typeof message.content === "string") return { text: message.content, blocks: [] };
  const blocks = arr({ content: message.content }, "content");
  const texts = blocks.filter((b) => str(b, "type") === "text").map((b) => str(b, "text"));
  return { text: texts.join("\n"), blocks: blocks.filter((b) => isObject(b) && str(b, "type") !== "text") };
}

/** Puts a message back into the composer, behind what is being written there already. */
export function giveBack(session: string, message: Pick<Message, "text" | "content">): void {
  const { text, blocks } = partsOf(message);
  const cell = written(session);
  cell.set([cell.get(), text].filter((part) => part.trim() !== "").join("\n\n"));
  if (blocks.length === 0) return;
  const files = attached(session);
  files.set([
    ...files.get(),
    ...blocks.map((block): Attachment => {
      const mediaType = str(block, "source", "media_type") || "application/octet-stream";
      const bytes = str(block, "source", "type") === "base64" ? decoded(str(block, "source", "data")) : undefined;
      return {
        id: crypto.randomUUID(),
        name: str(block, "title") || mediaType,
        mediaType,
        size: bytes?.length ?? str(block, "source", "data").length,
        block,
        ...(bytes && mediaType.startsWith("image/") ? { image: new Blob([bytes], { type: mediaType }) } : {}),
      };
    }),
  ]);
}

/**
 * Puts a text back into the composer that may be there already: each tab of the browser does so with what comes too late, and they share
 * the composer.
 */
export function giveBackOnce(session: string, text: string): void {
  if (!written(session).get().endsWith(text)) giveBack(session, { text });
}

/** A change to a queued message that is being written: what the message says, and what it shall say. */
export interface Edit {
  readonly was: string;
  readonly is: string;
}

/** The changes to queued messages of a session, as they are kept: by the ids of the messages, in JSON. */
export function editing(session: string): Cell<string> {
  return keptDraft(`queue.${session}`);
}

/** Reads changes that were kept; whatever does not fit is none. */
export function editsIn(text: string): ReadonlyMap<string, Edit> {
  const edits = new Map<string, Edit>();
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    return edits;
  }
  for (const [id, edit] of isObject(kept) ? Object.entries(kept) : []) {
    if (typeof at(edit, "is") === "string") edits.set(id, { was: str(edit, "was"), is: str(edit, "is") });
  }
  return edits;
}

/** Keeps a change to a queued message, or forgets it. */
export function keepEdit(session: string, message: string, edit: Edit | undefined): void {
  const cell = editing(session);
  const edits = new Map(editsIn(cell.get()));
  if (edit) edits.set(message, edit);
  else edits.delete(message);
  cell.set(edits.size === 0 ? "" : JSON.stringify(Object.fromEntries(edits)));
}

/** The bytes of a text in base64; undefined if it is none. */
function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}
