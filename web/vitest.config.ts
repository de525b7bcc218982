import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

// Starting a process, making a page and loading modules takes longer than most tests. Files without modules of their own share what one of
// them has loaded, those with a page (jsdom) also the page: each test takes away what it has put there.
const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => `src/${name.replaceAll("\\", "/")}`)
  .filter((name) => /\.test\.tsx?$/.test(name));
const which = (pattern: RegExp) => files.filter((name) => pattern.test(readFileSync(name, "utf8")));
const alone = which(/vi\.mock\(|vi\.resetModules\(/);
const page = which(/@vitest-environment jsdom/).filter((name) => !alone.includes(name));

export default defineConfig({
  test: {
    environment: "node",
    restoreMocks: true,
    maxWorkers: "100%", // of the processors; one is left out otherwise
    testTimeout: 60_000, // the last guard: a busy machine is no failure
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      { extends: true, test: { name: "page", include: page, isolate: false } },
      {
        extends: true,
        test: { name: "shared", include: files.filter((name) => !alone.includes(name) && !page.includes(name)), isolate: false },
      },
    ],
  },
});
