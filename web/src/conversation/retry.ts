import type { Json } from "../api/types";
import type { Hub, OpenSession } from "../store/hub";
import type { Block, Prompt } from "../talk/item";

/** The prompt of a turn that failed, if nothing was asked since: what to send again. */
export function promptToRetry(session: OpenSession, turn: string): Prompt | undefined {
  const { ids } = session.order.get();
  const items = ids.map((id) => session.item(id).get());
  const at = ids.indexOf(turn);
  if (at < 0 || items.slice(at + 1).some((item) => item?.kind === "prompt" || item?.kind === "turn" || item?.kind === "tool")) {
    return undefined;
  }
  const ask = items.slice(0, at).findLast((item) => item?.kind === "turn" || (item?.kind === "prompt" && !item.synthetic));
  return ask?.kind === "prompt" ? ask : undefined;
}

/** Sends a prompt once more. The client id makes it one message, however often it is tried. */
export async function sendAgain(hub: Hub, session: string, prompt: Prompt, clientId: string): Promise<void> {
  const [first, ...more] = prompt.blocks;
  const said = first?.type === "text" && more.length === 0 ? { text: first.text } : { content: prompt.blocks.map(contentBlock) };
  await hub.api.call("send-message", { params: { id: session }, body: { client_id: clientId, mode: "queue", ...said } });
}

/** A block as the API takes it. */
function contentBlock(block: Block): Json {
  const base64 = (mediaType: string, data: string): Json => ({ type: "base64", media_type: mediaType, data });
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return {
        type: "image",
        source: block.url === undefined ? base64(block.mediaType, block.data ?? "") : { type: "url", url: block.url },
      };
    case "document": {
      const { title, mediaType = "text/plain", text, data = "" } = block;
      const source = text === undefined ? base64(mediaType, data) : { type: "text", media_type: mediaType, data: text };
      return { type: "document", source, ...(title !== undefined && { title }) };
    }
    case "other":
      return block.raw;
  }
}
