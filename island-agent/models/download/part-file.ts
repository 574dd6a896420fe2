import { createHash, type Hash } from "node:crypto";
import { open, readFile, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { DiskFullError } from "../../disk/disk-full-error.ts";
import { syncDirectory, writeFileDurably } from "../../disk/durable-file.ts";

const partFactsSchema = z.object({
  key: z.string(),
  /** Address of the bytes before redirects, which have short-lived signatures. */
  url: z.string(),
  etag: z.string().nullable(),
  totalBytes: z.number().int().nonnegative().nullable(),
  /** Hash from the hub; null when it sent none. */
  hubSha256: z.string().nullable(),
});
/** Facts that identify a part, kept in a small separate file. */
export type PartFacts = z.infer<typeof partFactsSchema>;

/** Length of one read while an existing part is hashed. */
const READ_BYTES = MIB;

export function partPath(stem: string): string {
  return `${stem}.part`;
}

function factsPath(stem: string): string {
  return `${stem}.part.json`;
}

/** Reads the facts of a part; null when they are missing or damaged, which makes the part unusable. */
export async function readPartFacts(stem: string): Promise<PartFacts | null> {
  try {
    const parsed = partFactsSchema.safeParse(JSON.parse(await readFile(factsPath(stem), "utf8")));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw diskFailure(error);
  }
}

/**
 * A download in progress: the bytes so far and their running hash. Its file is complete up to `bytes` at any time, so
 * that it can be resumed after a crash. `stem` is the path without extension. All methods throw a {@link JobFailure}
 * for disk errors.
 */
export class PartFile {
  readonly #stem: string;
  readonly #file: FileHandle;
  #hash: Hash = createHash("sha256");
  #bytes = 0;
  #facts: PartFacts | null = null;
  #isOpen = true;

  private constructor(stem: string, file: FileHandle) {
    this.#stem = stem;
    this.#file = file;
  }

  /** Opens or creates the part and hashes its bytes, its progress. A part of another key starts empty. */
  static async open(
    stem: string,
    key: string,
    signal: AbortSignal,
    onProgress: (bytes: number) => void = () => undefined,
  ): Promise<PartFile> {
    const facts = await readPartFacts(stem);
    const part = new PartFile(stem, await orDiskFailure(open(partPath(stem), "a+", 0o600)));
    try {
      if (facts?.key === key) await part.#takeOver(facts, signal, onProgress);
      else await orDiskFailure(part.#file.truncate(0));
      return part;
    } catch (error) {
      await part.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Null before the first response of a server. */
  get facts(): PartFacts | null {
    return this.#facts;
  }

  /** Empties the part for the bytes that `facts` describes. */
  async restart(facts: PartFacts): Promise<void> {
    await orDiskFailure(this.#file.truncate(0));
    this.#hash = createHash("sha256");
    this.#bytes = 0;
    await this.describe(facts);
  }

  async describe(facts: PartFacts): Promise<void> {
    this.#facts = facts;
    await orDiskFailure(writeFileDurably(factsPath(this.#stem), JSON.stringify(facts)));
  }

  async append(chunk: Uint8Array): Promise<void> {
    for (let written = 0; written < chunk.length;) {
      const { bytesWritten } = await orDiskFailure(this.#file.write(chunk, written));
      written += bytesWritten;
    }
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  /** Returns the SHA-256 of the bytes so far, lower-case hex. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Renames the part to `path`, durably. Its facts stay. */
  async commit(path: string): Promise<void> {
    await orDiskFailure(this.#file.sync());
    await this.close();
    await orDiskFailure(rename(partPath(this.#stem), path));
    await orDiskFailure(syncDirectory(dirname(path)));
  }

  /** Deletes the part; it has 0 bytes from then on. */
  async discard(): Promise<void> {
    this.#bytes = 0;
    await this.close();
    await removePart(this.#stem);
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await orDiskFailure(this.#file.close());
  }

  async #takeOver(facts: PartFacts, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<void> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await orDiskFailure(this.#file.read(buffer, 0, buffer.length, this.#bytes));
      if (bytesRead === 0) break;
      this.#hash.update(buffer.subarray(0, bytesRead));
      this.#bytes += bytesRead;
      onProgress(this.#bytes);
    }
    this.#facts = facts;
  }
}

export async function removePart(stem: string): Promise<void> {
  await orDiskFailure(rm(partPath(stem), { force: true }));
  await orDiskFailure(rm(factsPath(stem), { force: true }));
}

async function orDiskFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw diskFailure(error);
  }
}

/** Returns the failure for a disk error. It is retryable, because another Island, or this one later, may have space. */
export function diskFailure(cause: unknown): JobFailure {
  const { message } = cause as NodeJS.ErrnoException;
  if (isOutOfSpace(cause)) {
    const advice = "free space, or raise models.min_free_gb to reject downloads earlier";
    return new DiskFullError(`The disk of the model store is full: ${advice}`, cause);
  }
  return new JobFailure("model_unavailable", `Cannot use the model store: ${message}`, { retryable: true, cause });
}

/** Returns whether the disk, or the user's quota, has no space left. */
export function isOutOfSpace(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT";
}
