import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { CliError } from "../../../shared/errors.ts";

/** The data directory of the present test. It does not exist yet. */
export let dataDirectory: string;

/** Gives each test of the file a data directory of its own. Called once by each file. */
export function useDataDirectory(): void {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "atoll-commands-"));
    dataDirectory = join(directory, "data");
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
}

/** What the user of a command that fails is told: one line. */
export async function messageOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => "it did not fail",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CliError);
  const { message } = error as CliError;
  expect(message).not.toContain("\n");
  return message;
}
