import { defineConfig } from "vitest/config";

// How fast the console is. Nothing is asserted: figures of one machine are no rule for another.
export default defineConfig({
  test: {
    include: ["test/bench/**/*.bench.test.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    disableConsoleIntercept: true,
  },
});
