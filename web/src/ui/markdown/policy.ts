/*
 * The one Trusted Types policy of the console. With require-trusted-types-for the browser refuses every other way of
 * making HTML or scripts out of text, so that what may become markup is decided in this folder alone.
 */

interface Policy {
  createHTML(text: string): string;
  createScriptURL(address: string): string;
}

interface Factory {
  createPolicy(name: string, rules: Policy): Policy;
}

let policy: Policy | undefined;

/**
 * The policy, for the sanitiser alone: it lets pass what it is given. Its results are typed as the strings they are to all
 * of TypeScript; a browser that has Trusted Types gets its own objects.
 */
export function htmlPolicy(): Policy {
  const rules: Policy = { createHTML: (text) => text, createScriptURL: ownScript };
  const { trustedTypes } = globalThis as { trustedTypes?: Factory };
  policy ??= trustedTypes ? trustedTypes.createPolicy("switchboard", rules) : rules;
  return policy;
}

/** The address of the service worker, as the browser wants it. */
export function trustedWorker(): string {
  return trustedScript("sw.js");
}

/** The address of a script of the console itself, as the browser wants it. */
export function trustedScript(address: string): string {
  return htmlPolicy().createScriptURL(new URL(address, document.baseURI).href);
}

// Only what the console was built of: nothing else on this server may be run, such as what an agent has said.
function ownScript(address: string): string {
  const { origin, pathname, search } = new URL(address);
  const folder = new URL(".", document.baseURI);
  const own = pathname.startsWith(folder.pathname) ? pathname.slice(folder.pathname.length) : "";
  if (origin !== folder.origin || search !== "" || !/^(?:sw|assets\/[\w.-]+)\.js$/.test(own))
    throw new TypeError("The console runs no other script");
  return address;
}
