// @vitest-environment jsdom
import { act } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { aNode, aSession, type FakeHub, fakeHub } from "../store/fake";
import { Adopt } from "./Adopt";
import { draw, erase, find, press } from "./draw";

let hub: FakeHub;

const onDisk = (conversation: string, title: string) => ({
  conversation,
  title,
  dir: "/srv/train",
  modified: "2026-02-03T04:05:06Z",
  bytes: 100,
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  hub = fakeHub();
  hub.api.on("list-transcripts", ({ query }) => ({
    transcripts: query?.node === "gpu-1" ? [onDisk("c2", "There")] : [onDisk("c1", "Here")],
  }));
  hub.api.on("get-transcript", () => ({ lines: [], more: false, next: 0 }) as never);
  hub.api.on("adopt-transcript", () => aSession({ id: "s9" }));
});

afterEach(async () => {
  await erase();
  vi.useRealTimers();
});

const settle = () => act(async () => vi.advanceTimersByTimeAsync(500));

describe("Adopt", () => {
  it("asks for no machine where the hub has no other", async () => {
    hub.api.on("list-nodes", () => ({ nodes: [] }));
    await draw(hub, <Adopt onClose={() => undefined} />);
    await settle();
    expect(document.body.textContent).toContain("Here");
    expect(document.body.textContent).not.toContain("Machine");
    expect(hub.api.of("list-transcripts").at(-1)?.query).toMatchObject({ node: undefined });
  });

  it("lists, reads and continues the conversations of the machine that is chosen", async () => {
    hub.api.on("list-nodes", () => ({ nodes: [aNode()] }));
    await draw(hub, <Adopt onClose={() => undefined} />);
    await settle();
    await press(find("button", /^Here/));
    await press(find("button", /Machine/));
    // A conversation is on one machine: it is not left to the hub which.
    expect([...document.querySelectorAll("[role=option]")].map((o) => o.textContent?.slice(0, 12))).toEqual([
      "This machine",
      "gpu-1load 25",
    ]);
    await press(find("[role=option]", /^gpu-1/));
    await settle();
    expect(document.querySelector("#adopt-chosen")).toBeNull();
    await press(find("button", /^There/));
    await settle();
    expect(hub.api.of("get-transcript").at(-1)).toMatchObject({ params: { conversation: "c2" }, query: { node: "gpu-1" } });
    await press(find("button", "Continue it"));
    expect(hub.api.of("adopt-transcript")).toMatchObject([{ params: { conversation: "c2" }, body: { node: "gpu-1" } }]);
  });
});
