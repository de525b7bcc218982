import { expect, test } from "vitest";
import { emptyInvite, isLoopback, toInvitation } from "./invite";

test("what is left empty is left out", () => {
  expect(toInvitation(emptyInvite)).toEqual({ request: { ttl: 900 } });
  expect(toInvitation({ name: " gpu-1 ", labels: "gpu=a100\n\n zone = b=c \n", most: " 4 ", ttl: "3600" })).toEqual({
    request: { name: "gpu-1", labels: { gpu: "a100", zone: "b=c" }, max_sessions: 4, ttl: 3600 },
  });
});

test.each(["a", "-a", "a-", "GPU", "a b", "a_b", "a".repeat(64)])("a name that the hub refuses is refused here: %s", (name) => {
  expect(toInvitation({ ...emptyInvite, name }).errors?.name).toMatch(/^Use 2 to 63/);
});

test("a name is taken once, and one stands for the choice of the hub", () => {
  expect(toInvitation({ ...emptyInvite, name: "gpu-1" }, [{ name: "gpu-1" }]).errors?.name).toMatch(/already/);
  expect(toInvitation({ ...emptyInvite, name: "any" }).errors?.name).toMatch(/least loaded/);
  expect(toInvitation({ ...emptyInvite, name: "a".repeat(63) }, [{ name: "gpu-1" }]).errors).toBeUndefined();
});

test.each(["gpu", "=a", "gpu=", "g pu=a"])("a label has a name and a value: %s", (labels) => {
  expect(toInvitation({ ...emptyInvite, labels }).errors?.labels).toBe("Enter one NAME=VALUE per line.");
});

test("there are sixteen labels at most", () => {
  const labels = (n: number) => Array.from({ length: n }, (_, i) => `l${i}=x`).join("\n");
  expect(toInvitation({ ...emptyInvite, labels: labels(16) }).errors).toBeUndefined();
  expect(toInvitation({ ...emptyInvite, labels: labels(17) }).errors?.labels).toMatch(/at most 16/);
});

test.each(["0", "-1", "1.5", "many", "10001"])("a number of sessions is a whole one that the hub takes: %s", (most) => {
  expect(toInvitation({ ...emptyInvite, most }).errors?.most).toMatch(/^Enter a whole number/);
});

test("an address that leads nowhere from another machine is known", () => {
  for (const url of ["http://127.0.0.1:8765", "http://localhost:1", "http://[::1]:2/x"]) expect(isLoopback(url)).toBe(true);
  for (const url of ["https://hub.example.com", "https://192.168.1.2:8765", "https://localhost.example.com", "nonsense"])
    expect(isLoopback(url)).toBe(false);
});
