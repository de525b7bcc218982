/** How long it is waited until a hub that cannot be reached is tried again. */
const pause = 2000;

/**
 * Loads a part of the console. One that is asked for while the hub is away comes as soon as it is back. One that a hub that answers
 * does not have is an error: the hub has become another version, and the page must be loaded again.
 */
export async function loadPatiently<T>(load: () => Promise<T>): Promise<T> {
  const before = new Set(styles());
  for (let last = false; ; ) {
    try {
      return await load();
    } catch (e) {
      if (last) throw e;
    }
    // It may have come back just now: then one more try tells.
    last = await answers();
    if (!last) await new Promise((resolve) => setTimeout(resolve, pause));
    // What loads pages asks for a style once only, also if it has failed. An element that is put in anew loads anew.
    for (const link of styles()) if (!before.has(link)) link.replaceWith(link.cloneNode());
  }
}

function styles(): HTMLLinkElement[] {
  return [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')];
}

async function answers(): Promise<boolean> {
  try {
    await fetch("./", { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}
