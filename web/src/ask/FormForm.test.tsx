// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { QuestionCard } from "./QuestionCard";
import { answers, ask, button, click, field, onCards, place, press, show, type, wait } from "./testcards";

onCards();

describe("a form", () => {
  const form = () =>
    ask({
      kind: "form",
      request: { mcp_server_name: "notes", requested_schema: { required: ["a"], properties: { a: { type: "string" } } } },
    });

  it("is not sent by enter, nor before it is filled in", async () => {
    const q = form();
    await show(<QuestionCard question={q} />);
    await wait(1000);
    await press(field(), "Enter");
    await click(button("Send form"));
    expect(answers()).toEqual([]);
    await type(field(), "y");
    await click(button("Send form"));
    expect(answers()).toEqual([{ to: q.id, decision: "accept", content: { a: "y" } }]);
  });

  it("opens a page only as a link to the web, and never by itself", async () => {
    const page = (url: string) => ask({ kind: "form", request: { mode: "url", url } });
    await show(<QuestionCard question={page("https://a.example/x?y=1")} />);
    expect(place.querySelector("a[target=_blank]")?.getAttribute("href")).toBe("https://a.example/x?y=1");
    expect(place.querySelector("a[target=_blank]")?.getAttribute("rel")).toBe("noopener noreferrer");
    await show(<QuestionCard question={page("javascript:alert(1)")} />);
    expect(place.querySelector("a[target=_blank]")).toBeNull();
    expect(place.textContent).toContain("javascript:alert(1)");
  });
});
