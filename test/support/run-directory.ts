import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const VARIABLE = "ATOLL_TEST_RUN_DIRECTORY";

/** Vitest's global setup: a directory that all workers of this run share. */
export default function makeRunDirectory(): () => void {
  const directory = mkdtempSync(join(tmpdir(), "atoll-run-"));
  process.env[VARIABLE] = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}

export function runDirectory(): string {
  const directory = process.env[VARIABLE];
  if (directory === undefined)
    throw new Error(`${VARIABLE} is not set: vitest.config.ts names this file as its global setup`);
  return directory;
}
