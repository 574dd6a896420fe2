import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileDurably } from "../disk/durable-file.ts";

/** Name of the file that exists after an agent has ended without a command, until the next one starts. */
const FILE_NAME = "stopped.json";
const MAX_REASON_CHARS = 2_000;
const lastEndSchema = z.object({ reason: z.string().max(MAX_REASON_CHARS), atMs: z.number() });

/** Reason and time of the previous agent's end, if another start would fail for the same reason. */
type LastEnd = z.infer<typeof lastEndSchema>;

export async function storeLastEnd(dataDirectory: string, { reason, atMs }: LastEnd): Promise<void> {
  const end: LastEnd = { reason: reason.slice(0, MAX_REASON_CHARS), atMs };
  await writeFileDurably(join(dataDirectory, FILE_NAME), JSON.stringify(end));
}

export async function forgetLastEnd(dataDirectory: string): Promise<void> {
  await rm(join(dataDirectory, FILE_NAME), { force: true });
}

/** Returns null when a command stopped the previous agent, or the file cannot be read. */
export async function readLastEnd(dataDirectory: string): Promise<LastEnd | null> {
  try {
    return lastEndSchema.parse(JSON.parse(await readFile(join(dataDirectory, FILE_NAME), "utf8")));
  } catch {
    return null;
  }
}
