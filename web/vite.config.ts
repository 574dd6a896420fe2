import { join } from "node:path";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the coordinator may be below a path prefix of a proxy.
  base: "./",
  // The client's sources, so that the console builds without a build of the client.
  resolve: { alias: { "@atoll/client": join(import.meta.dirname, "..", "sdk", "typescript", "src", "index.ts") } },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // The strict content policy allows no `data:` fonts or scripts.
    assetsInlineLimit: 0,
    // Each file of the first load is one that the page's HTML names.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
