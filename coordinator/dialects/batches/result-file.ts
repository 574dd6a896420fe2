import { createHash } from "node:crypto";
import { open, rm, utimes, type FileHandle } from "node:fs/promises";
import { ServiceError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";

/** So much room is set aside at a time. */
const STEP_BYTES = 65_536;

/** Sets so many bytes more aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
export type SetAside = (bytes: number) => Promise<void>;

export interface ResultLimits {
  readonly maxBytes: number;
  readonly setAside: SetAside;
}

/** A JSONL file that a batch writes. Each line is on its way to the disk when its write resolves. */
export class ResultFile {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #setAside: SetAside;
  readonly #hash = createHash("sha256");
  readonly #handle: FileHandle;
  #writing: Promise<unknown> = Promise.resolve();
  #sizeBytes = 0;
  #writtenBytes = 0;
  #setAsideBytes = 0;
  /** What the first line that found no room threw: none comes after it. */
  #full: Error | null = null;

  private constructor(path: string, handle: FileHandle, { maxBytes, setAside }: ResultLimits) {
    [this.path, this.#handle, this.#maxBytes, this.#setAside] = [path, handle, maxBytes, setAside];
  }

  /** Begins from nothing, whatever a crash left. */
  static async open(path: string, limits: ResultLimits): Promise<ResultFile> {
    return new ResultFile(path, await open(path, "w", 0o600), limits);
  }

  /**
   * Lines are whole and in the order of the calls.
   * @throws {ServiceError} `payload_too_large` when the file has all that it may; `file_budget_exceeded`, `disk_full`
   */
  write(line: object): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    if (this.#sizeBytes + bytes.length > this.#maxBytes) {
      const most = formatBytes(this.#maxBytes);
      return Promise.reject(
        new ServiceError("payload_too_large", `The results have more than ${most}, the most of a file`),
      );
    }
    this.#sizeBytes += bytes.length;
    const written = this.#writing.then(() => this.#append(bytes));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #append(bytes: Buffer): Promise<void> {
    if (this.#full !== null) throw this.#full;
    try {
      await this.#appendWhole(bytes);
    } catch (error) {
      this.#full ??= error as Error;
      throw error;
    }
  }

  async #appendWhole(bytes: Buffer): Promise<void> {
    if (this.#writtenBytes + bytes.length > this.#setAsideBytes) {
      const more = Math.max(STEP_BYTES, bytes.length);
      await this.#setAside(more);
      this.#setAsideBytes += more;
    }
    try {
      await this.#handle.appendFile(bytes);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== "ENOSPC" && code !== "EDQUOT") throw cause;
      throw new ServiceError("disk_full", "The coordinator has no room for the results", { cause });
    }
    this.#writtenBytes += bytes.length;
    this.#hash.update(bytes);
  }

  /** It is in use, for who clears away what was left. */
  async touch(): Promise<void> {
    const now = new Date();
    await utimes(this.path, now, now).catch(() => undefined);
  }

  /** Call once, after all writes. Of the lines for which there was room. */
  async close(): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
    await this.#writing;
    // A disk that was full may have taken a part of a line.
    if (this.#full !== null) await this.#handle.truncate(this.#writtenBytes);
    await this.#handle.close();
    return { sizeBytes: this.#writtenBytes, sha256: this.#hash.digest("hex") };
  }

  /** Removes what was not moved to its place. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#handle.close();
    await rm(this.path, { force: true });
  }
}
