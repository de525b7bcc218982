import { coreTexts as t } from "../texts/core";
import { ApiError, problemOf, unreachable } from "./error";
import { operations } from "./operations";
import type { TokenBox } from "./token";
import type { Operations } from "./types";

type Op = Operations;

/** What an operation takes: the parts of its path by name, its query and its body, as the description has them. */
export type Args<K extends keyof Op> = {
  /** The values of the names in braces of the operation's path. */
  params?: Record<string, string>;
  query?: Op[K] extends { query?: infer Q } ? Q : never;
  body?: Op[K] extends { body: infer B } ? B : Op[K] extends { body?: infer B } ? B : never;
  signal?: AbortSignal;
};

export interface Api {
  /** Calls an operation by its id, such as "list-sessions". Rejects with an ApiError. */
  call<K extends keyof Op>(operation: K, args?: Args<K>): Promise<Op[K]["answer"]>;
  /** Downloads what an operation answers, with the token in a header, as a file. */
  download(
    operation: keyof Op,
    args: { params?: Record<string, string>; query?: Record<string, string> },
    name: string,
  ): Promise<void>;
}

/** What createApi takes from its surroundings; tests give their own. */
export interface ApiOptions {
  /** The address that paths are relative to, so that a hub behind a prefix is reached. */
  base?: string;
  fetch?: typeof fetch;
}

/** Makes an Api that shows the token of a box. A token that the server refuses is dropped out of the box, with the reason. */
export function createApi(token: TokenBox, options: ApiOptions = {}): Api {
  const base = options.base ?? document.baseURI;
  const send = options.fetch ?? ((input: RequestInfo | URL, init?: RequestInit) => fetch(input, init));

  async function request(operation: keyof Op, args: Request): Promise<Response> {
    const { method, path } = operations[operation];
    const held = token.get();
    const headers: Record<string, string> = {};
    if (held) headers.Authorization = `Bearer ${held.text}`;
    if (args.body !== undefined) headers["Content-Type"] = "application/json";
    const init: RequestInit = {
      method,
      headers,
      signal: args.signal,
      // Half of the token may be in a cookie; nothing of an answer is to be kept by the browser.
      credentials: "same-origin",
      cache: "no-store",
      body: args.body === undefined ? undefined : JSON.stringify(args.body),
    };
    const response = await reach(() => send(address(base, path, args), init), method, args);
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (problem.status === 401 && operation !== "login" && held) token.drop(t.tokenInvalid, held.text);
    throw problem;
  }

  return {
    async call(operation, args = {}) {
      const response = await request(operation, args as Request);
      return (await answerOf(response)) as Op[typeof operation]["answer"];
    },
    async download(operation, args, name) {
      const response = await request(operation, args);
      save(await blobOf(response), name);
    },
  };
}

interface Request {
  params?: Record<string, string>;
  query?: object;
  body?: unknown;
  signal?: AbortSignal;
}

/**
 * Sends, once more if the network failed and it is safe: reading changes nothing, and a request with a client_id does nothing twice.
 */
async function reach(send: () => Promise<Response>, method: string, args: Request): Promise<Response> {
  try {
    return await send();
  } catch (failure) {
    if (args.signal?.aborted) throw given(args.signal, failure);
    if (method !== "GET" && !hasClientId(args.body)) throw unreachable();
  }
  try {
    return await send();
  } catch (failure) {
    if (args.signal?.aborted) throw given(args.signal, failure);
    throw unreachable();
  }
}

/** Whoever stopped a request knows why; one that took too long has not reached anybody. */
function given(signal: AbortSignal, failure: unknown): unknown {
  return signal.reason instanceof DOMException && signal.reason.name === "TimeoutError" ? unreachable() : failure;
}

/**
 * The patience of what the page asks by itself, again and again: a network that swallows a request without a word must not keep the next
 * one from being made.
 */
export function patience(): AbortSignal {
  return AbortSignal.timeout(60_000);
}

function hasClientId(body: unknown): boolean {
  return (
    typeof body === "object" &&
    body !== null &&
    "client_id" in body &&
    typeof body.client_id === "string" &&
    body.client_id !== ""
  );
}

async function answerOf(response: Response): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch {
    throw unreachable();
  }
  if (text === "") return undefined;
  if (!(response.headers.get("Content-Type") ?? "").includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError({ status: response.status, code: "internal", title: t.cutOff, hint: t.refusedHint });
  }
}

async function blobOf(response: Response): Promise<Blob> {
  try {
    return await response.blob();
  } catch {
    // A download that fails on the way is cut off by the server on purpose: it must not pass for a whole one.
    throw new ApiError({ status: 0, code: "unreachable", title: t.cutOff, hint: t.unreachableHint });
  }
}

/** The address of an operation. Paths begin with a slash in the description; here they are relative to where the page is. */
export function address(base: string, path: string, args: { params?: Record<string, string>; query?: object }): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segment(args.params?.[name] ?? ""));
  const url = new URL(filled.replace(/^\//, ""), base);
  url.hash = "";
  url.search = "";
  for (const [name, value] of Object.entries(args.query ?? {})) {
    if (value === undefined || value === null) continue;
    url.searchParams.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  return url.href;
}

/** A value as a part of a path. What a browser would take for a way up, or for nothing, names nothing. */
function segment(value: string): string {
  if (value === "" || value === "." || value === "..") {
    throw new ApiError({ status: 404, code: "not_found", title: t.noSuchThing });
  }
  return encodeURIComponent(value);
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has begun to read by the next task; kept a little longer for those that ask where to put it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
