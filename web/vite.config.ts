import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The console is served by the hub from any path, with a policy that forbids inline scripts: all addresses are relative,
// and nothing is inlined.
export default defineConfig({
  base: "./",
  plugins: [react()],
  // The highlighter's worker loads languages on demand, as the page does.
  worker: { format: "es" },
  build: {
    outDir: "dist/app",
    emptyOutDir: true,
    target: ["chrome111", "firefox115", "safari16.4"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    chunkSizeWarningLimit: 700,
  },
});
