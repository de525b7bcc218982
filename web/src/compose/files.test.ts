import { expect, test } from "vitest";
import { ApiError } from "../api/error";
import type { Json } from "../api/types";
import { FakeSession, fakeHub } from "../store/fake";
import { pathsIn, suggestedFiles } from "./files";

function tool(id: string, input: { [name: string]: Json }) {
  return { kind: "tool", id, use: id, name: "Edit", input, state: "done", children: [] } as const;
}

test("paths of the conversation come from its end, as seen from the folder", () => {
  const session = new FakeSession("s");
  session.put(
    tool("1", { file_path: "/home/ann/blog/a.md" }),
    tool("2", { command: "ls" }),
    tool("3", { file_path: 7 }),
    tool("4", { notebook_path: "/elsewhere/b.ipynb" }),
    tool("5", { file_path: "/home/ann/blog/a.md" }),
  );
  expect(pathsIn(session, "/home/ann/blog")).toEqual(["a.md", "/elsewhere/b.ipynb"]);
  expect(pathsIn(session, undefined)).toEqual(["/home/ann/blog/a.md", "/elsewhere/b.ipynb"]);
});

test("an agent that cannot tell files tells none", async () => {
  const { api } = fakeHub();
  const { signal } = new AbortController();
  api.on("suggest-files", () => ({ files: ["a.md"] }));
  expect(await suggestedFiles(api, "s", "a", signal)).toEqual(["a.md"]);
  api.on("suggest-files", () => ({ files: null }));
  expect(await suggestedFiles(api, "s", "a", signal)).toEqual([]);
  api.on("suggest-files", () => {
    throw new ApiError({ status: 422, code: "unsupported", title: "no" });
  });
  expect(await suggestedFiles(api, "s", "a", signal)).toEqual([]);
});
