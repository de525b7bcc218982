import { defineConfig } from "vitest/config";

// The tests in Chromium drive the real binary. Files run one after the other: there are two cores, and each file has a hub of its own.
export default defineConfig({
  test: {
    include: ["test/browser/**/*.test.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
