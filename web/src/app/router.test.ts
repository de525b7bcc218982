import { expect, test } from "vitest";
import { href, parse, type Route } from "./router";

const routes: Route[] = [
  { page: "sessions" },
  { page: "inbox" },
  { page: "inbox", question: "q1" },
  { page: "session", id: "s1" },
  { page: "session", id: "s1", event: "e1:42" },
  { page: "session", id: "s1", view: "timeline" },
  { page: "search", q: "" },
  { page: "search", q: "a b&c=%?" },
  { page: "insight", tab: "costs" },
  { page: "rules" },
  { page: "machines" },
  { page: "settings" },
];

test.each(routes)("an address leads to the place that it was made for: %j", (route) => {
  expect(parse(href(route))).toEqual(route);
});

test("the addresses in the hub's notifications lead to the session and to the question", () => {
  expect(parse("#/sessions/s1")).toEqual({ page: "session", id: "s1" });
  expect(parse("#/sessions/s1/questions/q1")).toEqual({ page: "inbox", question: "q1" });
});

test.each(["", "#", "#/", "#/nowhere", "#/s", "#/s/", "#main", "#%"])("what nobody knows is the list of sessions: %j", (hash) => {
  expect(parse(hash)).toEqual({ page: "sessions" });
});

test("a part that is not encoded well is taken as it is", () => {
  expect(parse("#/s/%zz")).toEqual({ page: "session", id: "%zz" });
});
