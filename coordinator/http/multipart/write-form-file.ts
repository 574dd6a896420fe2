import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { BusboyFileStream } from "@fastify/busboy";
import { ServiceError } from "../../../shared/errors.ts";

/** A file of a form, complete on disk. */
export interface FormFile {
  readonly field: string;
  /** As the client gave it, without folders; empty if it gave none. Never a path here. */
  readonly filename: string;
  /** As the client gave it. */
  readonly contentType: string;
  /** Temporary: who wants to keep it moves it away before the form is disposed of. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Errors of a disk, or of a quota on it, that has no room left. */
const FULL = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Writes what `stream` brings to a new file. `signal` ends it with its reason.
 * @throws {ServiceError} `payload_too_large` if the parser cut the stream at its limit; `disk_full`; `bad_request` if the stream breaks.
 */
export async function writeFormFile(
  stream: BusboyFileStream,
  file: Omit<FormFile, "sizeBytes" | "sha256">,
  maxBytes: number,
  signal: AbortSignal,
): Promise<FormFile> {
  const stop = (): void => void stream.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  const tooLarge = new ServiceError("payload_too_large", `A file may have at most ${maxBytes} bytes`);
  stream.once("limit", () => void stream.destroy(tooLarge));
  // The parser tells of a body that ends too soon by an event, which the loop below may not listen for yet.
  stream.on("error", () => undefined);
  try {
    await using handle = await open(file.path, "wx", 0o600);
    const hash = createHash("sha256");
    let sizeBytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      for (let rest = chunk; rest.length > 0;) rest = rest.subarray((await handle.write(rest)).bytesWritten);
    }
    return { ...file, sizeBytes, sha256: hash.digest("hex") };
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw new ServiceError("bad_request", "The form ends in the middle of a file", { cause });
    if (FULL.has(code)) throw new ServiceError("disk_full", "The coordinator has no room for the file", { cause });
    throw cause;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
