import { expect, test, vi } from "vitest";
import { address, createApi } from "./client";
import { ApiError } from "./error";
import { TokenBox } from "./token";

function box(): TokenBox {
  const token = new TokenBox(undefined);
  token.set({ text: "sb_a_b", name: "test", scopes: ["observe"] });
  return token;
}

function json(value: unknown, status = 200, type = "application/json"): Response {
  return new Response(JSON.stringify(value), { status, headers: { "Content-Type": type } });
}

test("paths are relative to the page, so that a prefix is kept", () => {
  expect(address("http://h:1/sb/?x=1#y", "/v1/sessions/{id}", { params: { id: "a/b c" } })).toBe(
    "http://h:1/sb/v1/sessions/a%2Fb%20c",
  );
  expect(address("http://h:1/", "/v1/events", { query: { kinds: ["a", "b"], live: false, none: undefined } })).toBe(
    "http://h:1/v1/events?kinds=a%2Cb&live=false",
  );
});

test.each(["", ".", ".."])("a part of a path that is %j names nothing", (id) => {
  expect(() => address("http://h/", "/v1/sessions/{id}/stop", { params: { id } })).toThrow(ApiError);
});

test("a call shows the token and reads the answer", async () => {
  const send = vi.fn(async () => json({ sessions: [] }));
  const api = createApi(box(), { base: "http://h/", fetch: send });
  expect(await api.call("list-sessions", { query: { limit: 5 } })).toEqual({ sessions: [] });
  expect(send).toHaveBeenCalledWith(
    "http://h/v1/sessions?limit=5",
    expect.objectContaining({ method: "GET", credentials: "same-origin" }),
  );
  const init = (send.mock.calls as unknown as [string, RequestInit][])[0]?.[1];
  expect(init?.headers).toEqual({ Authorization: "Bearer sb_a_b" });
});

test("a problem of the server becomes an ApiError with everything in it", async () => {
  const question = { id: "q1", state: "answered" };
  const problem = { status: 409, code: "already_settled", title: "Too late", detail: "d", hint: "h", question };
  const api = createApi(box(), { base: "http://h/", fetch: async () => json(problem, 409, "application/problem+json") });
  const error = await api.call("answer-question", { params: { id: "q1" }, body: { decision: "allow" } }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 409, code: "already_settled", message: "Too late", detail: "d", hint: "h", question });
});

test("an answer of something else than the server is an error too", async () => {
  const api = createApi(box(), { base: "http://h/", fetch: async () => new Response("<html>", { status: 502 }) });
  await expect(api.call("get-info")).rejects.toMatchObject({ status: 502, code: "internal" });
});

test("a token that is refused is dropped, with the reason", async () => {
  const token = box();
  const api = createApi(token, { base: "http://h/", fetch: async () => json({ code: "unauthorized", title: "no" }, 401) });
  await expect(api.call("get-info")).rejects.toMatchObject({ status: 401 });
  expect(token.state.get().held).toBeUndefined();
  expect(token.state.get().reason).toBeTruthy();
});

test("a token that was replaced meanwhile is not dropped for the old one", async () => {
  const token = box();
  const fetch = async () => {
    token.set({ text: "sb_new_x", name: "", scopes: [] });
    return json({ code: "unauthorized", title: "no" }, 401);
  };
  await expect(createApi(token, { base: "http://h/", fetch }).call("get-info")).rejects.toMatchObject({ status: 401 });
  expect(token.get()?.text).toBe("sb_new_x");
});

test("after a network error only what is safe is sent again, with the same body", async () => {
  const bodies: unknown[] = [];
  let failures = 1;
  const fetch = async (_: unknown, init?: RequestInit) => {
    bodies.push(init?.body);
    if (failures-- > 0) throw new TypeError("network");
    return json({});
  };
  const api = createApi(box(), { base: "http://h/", fetch: fetch as typeof globalThis.fetch });
  await api.call("send-message", { params: { id: "s" }, body: { client_id: "c", text: "t" } });
  expect(bodies).toEqual(['{"client_id":"c","text":"t"}', '{"client_id":"c","text":"t"}']);

  bodies.length = 0;
  failures = 1;
  await expect(api.call("send-message", { params: { id: "s" }, body: { text: "t" } })).rejects.toMatchObject({
    status: 0,
    code: "unreachable",
  });
  expect(bodies).toHaveLength(1);

  failures = 2;
  await expect(api.call("get-info")).rejects.toMatchObject({ code: "unreachable" });
});

test("what was called off is not sent again", async () => {
  const gone = new AbortController();
  const fetch = vi.fn(async () => {
    gone.abort();
    throw new DOMException("gone", "AbortError");
  });
  await expect(createApi(box(), { base: "http://h/", fetch }).call("get-info", { signal: gone.signal })).rejects.toThrow("gone");
  expect(fetch).toHaveBeenCalledTimes(1);
});

test("a request that takes too long has not reached the server; one that was stopped says so itself", async () => {
  const hangs = (_: RequestInfo | URL, init?: RequestInit) =>
    new Promise<Response>((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
  const api = createApi(box(), { base: "http://h/", fetch: hangs });
  const late = new AbortController();
  const asked = api.call("get-info", { signal: late.signal });
  late.abort(new DOMException("too long", "TimeoutError"));
  await expect(asked).rejects.toMatchObject({ code: "unreachable" });
  const left = new AbortController();
  const stopped = api.call("get-info", { signal: left.signal });
  left.abort();
  await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
});
