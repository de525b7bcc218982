// @vitest-environment jsdom
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import { back, go, useRoute } from "./router";

function Shown() {
  return useRoute().page;
}

test("back stays within the console, whatever was in the tab before it", async () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  const arrived = () => new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
  // Another page was in this tab before, and linked to a session.
  history.pushState(null, "", "#/s/s1");
  const place = document.createElement("div");
  act(() => createRoot(place).render(createElement(Shown)));
  const leaves = vi.spyOn(history, "back");
  act(() => back({ page: "sessions" }));
  expect(leaves).not.toHaveBeenCalled();
  expect(location.hash).toBe("#/");
  // One that was gone to from within the console is left by going back, and then there is nothing before again.
  for (const page of ["inbox", "settings"] as const) {
    await act(async () => {
      const there = arrived();
      go({ page });
      await there;
    });
  }
  for (const page of ["inbox", "sessions"]) {
    await act(async () => {
      const there = arrived();
      back({ page: "search", q: "" });
      await there;
    });
    expect(place.textContent).toBe(page);
  }
  expect(leaves).toHaveBeenCalledTimes(2);
  act(() => back({ page: "search", q: "" }));
  expect(leaves).toHaveBeenCalledTimes(2);
  expect(place.textContent).toBe("search");
});
