// @vitest-environment jsdom
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dataImage, safeHref } from "./link";
import { formattedMost, Markdown } from "./Markdown";
import { trustedScript } from "./policy";
import { isMarkup, sanitise } from "./sanitise";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

let root: Root;
let host: HTMLElement;

beforeEach(() => {
  host = document.createElement("div");
  document.body.append(host);
  root = createRoot(host);
});

afterEach(() => {
  act(() => root.unmount());
  host.remove();
});

function draw(text: string, streaming?: boolean): HTMLElement {
  act(() => root.render(<Markdown text={text} streaming={streaming} />));
  return host;
}

describe("Markdown", () => {
  it("draws what people expect", () => {
    const at = draw(
      "# One\n\nA **b** `c` ~~d~~ &amp; [e](https://a.example/)\n\n1. x\n   ```go\n   y\n   ```\n2. [x] z\n\n| h |\n|--:|\n| i |\n",
    );
    expect(at.querySelector("h2")?.textContent).toBe("One");
    expect(at.querySelector("p")?.textContent).toBe("A b c d & e");
    expect(at.querySelector("a")?.getAttribute("rel")).toBe("noopener noreferrer");
    expect(at.querySelectorAll("ol > li").length).toBe(2);
    expect(at.querySelector("li figure code")?.textContent).toBe("y");
    expect(at.querySelector('li [role="img"]')).not.toBeNull();
    expect(at.querySelector("td")?.textContent).toBe("i");
  });

  it.each([
    "<script>alert(1)</script>",
    "a <script>alert(1)</script> b",
    '<img src=x onerror="alert(1)">',
    'a <img src="https://other.example/a.png" onerror=alert(1)> b',
    "<svg><script>alert(1)</script></svg>",
    '<iframe src="https://other.example"></iframe>',
    "<style>* { display: none }</style>",
    '<form action="https://other.example"><input name=a></form>',
    '<a href="javascript:alert(1)" onclick="alert(1)" id="root" class="x" style="color:red">a</a>',
    '<b><a href=" java&#10;script:alert(1)">a</a></b>',
    "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](&#106;avascript:alert(1))",
    "<javascript:alert(1)>",
    "![a](https://other.example/a.png) ![b](javascript:alert(1)) ![c](data:image/svg+xml;base64,AAAA)",
    "[a]: javascript:alert(1)\n\n[a]",
    "| <img src=x onerror=alert(1)> | <b onclick=alert(1)>x</b> |\n|---|---|\n",
    '<details open ontoggle="alert(1)"><summary>a</summary>b</details>',
    '<math><mtext><table><mglyph><style><img src=x onerror="alert(1)"></style></mglyph></table></mtext></math>',
    '``` "><script>alert(1)</script>\nx\n```',
  ])("makes nothing that acts of %s", (text) => {
    const at = draw(text);
    for (const element of at.querySelectorAll("*")) {
      if (element.closest("button")) continue; // ours
      expect(["SCRIPT", "IFRAME", "STYLE", "FORM", "INPUT", "IMG", "OBJECT", "EMBED", "LINK", "BASE", "META"]).not.toContain(
        element.nodeName,
      );
      for (const { name } of element.attributes) expect(name).not.toMatch(/^on|^style$|^id$|^src$|^action$/);
      const href = element.getAttribute("href");
      if (href !== null) expect(href).toMatch(/^https?:\/\//);
    }
  });

  it("shows tags that are none as they were written", () => {
    expect(draw("An Option<String> and <system-reminder>x</system-reminder>").textContent).toBe(
      "An Option<String> and <system-reminder>x</system-reminder>",
    );
    expect(draw("<script>alert(1)</script>").textContent).toContain("<script>alert(1)</script>");
  });

  it("hides no comments, no turned letters in code, and not where a link leads", () => {
    expect(draw("a <!-- do as I say --> b\n\n<!-- and this -->\n").textContent).toMatch(
      /<!-- do as I say -->.*<!-- and this -->/s,
    );
    expect(draw("`a\u202eb`\n\n```\nc\u2066d\n```\n").textContent).toMatch(/a⟨U\+202E⟩b.*c⟨U\+2066⟩d/s);
    const at = draw('[a](https://a.example/ "https://b.example/") <a href="https://c.example/" title="https://d.example/">c</a>');
    expect([...at.querySelectorAll("a")].map((a) => a.title)).toEqual(["https://a.example/", "https://c.example/"]);
  });

  it("draws harmless HTML, and pictures elsewhere as links", () => {
    const at = draw("Press <kbd>a</kbd>, Vec<T> H<sub>2</sub>O<br>x\n\n<img alt=logo src=https://other.example/a.png>\n");
    expect(at.querySelector("kbd")?.textContent).toBe("a");
    expect(at.querySelector("sub")?.textContent).toBe("2");
    expect(at.querySelector("p")?.textContent).toContain("Vec<T>");
    expect(at.querySelector("a")?.textContent).toBe("logo");
    expect(at.querySelector("a")?.getAttribute("target")).toBe("_blank");
  });

  it("draws only the last block of a text that grows again", () => {
    draw("# One\n\nTwo\n\nThr", true);
    const [first, second] = [host.querySelector("h2"), host.querySelectorAll("p")[0]];
    draw("# One\n\nTwo\n\nThree\n\n- a", true);
    expect(host.querySelector("h2")).toBe(first);
    expect(host.querySelectorAll("p")[0]).toBe(second);
    expect(host.querySelectorAll("p")[1]?.textContent).toBe("Three");
    expect(host.querySelector("li")?.textContent).toBe("a");
  });

  it("shows a huge text as it is", () => {
    const at = draw(`**a**\n\n${"x".repeat(formattedMost)}`);
    expect(at.querySelector("strong")).toBeNull();
    expect((at.textContent ?? "").length).toBeLessThan(formattedMost);
    act(() => [...at.querySelectorAll("button")].find((b) => b.textContent?.includes("Format"))?.click());
    expect(at.querySelector("strong")?.textContent).toBe("a");
  });
});

describe("links", () => {
  it("lead to the web and to mailboxes only", () => {
    expect(safeHref("https://a.example/?b=1&amp;c=2")).toBe("https://a.example/?b=1&c=2");
    expect(safeHref("mailto:a@b.example")).toBe("mailto:a@b.example");
    for (const bad of [
      "javascript:alert(1)",
      " java\nscript:alert(1)",
      "//a.example",
      "/v1/info",
      "#/s/x",
      "file:///etc/passwd",
      "blob:x",
      "",
    ]) {
      expect(safeHref(bad)).toBeUndefined();
    }
  });

  it("know pictures that are pixels", () => {
    expect(dataImage("data:image/png;base64,AAAA")).toEqual({ mediaType: "image/png", data: "AAAA" });
    expect(dataImage("data:image/svg+xml;base64,AAAA")).toBeUndefined();
    expect(dataImage("data:text/html;base64,AAAA")).toBeUndefined();
  });
});

describe("scripts", () => {
  it("are those that the console was built of", () => {
    expect(trustedScript("assets/worker-a1_B.js")).toBe(new URL("assets/worker-a1_B.js", document.baseURI).href);
    for (const bad of [
      "v1/info",
      "assets/../v1/x.js",
      "assets/a.js?x",
      "https://other.example/sw.js",
      "data:text/javascript,1",
      "x/sw.js",
    ])
      expect(() => trustedScript(bad)).toThrow();
  });
});

describe("sanitise", () => {
  it("strips names and looks", () => {
    expect(sanitise('<p id="a" class="b" style="c" data-d="e" aria-label="f" title="g">x</p>')).toBe('<p title="g">x</p>');
  });

  it("lets no cell span more than people write", () => {
    const row = (span: string) => `<table><tbody><tr><td colspan="${span}" rowspan="${span}">x</td></tr></tbody></table>`;
    expect(sanitise(row("3"))).toBe(row("3"));
    expect(sanitise(row("1000"))).not.toContain("span");
  });

  it("knows markup from text", () => {
    expect(isMarkup("<b>x</b>")).toBe(true);
    expect(isMarkup("<b><x-y></b>")).toBe(false);
    expect(isMarkup("<!doctype html>")).toBe(false);
    expect(isMarkup("<b>x</b> <!-- y -->")).toBe(false);
    expect(isMarkup('<img src="x"onerror=alert(1)>')).toBe(false);
    expect(isMarkup("<p>one = two</p>")).toBe(true);
  });
});
