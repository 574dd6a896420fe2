import { join } from "node:path";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { FetchContext } from "./download-attempt.ts";
import { isOutOfSpace, PartFile } from "./part-file.ts";
import { RetriableError, retryDelayMs } from "./retriable-error.ts";
import { tryTransfer, type Transfer } from "./transfer.ts";

/** Minimum gain over the best attempt to reset the attempts. Otherwise a server could cause endless retries. */
const PROGRESS_BYTES = MIB;

export interface Download extends Transfer {
  readonly directory: string;
  /** File name without extension, derived only from the key. */
  readonly stem: string;
  readonly fileName: string;
}

type OpenPart = (stem: string, key: string, signal: AbortSignal) => Promise<PartFile>;

/**
 * Downloads and verifies a model: resumes, retries, checks size and hash, renames. A failure or an abort keeps the part
 * for later, except after a wrong hash or size, and on a disk that became full. Rejects only after files and sockets
 * are closed. The part's facts stay with the finished file, so that it can be identified after a crash. The caller
 * removes them when it has recorded the file.
 * @returns the length of the file.
 * @throws {JobFailure} or `signal.reason`.
 */
export async function downloadModel(
  download: Download,
  context: FetchContext,
  signal: AbortSignal,
  openPart: OpenPart = (stem, key, opening) =>
    PartFile.open(stem, key, opening, (receivedBytes) =>
      download.onProgress({ receivedBytes, totalBytes: download.expected.bytes, isFromDisk: true }),
    ),
): Promise<number> {
  const part = await openPart(join(download.directory, download.stem), download.key, signal);
  try {
    await download.reserve(Math.max(download.expected.bytes ?? 0, part.bytes), part.bytes);
    await transferWithRetries(download, part, context, signal);
    await verify(download, part);
    await part.commit(join(download.directory, download.fileName));
    return part.bytes;
  } catch (error) {
    const isUseless = part.bytes === 0 || (error instanceof JobFailure && isOutOfSpace(error.cause ?? error));
    await (isUseless ? part.discard() : part.close());
    throw error;
  }
}

async function transferWithRetries(
  download: Download,
  part: PartFile,
  context: FetchContext,
  signal: AbortSignal,
): Promise<void> {
  const { policy, clock } = context;
  let best = part.bytes;
  for (let failures = 0; ;) {
    try {
      await tryTransfer(download, part, context, signal);
      return;
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error;
      const hasProgressed = part.bytes >= best + PROGRESS_BYTES;
      best = Math.max(best, part.bytes);
      failures = hasProgressed ? 1 : failures + 1;
      if (failures >= policy.maxAttempts) throw givenUp(failures, error);
      await clock.sleep(retryDelayMs(failures, error, policy), signal);
    }
  }
}

/** Deletes a part with wrong bytes, because it cannot be resumed. */
async function verify({ expected }: Download, part: PartFile): Promise<void> {
  const bytes = part.bytes;
  if (expected.bytes !== null && bytes !== expected.bytes) {
    await part.discard();
    throw hashMismatch(`has ${bytes} bytes instead of the ${expected.bytes} that the Cargo specifies`);
  }
  const sha256 = expected.sha256 ?? part.facts?.hubSha256 ?? null;
  const actual = part.digest();
  if (sha256 === null || actual === sha256) return;
  await part.discard();
  throw hashMismatch(`has the SHA-256 ${actual} instead of ${sha256}`);
}

function hashMismatch(text: string): JobFailure {
  return new JobFailure("model_hash_mismatch", `The downloaded model ${text}`, { retryable: true });
}

function givenUp(failures: number, cause: RetriableError): JobFailure {
  const message = `The model could not be downloaded after ${failures} attempts: ${cause.message}`;
  return new JobFailure("model_unavailable", message, { retryable: true, cause });
}
