import { defineConfig } from "vitest/config";

// The tests in Chromium drive the real binary. Each file has a hub and a browser of its own, and spends much of its time waiting for one of
// them: two files at a time use two cores.
export default defineConfig({
  test: {
    include: ["test/browser/**/*.test.ts"],
    environment: "node",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
