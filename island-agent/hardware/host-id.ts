import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { CliError } from "../../shared/errors.ts";
import { createFileDurably } from "../disk/durable-file.ts";

const HOST_ID_FILE = "host-id";

/**
 * Thrown when the host-id file does not contain a valid id. The id is not replaced, because earnings and history belong
 * to it.
 */
export class HostIdError extends CliError {
  override readonly name = "HostIdError";
  readonly path: string;
  constructor(path: string) {
    super(`${path}: must contain a UUID. Restore the file from a backup, or delete it to register as a new host`);
    this.path = path;
  }
}

/**
 * Returns this host's id, created at the first call and kept in the data directory. Random, because a machine's own id
 * is the same in every clone of a disk image.
 * @throws {HostIdError}
 */
export async function loadHostId(dataDirectory: string): Promise<string> {
  const kept = await readHostId(dataDirectory);
  if (kept !== null) return kept;
  const path = join(dataDirectory, HOST_ID_FILE);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await createFileDurably(path, `${randomUUID()}\n`);
  // Another process may have created it first.
  return parseHostId(path, (await readText(path)) ?? "");
}

/** Reads this host's id; null before the first start. @throws {HostIdError} */
export async function readHostId(dataDirectory: string): Promise<string | null> {
  const path = join(dataDirectory, HOST_ID_FILE);
  const kept = await readText(path);
  return kept === null ? null : parseHostId(path, kept);
}

/** Deletes the id, so that the next start creates a new host. */
export function forgetHostId(dataDirectory: string): Promise<void> {
  return rm(join(dataDirectory, HOST_ID_FILE), { force: true });
}

function parseHostId(path: string, text: string): string {
  const parsed = z.uuid().safeParse(text.trim());
  if (!parsed.success) throw new HostIdError(path);
  return parsed.data.toLowerCase();
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
