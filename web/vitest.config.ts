import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

// Files that need neither a page nor modules of their own share the modules that one of them has loaded: starting a process and loading
// modules takes longer than most of these tests.
const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => `src/${name.replaceAll("\\", "/")}`)
  .filter((name) => /\.test\.tsx?$/.test(name));
const alone = files.filter((name) => /@vitest-environment|vi\.mock\(|vi\.resetModules\(/.test(readFileSync(name, "utf8")));

export default defineConfig({
  test: {
    environment: "node",
    restoreMocks: true,
    maxWorkers: "100%", // of the processors; one is left out otherwise
    testTimeout: 60_000, // the last guard: a busy machine is no failure
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      { extends: true, test: { name: "shared", include: files.filter((name) => !alone.includes(name)), isolate: false } },
    ],
  },
});
