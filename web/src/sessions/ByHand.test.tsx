// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import { aSession, type FakeHub, fakeHub } from "../store/fake";
import { ByHand, dialLine } from "./ByHand";
import { draw, erase, find, press, type } from "./draw";

let hub: FakeHub;

beforeEach(() => {
  hub = fakeHub();
  hub.api.on("list-folders", () => ({ folders: [] }));
  localStorage.clear();
  sessionStorage.clear();
  location.hash = "";
});
afterEach(erase);

const made = { ...aSession({ id: "s9" }), token: "sbr_secret", url: "ws://127.0.0.1:8765/ws/cli/s9" };
const submit = () => press(find("button", /^Create session/));

describe("ByHand", () => {
  it("asks for a folder before it asks the server", async () => {
    await draw(hub, <ByHand onClose={() => undefined} />);
    await submit();
    expect(document.body.textContent).toContain("Choose a folder for the agent.");
    expect(hub.api.of("create-session")).toEqual([]);
  });

  it("shows the command once, keeps it nowhere, and leads to the session", async () => {
    const closed = vi.fn();
    hub.api.on("create-session", () => made);
    await draw(hub, <ByHand dir="/src/it's here" onClose={closed} />);
    await type(find("input", "Title"), "By hand");
    await submit();
    expect(hub.api.of("create-session")[0]?.body).toMatchObject({
      dir: "/src/it's here",
      transport: "websocket",
      title: "By hand",
    });
    expect(document.querySelector("pre")?.textContent).toBe(dialLine("/src/it's here", made, false));
    expect(document.activeElement?.textContent).toBe("Run this in a terminal");
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain("sbr_secret");
    await press(find("button", "Done, open the session"));
    expect(closed).toHaveBeenCalledTimes(1);
    expect(location.hash).toBe("#/s/s9");
    await erase();
    await draw(hub, <ByHand onClose={closed} />);
    expect(document.body.textContent).not.toContain("sbr_secret");
  });

  it("is one intent however often it is tried, and says so if the command was lost with the first answer", async () => {
    let tries = 0;
    hub.api.on("create-session", () => {
      if (tries++ === 0) throw new ApiError({ status: 0, code: "unreachable", title: "The server cannot be reached" });
      return aSession({ id: "s9" });
    });
    await draw(hub, <ByHand dir="/src/blog" onClose={() => undefined} />);
    await submit();
    expect(document.body.textContent).toContain("The server cannot be reached");
    await submit();
    const [first, second] = hub.api.of("create-session").map((c) => c.body as { client_id: string });
    expect(second?.client_id).toBe(first?.client_id);
    expect(document.body.textContent).toContain("create another");
    expect(document.querySelector("pre")).toBeNull();
  });

  it("says why it cannot be sent without the right", async () => {
    hub.scopes.delete("admin");
    await draw(hub, <ByHand dir="/src/blog" onClose={() => undefined} />);
    await submit();
    expect(find("button", /^Create session/).getAttribute("aria-disabled")).toBe("true");
    expect(hub.api.of("create-session")).toEqual([]);
  });
});

describe("dialLine", () => {
  it("is what the terminal writes: the credential in the environment, and every word quoted", () => {
    expect(dialLine("/src/it's here", made, true)).toBe(
      [
        "cd '/src/it'\\''s here' &&",
        "CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1 \\",
        "CLAUDE_CODE_SESSION_ACCESS_TOKEN=sbr_secret \\",
        "claude --sdk-url=ws://127.0.0.1:8765/ws/cli/s9 --print --verbose --input-format=stream-json --output-format=stream-json --include-partial-messages --replay-user-messages",
      ].join("\n"),
    );
    expect(dialLine("/src", made, false)).not.toContain("POST");
    expect(dialLine("/src", { url: made.url }, false)).toBeUndefined();
  });
});
