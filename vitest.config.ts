import { defineConfig } from "vitest/config";

/** Lanes by the end of a file's name; test/README.md tells which test belongs where. */
const LANES = { integration: "integration", model: "model", soak: "soak" } as const;
const lane = (name: keyof typeof LANES) => ({
  extends: true as const,
  test: { name, include: [`test/**/*.${name}.test.ts`], pool: "forks" as const },
});

export default defineConfig({
  test: {
    setupFiles: ["test/support/watch-answers.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: Object.keys(LANES).map((name) => `test/**/*.${name}.test.ts`),
          pool: "threads",
        },
      },
      lane("integration"),
      lane("model"),
      lane("soak"),
    ],
  },
});
