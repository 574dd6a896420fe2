import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { CliError } from "../../../shared/errors.ts";

/** The data directory of the current test. It does not exist at first. */
export let dataDirectory: string;

/** Creates a separate data directory for each test. Each file must call it once. */
export function useDataDirectory(): void {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "atoll-commands-"));
    dataDirectory = join(directory, "data");
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
}

/** Returns the message of a command that fails. The message must be one line. */
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
