import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Variable that names the directory, for the workers. */
export const RUN_DIRECTORY = "ATOLL_TEST_RUN_DIRECTORY";

/**
 * Vitest's global setup. It creates a directory that all workers of this run share. Every lane calls it, and the first
 * one creates the directory.
 */
export default function makeRunDirectory(): (() => void) | undefined {
  if (process.env[RUN_DIRECTORY] !== undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), "atoll-run-"));
  process.env[RUN_DIRECTORY] = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}

export function runDirectory(): string {
  const directory = process.env[RUN_DIRECTORY];
  if (directory === undefined)
    throw new Error(`${RUN_DIRECTORY} is not set: vitest.config.ts names this file as its global setup`);
  return directory;
}
