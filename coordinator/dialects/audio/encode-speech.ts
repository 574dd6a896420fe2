import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ServiceError } from "../../../shared/errors.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import type { EncodedSpeech, EncodingRequest } from "./speech-worker.ts";

/** Recordings that are encoded at a time: the event loop and storage need the other cores. */
const MAX_THREADS = 1;
/** A minute of speech takes well under a second. */
const LIMIT_MS = 30_000;
const HEAP_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Encodes what Cargos speak, in a thread of its own for each recording.
 * @returns encodes one. @throws {ServiceError} `job_failed` for what is not a WAV file or takes too long. @throws `signal.reason` when
 *   aborted before its turn.
 */
export function speechEncoder() {
  const threads = new Semaphore<null>(MAX_THREADS);
  return async (request: EncodingRequest, signal: AbortSignal): Promise<EncodedSpeech> => {
    await threads.acquire(null, signal);
    try {
      return await encodeInThread(request);
    } finally {
      threads.release();
    }
  };
}

async function encodeInThread(request: EncodingRequest): Promise<EncodedSpeech> {
  const file = new URL(`./speech-worker.${import.meta.url.slice(-2)}`, import.meta.url);
  const thread = new Worker(file, { workerData: request, env: {}, resourceLimits: HEAP_LIMITS });
  try {
    const [encoded] = await once(thread, "message", { signal: AbortSignal.timeout(LIMIT_MS) });
    return encoded as EncodedSpeech;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("job_failed", `The Cargo's output cannot be encoded: ${reason}`, { cause });
  } finally {
    await thread.terminate();
  }
}
