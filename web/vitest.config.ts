import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
    environment: "node",
    restoreMocks: true,
    maxWorkers: "100%", // of the processors; one is left out otherwise
    testTimeout: 60_000, // the last guard: a busy machine is no failure
  },
});
