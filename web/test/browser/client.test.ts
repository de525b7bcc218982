// A client that a public generator made of api/openapi.json, at the real program: openapi-typescript wrote the types, openapi-fetch sends.
import createClient from "openapi-fetch";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { components, paths } from "../client/v1";
import { Hub, until } from "../stage";

let hub: Hub;
let client: ReturnType<typeof connect>;

beforeAll(async () => {
  hub = await Hub.start();
  const token = hub.run("token", "create", "--name", "generated", "--scopes", "observe,prompt,approve,admin").trim();
  client = connect(token);
});

afterAll(() => hub?.stop());

/** A client as any program would make it: answers are JSON, and lists in a query are separated by commas, as the document says. */
function connect(token?: string) {
  return createClient<paths, "application/json" | "application/problem+json">({
    baseUrl: hub.url,
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    querySerializer: { array: { style: "form", explode: false } },
  });
}

test("it makes sessions, lists them, sends messages, answers questions and reads the log", async () => {
  const created = await client.POST("/v1/sessions", {
    body: { dir: hub.project, title: "Generated", prompt: '@tool Bash {"command":"make"}\n@say Made.' },
  });
  expect(created.error).toBeUndefined();
  expect(created.response.status).toBe(201);
  const id = created.data?.id ?? "";
  const params = { path: { id } };

  const list = await client.GET("/v1/sessions", { params: { query: { limit: 10 } } });
  expect(list.data?.sessions?.map(({ title }) => title)).toEqual(["Generated"]);

  const question = await until("it asks", async () => {
    const asked = await client.GET("/v1/questions", { params: { query: { state: "open", session: id } } });
    return asked.data?.questions?.[0];
  });
  expect(question).toMatchObject({ kind: "permission", tool: "Bash", title: "make" });
  const answer = { params: { path: { id: question.id } }, body: { decision: "allow" } } as const;
  const settled = await client.POST("/v1/questions/{id}/answer", answer);
  expect(settled.data).toMatchObject({ id: question.id, state: "answered", answer: { decision: "allow" } });

  // The next answer is too late, and is told who was first.
  const late = await client.POST("/v1/questions/{id}/answer", { ...answer, body: { decision: "deny", message: "No." } });
  expect(late.data).toBeUndefined();
  expect(late.response.headers.get("Content-Type")).toBe("application/problem+json");
  expect(late.error).toMatchObject({ status: 409, code: "already_settled", question: { id: question.id, state: "answered" } });

  const sent = await client.POST("/v1/sessions/{id}/messages", { params, body: { client_id: "m-1", text: "@say Hello." } });
  expect(sent.response.status).toBe(202);
  expect(sent.data?.client_id).toBe("m-1");
  await until("both are done", async () => {
    const { data } = await client.GET("/v1/sessions/{id}", { params });
    return data?.state === "idle" && data.text === "Hello.";
  });

  // The log in pages, each from where the one before has ended.
  const events: components["schemas"]["Event"][] = [];
  for (let after: string | undefined, more = true; more; ) {
    const page = await client.GET("/v1/sessions/{id}/events", {
      params: { ...params, query: { limit: 5, after, kinds: ["run_started", "question_opened", "question_settled"] } },
    });
    expect(page.error).toBeUndefined();
    events.push(...(page.data?.events ?? []));
    after = page.data?.next;
    more = page.data?.more ?? false;
  }
  expect(events.map(({ kind }) => kind)).toEqual(["run_started", "question_opened", "question_settled"]);
  expect(new Set(events.map((event) => event.session))).toEqual(new Set([id]));
});

test("what goes wrong is a problem as of RFC 9457, with the members that the document names", async () => {
  const missing = await client.GET("/v1/sessions/{id}", { params: { path: { id: "s22222222222222222222" } } });
  expect(missing.error).toMatchObject({ status: 404, code: "not_found" });
  expect(missing.error?.title).not.toBe("");
  const wrong = await client.POST("/v1/sessions", { body: { dir: "not/absolute" } });
  expect(wrong.error).toMatchObject({ status: 422, code: "invalid" });
  const stranger = await connect().GET("/v1/sessions");
  expect(stranger.error).toMatchObject({ status: 401, code: "unauthorized" });
  expect(stranger.response.headers.get("Content-Type")).toBe("application/problem+json");
  const reader = connect(hub.run("token", "create", "--name", "reader", "--scopes", "observe").trim());
  const refused = await reader.POST("/v1/sessions", { body: { dir: hub.project } });
  expect(refused.error).toMatchObject({ status: 403, code: "forbidden" });
  expect((await reader.GET("/v1/sessions")).error).toBeUndefined();
});
