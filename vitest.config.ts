import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Lanes by the end of a file's name; test/README.md says which test belongs where. */
const LANES = ["isolated", "integration", "smoke", "model", "soak", "system", "clients"] as const;
/** Slowest files, started first so that none is still running when all others have finished. */
const LONGEST = [
  "test/packages/packages.system.test.ts",
  "test/island-agent/runtimes/container/engine/containers.system.test.ts",
  "test/soak/faults/engines.system.test.ts",
  "test/cluster/killed.system.test.ts",
  "test/cluster/cut-off.system.test.ts",
  "test/soak/faults/killed-runtimes.soak.test.ts",
  "test/liars/liars.soak.test.ts",
  "test/soak/attacks/schema-attacks.soak.test.ts",
  "test/e2e/repeated-jobs.model.test.ts",
  "test/sdk/python.system.test.ts",
  "test/cluster/audits.system.test.ts",
  "test/coordinator/store/postgres/postgres-store.system.test.ts",
  "test/e2e/demo-endings.soak.test.ts",
  "test/e2e/faults.soak.test.ts",
  "test/e2e/telemetry.system.test.ts",
  "test/island-agent/runtimes/llmcpp/llmcpp-isolation.model.test.ts",
  "test/island-agent/runtimes/onnx/onnx-hostile.model.test.ts",
  "test/e2e/demo.smoke.test.ts",
  "test/e2e/commands/cli.integration.test.ts",
  "test/e2e/signed-cargos.integration.test.ts",
  "test/e2e/runtimes.smoke.test.ts",
  "test/e2e/package.integration.test.ts",
  "test/coordinator/islands/flood.integration.test.ts",
  "test/island-agent/runtimes/wasm/wasm-runtime.integration.test.ts",
  "test/island-agent/runtimes/wasm/wasm-isolation.integration.test.ts",
];

// Cache of compiled code, which halves the start of workers and programs.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "compiled");
// Some tests load ONNX Runtime into their worker, which would send telemetry.
process.env["ORT_DISABLE_TELEMETRY"] = "1";

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((path) => moduleId.endsWith(path));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

const GLOBAL_SETUP = ["run-directory", "compile-hosts", "servers/test-store-server"].map(
  (name) => `test/support/${name}.ts`,
);
const lane = (name: string, more: object = {}) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/**/*.${name}.test.ts`],
    setupFiles: ["test/support/http/watch-responses.ts"],
    pool: "forks" as const,
    ...more,
  },
});

export default defineConfig({
  test: {
    // Two more than the cores of a typical machine, because many tests wait for a timer, a disk or a process.
    maxWorkers: 4,
    // Only for hangs, because a busy machine is slow.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          // Clients of tests have packages with tests of their own.
          exclude: [...LANES.map((name) => `test/**/*.${name}.test.ts`), "**/node_modules/**"],
          pool: "threads",
          // Files share the modules that they load. One that mocks modules or changes globals is named x.isolated.test.ts.
          isolate: false,
        },
      },
      lane("isolated", { pool: "threads", setupFiles: [] }),
      // Integration tests share workers: what a file opens it closes.
      lane("integration", { isolate: false, globalSetup: GLOBAL_SETUP }),
      lane("smoke", { isolate: false, globalSetup: GLOBAL_SETUP }),
      lane("model", { isolate: false, globalSetup: GLOBAL_SETUP }),
      lane("soak", { globalSetup: GLOBAL_SETUP }),
      lane("system", { globalSetup: GLOBAL_SETUP }),
      // Needs packages that only test/clients/main.ts installs. Libraries there call the API from this process, with parameters of their own.
      // They are repeated, because other lanes use the same cores: a chat without output for 5 s gets status 200 before it can fail.
      ...(process.env["ATOLL_TEST_CLIENTS"] === undefined ? [] : [lane("clients", { setupFiles: [], retry: 2 })]),
    ],
  },
});
