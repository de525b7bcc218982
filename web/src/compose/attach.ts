import type { Json } from "../api/types";
import { composeTexts as t } from "../texts/compose";

/** A file that goes along with a message. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  /** An image's, application/pdf, or text/plain for every other text. */
  readonly mediaType: string;
  /** In bytes, as it is sent. */
  readonly size: number;
  /** The content block that holds it. */
  readonly block: Json;
  /** The image, to be shown. */
  readonly image?: Blob;
}

// What may be attached. The model's API takes images of 5 MB in base64, which is three quarters of that in the file.
const mostImage = (5 * 1024 * 1024 * 3) / 4;
const mostText = 1024 * 1024;
const mostPdf = 24 * 1024 * 1024;
/** Of all blocks of a message together. */
const mostTogether = 32 * 1024 * 1024;
export const mostAttachments = 20;
/** What a browser is asked to read at all: a photograph is larger than what is sent of it. */
const mostRead = 64 * 1024 * 1024;
/** Sides to which an image that is too large is shrunk, one after the other until it fits. */
const sides = [2576, 1568, 1024] as const;

const taken = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** What is wrong with a file, in one sentence for people. */
export class AttachError extends Error {}

/** Draws an image smaller, as a JPEG or PNG. Undefined if the browser cannot read it. */
export type Shrink = (file: Blob, side: number, type: "image/jpeg" | "image/png") => Promise<Blob | undefined>;

/** Reads a file as an attachment: an image, a PDF or a text. What it is is seen from its bytes, not from its name. */
export async function attach(file: File, shrink: Shrink = shrinkByCanvas): Promise<Attachment> {
  const name = file.name || t.pasted;
  if (file.size === 0) throw new AttachError(t.isEmpty(name));
  if (file.size > mostRead) throw new AttachError(t.tooLarge(name, mostRead));
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = sniff(bytes);
  const made = (mediaType: string, size: number, block: Json, image?: Blob): Attachment => ({
    id: crypto.randomUUID(),
    name,
    mediaType,
    size,
    block,
    ...(image ? { image } : {}),
  });
  if (type === "application/pdf") {
    if (bytes.length > mostPdf) throw new AttachError(t.tooLarge(name, mostPdf));
    return made(type, bytes.length, {
      type: "document",
      title: name,
      source: { type: "base64", media_type: type, data: base64(bytes) },
    });
  }
  const isImage = type !== undefined || file.type.startsWith("image/");
  if (isImage && !(file.type === "image/svg+xml" && type === undefined)) {
    const image = await fitting(new Blob([bytes], { type: type ?? file.type }), type, shrink);
    if (!image) throw new AttachError(type ? t.tooLarge(name, mostImage) : t.notAnImage(name));
    const data = new Uint8Array(await image.arrayBuffer());
    return made(
      image.type,
      data.length,
      { type: "image", source: { type: "base64", media_type: image.type, data: base64(data) } },
      image,
    );
  }
  const text = decoded(bytes);
  if (text === undefined) throw new AttachError(t.notText(name));
  if (bytes.length > mostText) throw new AttachError(t.tooLarge(name, mostText));
  return made("text/plain", bytes.length, {
    type: "document",
    title: name,
    source: { type: "text", media_type: "text/plain", data: text },
  });
}

/** The image itself if the API takes it, else one that it takes; undefined if none can be made. */
async function fitting(image: Blob, type: string | undefined, shrink: Shrink): Promise<Blob | undefined> {
  if (type !== undefined && image.size <= mostImage) return image;
  if (type === undefined) {
    const drawn = await shrink(image, sides[0], "image/png");
    if (drawn && drawn.size <= mostImage) return drawn;
  }
  for (const side of sides) {
    const smaller = await shrink(image, side, "image/jpeg");
    if (!smaller) return undefined;
    if (smaller.size <= mostImage) return smaller;
  }
  return undefined;
}

/** What a file is by its first bytes: one of the images that the API takes, or a PDF. */
export function sniff(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 12));
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return taken[0];
  if (head.startsWith("\xff\xd8\xff")) return taken[1];
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return taken[2];
  if (head.startsWith("RIFF") && head.slice(8) === "WEBP") return taken[3];
  if (head.startsWith("%PDF-")) return "application/pdf";
  return undefined;
}

/** The text of a file; undefined if it is none in UTF-8. */
function decoded(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Bytes in base64, in pieces: a call cannot have millions of arguments. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

async function shrinkByCanvas(file: Blob, side: number, type: "image/jpeg" | "image/png"): Promise<Blob | undefined> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    return undefined;
  }
  try {
    const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    const pen = canvas.getContext("2d");
    if (!pen) return undefined;
    if (type === "image/jpeg") {
      // A JPEG has no transparency: what was transparent would become black.
      pen.fillStyle = "white";
      pen.fillRect(0, 0, canvas.width, canvas.height);
    }
    pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob((blob) => done(blob ?? undefined), type, 0.88));
  } finally {
    bitmap.close();
  }
}

/** Why another attachment would be too much; undefined if there is room for it. */
export function noRoom(list: readonly Attachment[], another: Attachment): string | undefined {
  if (list.length >= mostAttachments) return t.tooMany(mostAttachments);
  const together = [...list, another].reduce(
    (sum, a) => sum + (a.image || a.mediaType === "application/pdf" ? (a.size * 4) / 3 : a.size),
    0,
  );
  return together > mostTogether ? t.tooMuch(mostTogether) : undefined;
}

/** A text and what is attached as content blocks, the text last; undefined if nothing is attached. */
export function contentOf(text: string, list: readonly { readonly block: Json }[]): Json[] | undefined {
  if (list.length === 0) return undefined;
  return [...list.map((a) => a.block), ...(text.trim() === "" ? [] : [{ type: "text", text }])];
}
