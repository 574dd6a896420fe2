import type { IncomingHttpHeaders } from "node:http";
import { JobFailure } from "../../../shared/errors.ts";
import { attempt, type FetchContext } from "./download-attempt.ts";
import { readBody } from "./json-body.ts";
import { describeUrl, requestModel } from "./model-request.ts";
import { statusError } from "./response-status.ts";
import { RetriableError, retryDelayMs } from "./retriable-error.ts";

/** Longest document. */
const MAX_BYTES = 8_000_000;

export interface FetchedDocument {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Fetches a small document, with the same retries as a model.
 * @throws {JobFailure} or `signal.reason`.
 */
export async function fetchDocument(url: URL, context: FetchContext, signal: AbortSignal): Promise<FetchedDocument> {
  const { policy, clock } = context;
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt(context, signal, (trying, watchdog) => {
        return readDocument(url, context, trying, () => watchdog.wait());
      });
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error;
      if (failures >= policy.tries) throw givenUp(url, failures, error);
      await clock.sleep(retryDelayMs(failures, error, policy), signal);
    }
  }
}

async function readDocument(
  url: URL,
  { policy, clock }: FetchContext,
  signal: AbortSignal,
  onBytes: () => void,
): Promise<FetchedDocument> {
  const { status, message, hub } = await requestModel(url, { accept: "application/json" }, policy, signal);
  try {
    onBytes();
    if (status !== 200) throw statusError(url, { status, message, hub }, policy, clock.now());
    const body = await readBody(noticed(message, onBytes), MAX_BYTES, describeUrl(url));
    return { body, headers: message.headers };
  } finally {
    message.destroy();
  }
}

async function* noticed(body: AsyncIterable<Buffer>, onBytes: () => void): AsyncGenerator<Buffer, void> {
  for await (const chunk of body) {
    onBytes();
    yield chunk;
  }
}

function givenUp(url: URL, failures: number, cause: RetriableError): JobFailure {
  const message = `${describeUrl(url)} could not be read after ${failures} attempts: ${cause.message}`;
  return new JobFailure("model_unavailable", message, { retryable: true, cause });
}
