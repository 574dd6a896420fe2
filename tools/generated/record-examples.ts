import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { committedExamples, ExampleCheck, EXAMPLES_FILE, type RecordedCall } from "./examples.ts";

/** Tests that call every operation, some on an API with scripted parts. */
const TESTS = [
  ...["routes", "openai"].map((name) => `test/coordinator/http/${name}`),
  ...["accounts", "audits", "conversations", "islands", "jobs", "operators", "webhooks"].map(
    (name) => `test/coordinator/${name}`,
  ),
  ...["catalog/owned-cargos", "metrics/host-figures"].map((name) => `test/coordinator/${name}`),
  "test/e2e/maintenance-commands",
  "test/sdk",
];

/**
 * Runs the tests of the routes and stores their requests and responses as examples of the OpenAPI document. Examples
 * that are still valid are kept. Run it with `npm run docs:examples`.
 */
const folder = mkdtempSync(join(tmpdir(), "atoll-examples-"));
try {
  const args = ["node_modules/vitest/vitest.mjs", "run", ...TESTS];
  // oxlint-disable-next-line eslint/no-restricted-properties -- the tests that this command starts read the folder here
  spawnSync(process.execPath, args, { stdio: "inherit", env: { ...process.env, ATOLL_RECORD_EXAMPLES: folder } });
  const calls = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as RecordedCall),
  );
  const check = new ExampleCheck();
  const examples = check.renewed(committedExamples(), calls);
  writeFileSync(EXAMPLES_FILE, `${JSON.stringify(examples, null, 2)}\n`);
  const missing = check.stale(examples);
  if (missing.length > 0) {
    process.stderr.write(
      `No test records a valid example of these operations: ${missing.join(", ")}. Add a call to their tests.\n`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
