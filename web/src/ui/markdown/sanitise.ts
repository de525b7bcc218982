import DOMPurify from "dompurify";
import type { TrustedTypePolicy } from "trusted-types/lib";
import { safeHref } from "./link";
import { htmlPolicy } from "./policy";

// Markup that says how a text reads, and nothing that has a look, a name or an effect of its own.
const tags = (
  "a abbr b blockquote br caption cite code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre q " +
  "rp rt ruby s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var"
).split(" ");

const known = new Set([...tags, "img"]);

/**
 * Whether HTML consists of tags that are drawn. What has others is shown as it was written: Option<T> in a sentence is no
 * tag, and of a script or a comment one should see that it was there. So is what has handlers and styles: the sanitiser would take them
 * out, but browsers report them to the console of whoever reads it as soon as they are parsed.
 */
export function isMarkup(html: string): boolean {
  if (/<[!?]|<[^<>]*[\s/"'](?:on[a-z]+|style)\s*=/i.test(html)) return false;
  for (const match of html.matchAll(/<\/?\s*([a-z][^\s/>]*)/gi)) if (!known.has((match[1] ?? "").toLowerCase())) return false;
  return true;
}

const mostSpan = 50;

let purify: typeof DOMPurify | undefined;

function sanitiser(): typeof DOMPurify {
  if (purify) return purify;
  const own = DOMPurify(window);
  own.addHook("uponSanitizeElement", (node, data) => {
    // A picture would be fetched from wherever the text says: it becomes a link, which nothing follows by itself.
    if (data.tagName !== "img" || !(node instanceof Element) || !node.parentNode) return;
    const link = document.createElement("a");
    const source = node.getAttribute("src") ?? "";
    link.textContent = node.getAttribute("alt") || source.slice(0, 200);
    link.setAttribute("href", source);
    node.parentNode.insertBefore(link, node.nextSibling);
  });
  own.addHook("afterSanitizeAttributes", (node) => {
    // A cell as wide as a thousand others takes the browser longer to lay out than anybody waits.
    for (const name of ["colspan", "rowspan"]) if (Number(node.getAttribute(name)) > mostSpan) node.removeAttribute(name);
    if (!node.hasAttribute("href")) return;
    const href = safeHref(node.getAttribute("href") ?? "");
    if (href === undefined) {
      node.removeAttribute("href");
      return;
    }
    node.setAttribute("href", href);
    // Where it leads is for whoever reads it to see, and not for the agent to say.
    node.setAttribute("title", href);
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  });
  purify = own;
  return own;
}

/**
 * HTML from an agent with nothing in it but harmless markup, as the browser's trusted kind (typed as a string, see policy).
 * Names, classes, styles, handlers, scripts, forms, frames and pictures are gone; links lead to the web only.
 */
export function sanitise(html: string): string {
  const clean: unknown = sanitiser().sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: ["href", "title", "colspan", "rowspan", "align", "start", "open"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // The others must look like the address of a link.
    ADD_URI_SAFE_ATTR: ["colspan", "rowspan", "align", "start", "open"],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    TRUSTED_TYPES_POLICY: htmlPolicy() as unknown as TrustedTypePolicy,
    RETURN_TRUSTED_TYPE: true,
  });
  return clean as string;
}
