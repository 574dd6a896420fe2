import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import type { UploadPart, UploadRecord } from "../store/upload-store.ts";
import type { FileContents } from "./file-contents.ts";

/** Memory of one join. */
const CHUNK_BYTES = 1_048_576;

export interface Joined {
  readonly sizeBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Hexadecimal; null if nobody asked. */
  readonly md5: string | null;
}

/**
 * Writes the files at `paths` one after the other to a new file, a chunk at a time. `signal` ends it with its reason.
 * @throws {ServiceError} `disk_full`. Other errors of the disk pass through.
 */
export async function joinParts(
  paths: readonly string[],
  target: string,
  { hasMd5, signal }: { readonly hasMd5: boolean; readonly signal: AbortSignal },
): Promise<Joined> {
  const sha256 = createHash("sha256");
  const md5 = hasMd5 ? createHash("md5") : null;
  let sizeBytes = 0;
  try {
    await using handle = await open(target, "wx", 0o600);
    for (const path of paths) {
      // One after the other: they are one file.
      // oxlint-disable-next-line no-await-in-loop
      for await (const chunk of createReadStream(path, {
        highWaterMark: CHUNK_BYTES,
        signal,
      }) as AsyncIterable<Buffer>) {
        sha256.update(chunk);
        md5?.update(chunk);
        sizeBytes += chunk.length;
        for (let rest = chunk; rest.length > 0;) rest = rest.subarray((await handle.write(rest)).bytesWritten);
      }
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw signal.aborted ? signal.reason : cause;
    throw new ServiceError("disk_full", "The coordinator has no room for the file", { cause });
  }
  return { sizeBytes, sha256: sha256.digest("hex"), md5: md5?.digest("hex") ?? null };
}

/** Where the parts are, in this order. @throws {ValidationError} for parts that the upload does not have, or that are not the whole file. */
export function partPaths(
  contents: Pick<FileContents, "partPath">,
  { id, sizeBytes }: UploadRecord,
  partIds: readonly string[],
  parts: readonly UploadPart[],
): string[] {
  const sizes = new Map(parts.map((part) => [part.id, part.sizeBytes]));
  const missing = partIds.flatMap((partId, index) =>
    sizes.has(partId) ? [] : [{ path: `part_ids.${index}`, message: "is no part of this upload" }],
  );
  if (missing.length > 0) throw new ValidationError(missing);
  const bytes = partIds.reduce((sum, partId) => sum + (sizes.get(partId) ?? 0), 0);
  if (bytes !== sizeBytes) {
    const message = `have ${bytes} bytes together; the upload was announced with ${sizeBytes}`;
    throw new ValidationError([{ path: "part_ids", message }]);
  }
  return partIds.map((partId) => contents.partPath(id, partId));
}
