import { askTexts as t } from "../texts/ask";
import type { ImageBlock } from "./plan";

const kinds: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** How large an image may be that the model takes, in bytes. */
const mostBytes = 5 * 1024 * 1024;

/** Whether a file is an image that the model takes. */
export function isImage(file: File): boolean {
  return kinds.includes(file.type);
}

/** Reads a file as an image block, or says why it is none. */
export async function readImage(file: File): Promise<{ block: ImageBlock } | { error: string }> {
  if (!isImage(file)) return { error: t.imageKind(file.name) };
  if (file.size > mostBytes) return { error: t.imageSize(file.name) };
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    return { error: t.imageUnreadable(file.name) };
  }
  let binary = "";
  // In pieces: so many arguments of one call would be too many.
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return { block: { type: "image", source: { type: "base64", media_type: file.type, data: btoa(binary) } } };
}
