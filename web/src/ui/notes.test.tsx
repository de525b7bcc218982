// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";
import { Contained } from "./notes";

function Entry({ text }: { text: string }) {
  if (text === "bad") throw new Error("too deep");
  return <p>{text}</p>;
}

it("keeps an error to one entry, and tries again with another one", async () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const complain = vi.spyOn(console, "error").mockImplementation(() => {});
  const host = document.createElement("div");
  const root = createRoot(host);
  const draw = (text: string) =>
    act(async () =>
      root.render(
        <>
          <Contained of={text} hint="Look elsewhere.">
            <Entry text={text} />
          </Contained>
          <p>beside it</p>
        </>,
      ),
    );
  await draw("bad");
  expect(host.textContent).toBe("Can't show thisLook elsewhere.too deepbeside it");
  await draw("good");
  expect(host.textContent).toBe("goodbeside it");
  await act(async () => root.unmount());
  complain.mockRestore();
});
