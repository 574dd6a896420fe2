import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Lanes by the end of a file's name; test/README.md says which test belongs where. */
const LANES = ["isolated", "integration", "model", "soak"] as const;

// Node.js keeps compiled code here: the programs that tests start, and the workers, load in half the time.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "compiled");

const lane = (name: (typeof LANES)[number], more: object = {}) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/**/*.${name}.test.ts`],
    setupFiles: ["test/support/watch-answers.ts", "node_modules/.cpu-setup.ts"],
    pool: "forks" as const,
    ...more,
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: LANES.map((name) => `test/**/*.${name}.test.ts`),
          pool: "threads",
          // Files share the modules that they load. One that mocks modules or changes globals is named x.isolated.test.ts.
          isolate: false,
        },
      },
      lane("isolated", { pool: "threads", setupFiles: [] }),
      lane("integration"),
      lane("model"),
      lane("soak"),
    ],
  },
});
