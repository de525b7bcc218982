import { defineConfig } from "vitest/config";

// The tests in Chromium drive the real binary. Each file has a hub of its own, and windows of its own in the browser of its process. It spends
// much of its time waiting for one of them: two files at a time use two cores. Files share a process, and with it the modules that it has
// loaded and the browser that it has started.
export default defineConfig({
  test: {
    include: ["test/browser/**/*.test.ts"],
    environment: "node",
    maxWorkers: 2,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
