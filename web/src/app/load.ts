/** How long it is waited until a hub that cannot be reached is tried again. */
const pause = 2000;
/** How often a hub that answers is asked for something before it is taken for one that does not have it. */
const tries = 3;
/** How long a hub that has answered is taken to be there. */
const trust = 1000;

/** When the hub has answered last. Where this page comes from, it has. */
let answered = performance.now();

/**
 * Loads a part of the console. One that is asked for while the hub is away comes as soon as it is back. One that a hub that answers
 * does not have is an error: the hub has become another version, and the page must be loaded again.
 */
export async function loadPatiently<T>(load: () => Promise<T>): Promise<T> {
  // It is not even tried while the hub is away: a browser may keep that it failed for as long as the page lives.
  if (performance.now() - answered > trust) while (!(await answers())) await wait();
  const before = new Set(styles());
  for (let left = tries; ; ) {
    try {
      const loaded = await load();
      answered = performance.now();
      return loaded;
    } catch (e) {
      if (left === 0) throw e;
    }
    // It may have gone just now, or come back. Then one more try does not tell: it may share a request that was made before.
    const back = await answers();
    left = back ? left - 1 : tries;
    if (!back || left < tries - 1) await wait();
    // What loads pages asks for a style once only, also if it has failed. An element that is put in anew loads anew.
    for (const link of styles()) if (!before.has(link)) link.replaceWith(link.cloneNode());
  }
}

function styles(): HTMLLinkElement[] {
  return [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')];
}

function wait(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pause));
}

async function answers(): Promise<boolean> {
  try {
    await fetch("./", { method: "HEAD", cache: "no-store" });
    answered = performance.now();
    return true;
  } catch {
    return false;
  }
}
