import type { OpenSession } from "../store/hub";
import type { Item } from "../talk/item";

/** How many items are looked through for a message, from the end of the conversation. */
const mostItems = 20_000;

/** A message of the conversation that something is to be done from. */
export interface Found {
  readonly item: Item;
  /** What it says. */
  readonly text: string;
  /** The uuid of what the agent said last before it: where a copy ends in which it can be written anew. */
  readonly before?: string;
}

/** Finds a message by the uuid by which the CLI knows it; undefined if it is not among what was loaded. */
export function findMessage(session: Pick<OpenSession, "order" | "item">, uuid: string): Found | undefined {
  const ids = session.order.get().ids;
  const itemAt = (i: number): Item | undefined => {
    const id = ids[i];
    return id === undefined ? undefined : session.item(id).get();
  };
  for (let i = ids.length - 1; i >= 0 && i >= ids.length - mostItems; i--) {
    const item = itemAt(i);
    if (!item || uuidOf(item) !== uuid) continue;
    for (let k = i - 1; k >= 0; k--) {
      const earlier = itemAt(k);
      if (earlier?.kind === "text" && earlier.uuid) return { item, text: textOf(item), before: earlier.uuid };
    }
    return { item, text: textOf(item) };
  }
  return undefined;
}

function uuidOf(item: Item): string | undefined {
  return item.kind === "prompt" || item.kind === "text" ? item.uuid : undefined;
}

function textOf(item: Item): string {
  if (item.kind === "text") return item.text;
  if (item.kind !== "prompt") return "";
  return item.blocks.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n");
}
