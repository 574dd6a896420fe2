import { join } from "node:path";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // The base is relative, because a proxy may serve the coordinator below a path prefix.
  base: "./",
  // Use the client's sources, so that the console does not need a built client.
  resolve: { alias: { "@atoll/client": join(import.meta.dirname, "..", "sdk", "typescript", "src", "index.ts") } },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // The content security policy blocks `data:` fonts and scripts.
    assetsInlineLimit: 0,
    // The page's HTML names every file of the first load.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
