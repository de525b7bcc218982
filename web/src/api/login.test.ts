// @vitest-environment jsdom
import { expect, test } from "vitest";
import { arrive, loginByCode, loginByToken } from "./login";
import { TokenBox } from "./token";

type Answers = Record<string, [status: number, body: unknown]>;

function server(answers: Answers) {
  const fetch = async (input: RequestInfo | URL) => {
    const [status, body] = answers[new URL(String(input)).pathname] ?? [404, { code: "not_found", title: "no" }];
    return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
  };
  return { base: "http://h/", fetch: fetch as typeof globalThis.fetch };
}

const info: Answers = { "/v1/info": [200, { api: "v1" }] };
const refused: [number, unknown] = [401, { code: "unauthorized", title: "no" }];

test("the scopes of a pasted token come from the list of tokens", async () => {
  const list = {
    tokens: [
      { id: "other", scopes: ["observe"] },
      { id: "mine", name: "phone", scopes: ["observe", "admin"] },
    ],
  };
  expect(await loginByToken("sb_mine_secret", server({ ...info, "/v1/tokens": [200, list] }))).toEqual({
    text: "sb_mine_secret",
    name: "phone",
    scopes: ["observe", "admin"],
  });
});

test("one that may not read the list is no admin; one that is not in it is the server's own", async () => {
  const forbidden: [number, unknown] = [403, { code: "forbidden", title: "no" }];
  expect((await loginByToken("sb_a_b", server({ ...info, "/v1/tokens": forbidden }))).scopes).toEqual([
    "observe",
    "prompt",
    "approve",
  ]);
  expect((await loginByToken("sb_a_b", server({ ...info, "/v1/tokens": [200, { tokens: [] }] }))).scopes).toContain("admin");
  await expect(loginByToken("sb_a_b", server({ "/v1/info": refused }))).rejects.toMatchObject({ status: 401 });
});

test("a tab takes the code of its address, and a used code is no reason to forget a token", async () => {
  const good = server({ "/v1/login": [200, { text: "sb_new_x", name: "n", scopes: ["observe"] }] });
  const box = new TokenBox(undefined);
  expect(await arrive(box, "code", good)).toBeUndefined();
  expect(box.get()?.text).toBe("sb_new_x");
  const used = server({ "/v1/login": refused });
  expect(await arrive(box, "code", used)).toBeUndefined();
  expect(box.get()?.text).toBe("sb_new_x");
  const empty = new TokenBox(undefined);
  expect(await arrive(empty, "code", used)).toMatchObject({ status: 401 });
  expect(await arrive(empty, undefined, used)).toBeUndefined();
  expect(empty.get()).toBeUndefined();
});

test("a login asks for a cookie, and knows whether it got one", async () => {
  const sent: unknown[] = [];
  const server = (cookie: boolean | undefined) => ({
    base: "http://h/",
    fetch: (async (_: unknown, init?: RequestInit) => {
      sent.push(JSON.parse(String(init?.body)), init?.credentials);
      return Response.json({ text: "sb_a_b", name: "n", scopes: ["observe"], cookie });
    }) as typeof globalThis.fetch,
  });
  expect(await loginByCode("c", server(true))).toEqual({ text: "sb_a_b", name: "n", scopes: ["observe"], cookie: true });
  expect(await loginByCode("c", server(undefined))).toEqual({ text: "sb_a_b", name: "n", scopes: ["observe"] });
  expect(sent.slice(0, 2)).toEqual([{ code: "c", name: expect.any(String), cookie: true }, "same-origin"]);
});

test("a token with what no token has in it is said to be wrong, not that the server cannot be reached", async () => {
  const unsent = { base: "http://h/", fetch: () => Promise.reject(new TypeError("invalid header")) };
  await expect(loginByToken("sb_a_b…", unsent)).rejects.toMatchObject({ status: 401 });
});
