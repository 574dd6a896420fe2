import { randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { CliError } from "../../shared/errors.ts";
import { syncDirectory } from "../disk/durable-file.ts";

const HOST_ID_FILE = "host-id";

/** The file with this host's identity holds something else. It is not replaced: earnings and history belong to the id. */
export class HostIdError extends CliError {
  override readonly name = "HostIdError";
  readonly path: string;
  constructor(path: string) {
    super(`${path} does not hold a UUID. Restore it from a backup, or delete it to become a new host`);
    this.path = path;
  }
}

/**
 * This host's id, made at the first call and kept in the data directory, readable by its owner only. Random and not
 * derived from the machine, whose own id is the same in every clone of a disk image.
 * @throws {HostIdError}
 */
export async function loadHostId(dataDirectory: string): Promise<string> {
  const path = join(dataDirectory, HOST_ID_FILE);
  const kept = await readText(path);
  if (kept !== null) return parseHostId(path, kept);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await createHostId(dataDirectory, path);
  // Read again: another process may have been first.
  return parseHostId(path, (await readText(path)) ?? "");
}

/** Puts a complete file in place in one step, unless there is one. */
async function createHostId(dataDirectory: string, path: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(`${randomUUID()}\n`);
    await file.sync();
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
  await syncDirectory(dataDirectory);
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
