import { createHash } from "node:crypto";
import { open, rm, utimes, type FileHandle } from "node:fs/promises";
import { ServiceError } from "../../shared/errors.ts";
import { formatBytes } from "../../shared/format-bytes.ts";

/** A JSONL file that a batch writes. Each line is on its way to the disk when its write resolves. */
export class ResultFile {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #hash = createHash("sha256");
  readonly #handle: FileHandle;
  #writing: Promise<unknown> = Promise.resolve();
  #sizeBytes = 0;

  private constructor(path: string, maxBytes: number, handle: FileHandle) {
    [this.path, this.#maxBytes, this.#handle] = [path, maxBytes, handle];
  }

  /** Begins from nothing, whatever a crash left. */
  static async open(path: string, maxBytes: number): Promise<ResultFile> {
    return new ResultFile(path, maxBytes, await open(path, "w", 0o600));
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Lines are whole and in the order of the calls. @throws {ServiceError} `payload_too_large` when the file has all that it may. */
  write(line: object): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    if (this.#sizeBytes + bytes.length > this.#maxBytes) {
      const most = formatBytes(this.#maxBytes);
      return Promise.reject(
        new ServiceError("payload_too_large", `The results have more than ${most}, the most of a file`),
      );
    }
    this.#sizeBytes += bytes.length;
    this.#hash.update(bytes);
    const written = this.#writing.then(() => this.#handle.appendFile(bytes));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /** It is in use, for who clears away what was left. */
  async touch(): Promise<void> {
    const now = new Date();
    await utimes(this.path, now, now).catch(() => undefined);
  }

  /** Call once, after all writes. */
  async close(): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
    await this.#writing;
    await this.#handle.close();
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }

  /** Removes what was not moved to its place. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#handle.close();
    await rm(this.path, { force: true });
  }
}
