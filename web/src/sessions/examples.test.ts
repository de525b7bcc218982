import { describe, expect, it } from "vitest";
import { fakeHub } from "../store/fake";
import { exampleFolder, examples } from "./examples";

describe("examples", () => {
  it("have orders that are each one line of valid JSON", () => {
    for (const example of examples) {
      for (const line of example.prompt.split("\n").filter((l) => l.startsWith("@tool"))) {
        expect(() => JSON.parse(line.replace(/^@tool \w+ /, ""))).not.toThrow();
      }
    }
    expect(examples.filter((e) => e.prompt.includes("@tool")).length).toBe(4);
  });

  it("work in the folder that was used last, else in the home folder", async () => {
    const hub = fakeHub();
    expect(await exampleFolder(hub.api, "/src/blog")).toBe("/src/blog");
    hub.api.on("list-folders", ({ query }) => ({ folders: query?.prefix === "~/" ? [{ path: "/home/ann/music" }] : [] }));
    expect(await exampleFolder(hub.api, undefined)).toBe("/home/ann");
    hub.api.on("list-folders", ({ query }) => ({ folders: query?.prefix === "/" ? [{ path: "/etc" }] : null }));
    expect(await exampleFolder(hub.api, undefined)).toBe("/");
    hub.api.on("list-folders", () => ({ folders: [] }));
    expect(await exampleFolder(hub.api, undefined)).toBeUndefined();
  });
});
