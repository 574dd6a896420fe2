import { createHash } from "node:crypto";
import { open, rm, utimes } from "node:fs/promises";
import { ServiceError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";

const STEP_BYTES = 65_536;

export type ResultFile = Awaited<ReturnType<typeof openResultFile>>;

/** Opens an empty JSONL file for the results of a batch. Calls `reserve` before the file needs more bytes. */
export async function openResultFile(path: string, maxBytes: number, reserve: (bytes: number) => Promise<void>) {
  const handle = await open(path, "w", 0o600);
  const hash = createHash("sha256");
  let writing: Promise<unknown> = Promise.resolve();
  let [sizeBytes, writtenBytes, reservedBytes] = [0, 0, 0];
  /** Error of the first line that did not fit, after which no line is written; null before. */
  let full: Error | null = null;

  const append = async (bytes: Buffer): Promise<void> => {
    if (writtenBytes + bytes.length > reservedBytes) {
      const more = Math.max(STEP_BYTES, bytes.length);
      await reserve(more);
      reservedBytes += more;
    }
    try {
      await handle.appendFile(bytes);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== "ENOSPC" && code !== "EDQUOT") throw cause;
      const message = "The coordinator's disk is too full for the results. Its operator must free space";
      throw new ServiceError("disk_full", message, { cause });
    }
    writtenBytes += bytes.length;
    hash.update(bytes);
  };

  return {
    path,
    /**
     * Writes a line. Each line is written as a whole, in the order of the calls.
     * @throws {ServiceError} `payload_too_large`, `file_budget_exceeded`, `disk_full`
     */
    async write(line: object): Promise<void> {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      if (sizeBytes + bytes.length > maxBytes) {
        const message = `The results are larger than ${formatBytes(maxBytes)}, the maximum of a file. Split the batch`;
        throw new ServiceError("payload_too_large", message);
      }
      sizeBytes += bytes.length;
      const written = writing.then(async () => {
        if (full !== null) throw full;
        await append(bytes).catch((error: Error) => {
          full = error;
          throw error;
        });
      });
      writing = written.catch(() => undefined);
      return written;
    },
    /** Updates the file's time, which keeps the file from being removed as abandoned. */
    async touch(): Promise<void> {
      const now = new Date();
      await utimes(path, now, now).catch(() => undefined);
    },
    /** Closes the file after all writes. Returns the size and the hash of the lines that fitted. */
    async close(): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
      await writing;
      // A full disk may have accepted only part of the last line, which is removed.
      if (full !== null) await handle.truncate(writtenBytes);
      await handle.close();
      return { sizeBytes: writtenBytes, sha256: hash.digest("hex") };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await writing;
      await handle.close();
      await rm(path, { force: true });
    },
  };
}
