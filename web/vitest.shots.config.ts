import { defineConfig } from "vitest/config";

// The pictures of docs/media/console and docs/media/story. They are taken by hand (make screenshots) and committed.
export default defineConfig({
  test: {
    include: ["test/shots/**/*.test.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
