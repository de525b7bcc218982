// Marks are painted by the browser over ranges of text: the rows themselves are not touched, so nothing is drawn again.
const name = "switchboard-found";
const most = 1000;

/** Marks a text, which is in lower case, wherever it is on the screen, also in rows that come later. Returns what ends it. */
export function paintFound(within: HTMLElement, wanted: string): () => void {
  const registry = typeof CSS === "undefined" || typeof Highlight === "undefined" ? undefined : CSS.highlights;
  if (!registry) return () => {};
  let frame = 0;
  const paint = () => {
    frame = 0;
    registry.set(name, new Highlight(...rangesOf(within, wanted)));
  };
  const observer = new MutationObserver(() => {
    if (frame === 0) frame = requestAnimationFrame(paint);
  });
  observer.observe(within, { childList: true, subtree: true, characterData: true });
  paint();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
    registry.delete(name);
  };
}

/** Where a text, which is in lower case, stands within an element. What is split over several elements is not found. */
export function rangesOf(within: HTMLElement, wanted: string, count = most): Range[] {
  const ranges: Range[] = [];
  const nodes = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node && ranges.length < count; node = nodes.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0 && ranges.length < count; at = text.indexOf(wanted, at + wanted.length)) {
      // Some letters have another length in lower case.
      if (at + wanted.length > (node.nodeValue ?? "").length) break;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}
