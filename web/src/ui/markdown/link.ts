/** The address of a link, if it is one that may be followed: on the web, or of a mailbox. Undefined for all others. */
export function safeHref(address: string): string | undefined {
  let url: URL;
  try {
    // Without a base: what is relative would lead into the console itself.
    url = new URL(address.replaceAll("&amp;", "&"));
  } catch {
    return undefined;
  }
  return url.protocol === "https:" || url.protocol === "http:" || url.protocol === "mailto:" ? url.href : undefined;
}

/** The parts of an image within an address (data:image/png;base64,…), if it is one that may be shown. */
export function dataImage(address: string): { mediaType: string; data: string } | undefined {
  const match = /^data:([a-z]+\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=]+)$/i.exec(address);
  if (!match?.[1] || !match[2]) return undefined;
  const mediaType = match[1].toLowerCase();
  return safeImage(mediaType) ? { mediaType, data: match[2] } : undefined;
}

/** Whether images of a type are shown: those that are pixels, and cannot hold scripts or addresses. */
export function safeImage(mediaType: string): boolean {
  return ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"].includes(mediaType);
}
