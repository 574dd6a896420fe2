import { createHash } from "node:crypto";
import { open, rm, utimes } from "node:fs/promises";
import { ServiceError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";

/** So much room is set aside at a time. */
const STEP_BYTES = 65_536;

export type ResultFile = Awaited<ReturnType<typeof openResultFile>>;

/**
 * A JSONL file that a batch writes. It begins empty, whatever a crash left. Each line is on its way to the disk when its write resolves.
 * @param setAside Sets so many bytes more aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full`
 */
export async function openResultFile(path: string, maxBytes: number, setAside: (bytes: number) => Promise<void>) {
  const handle = await open(path, "w", 0o600);
  const hash = createHash("sha256");
  let writing: Promise<unknown> = Promise.resolve();
  let [sizeBytes, writtenBytes, setAsideBytes] = [0, 0, 0];
  /** What the first line that found no room threw: none comes after it. */
  let full: Error | null = null;

  const append = async (bytes: Buffer): Promise<void> => {
    if (writtenBytes + bytes.length > setAsideBytes) {
      const more = Math.max(STEP_BYTES, bytes.length);
      await setAside(more);
      setAsideBytes += more;
    }
    try {
      await handle.appendFile(bytes);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== "ENOSPC" && code !== "EDQUOT") throw cause;
      throw new ServiceError("disk_full", "The coordinator has no room for the results", { cause });
    }
    writtenBytes += bytes.length;
    hash.update(bytes);
  };

  return {
    path,
    /**
     * Lines are whole and in the order of the calls.
     * @throws {ServiceError} `payload_too_large` when the file has all that it may; `file_budget_exceeded`, `disk_full`
     */
    async write(line: object): Promise<void> {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      if (sizeBytes + bytes.length > maxBytes) {
        throw new ServiceError(
          "payload_too_large",
          `The results have more than ${formatBytes(maxBytes)}, the most of a file`,
        );
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
    /** Keeps it from being cleared away as abandoned. */
    async touch(): Promise<void> {
      const now = new Date();
      await utimes(path, now, now).catch(() => undefined);
    },
    /** Call once, after all writes. The size and hash are of the lines for which there was room. */
    async close(): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
      await writing;
      // A disk that was full may have taken a part of a line.
      if (full !== null) await handle.truncate(writtenBytes);
      await handle.close();
      return { sizeBytes: writtenBytes, sha256: hash.digest("hex") };
    },
    /** Removes what was not moved to its place. */
    async [Symbol.asyncDispose](): Promise<void> {
      await writing;
      await handle.close();
      await rm(path, { force: true });
    },
  };
}
