import { createHash, randomUUID, type Hash } from "node:crypto";
import { mkdir, open, readFile, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { JobFailure } from "../../shared/errors.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { withValueAt, type JobFile } from "../../shared/job-files.ts";
import { attempt } from "../models/download/download-attempt.ts";
import type { FetchPolicy } from "../models/download/fetch-policy.ts";
import { parseRetryAfterMs, RetriableError, retryDelayMs } from "../models/download/retriable-error.ts";
import type { RunRequest } from "../runtimes/runtime.ts";

/** Time limit for all files of a job, with all attempts. */
const MAX_FETCH_MS = 1_800_000;
/** An attempt that receives fewer bytes counts as an attempt without progress. */
const PROGRESS_BYTES = 65_536;
/** Maximum size of an input with its files, as JSON. Host processes accept messages of 64 MiB. */
const MAX_FILLED_BYTES = 56 * MIB;
/** Statuses after which an attempt is not repeated: the address has expired, or was never valid for this Island. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 422]);

/** Files of one job on disk. Disposing removes them. */
export interface FetchedFiles extends AsyncDisposable {
  /** Total size of all files. */
  readonly bytes: number;
  /** Inserts the content of each file. @throws {JobFailure} `invalid_input` for text that is not UTF-8. */
  putInto(input: RunRequest["input"]): Promise<RunRequest["input"]>;
}

/** A partly fetched file. */
interface Part {
  readonly handle: FileHandle;
  hash: Hash;
  bytes: number;
}

/**
 * Removes leftover files of an earlier agent process.
 * @returns a function that fetches the files named in a job's input from the coordinator into temporary files.
 */
export async function openJobFiles(options: {
  /** Folder for fetched files only; emptied at the start. */
  readonly directory: string;
  /** Address of the coordinator, timeouts and retries. */
  readonly policy: FetchPolicy;
  /** Access token of the Island, sent to the coordinator. */
  readonly token: string;
  readonly clock: Clock;
}) {
  await rm(options.directory, { recursive: true, force: true });

  /**
   * Fetches files one after the other. Resumes each after a lost connection, and checks its size and SHA-256. Leaves no
   * files on failure.
   * @param onProgress called for each chunk that arrives.
   * @throws {JobFailure} `file_unavailable`, retryable; `signal.reason`.
   */
  async function fetchAll(
    files: readonly JobFile[],
    signal: AbortSignal,
    onProgress: () => void,
  ): Promise<FetchedFiles> {
    const directory = join(options.directory, randomUUID());
    const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
    const end = new AbortController();
    const limit = options.clock.schedule(MAX_FETCH_MS, () =>
      end.abort(unavailable("did not arrive within 30 minutes")),
    );
    try {
      await onDisk(() => mkdir(directory, { recursive: true, mode: 0o700 }));
      const fetched: { file: JobFile; path: string }[] = [];
      for (const [index, file] of files.entries()) {
        const path = join(directory, String(index));
        await fetchOne(file, path, AbortSignal.any([signal, end.signal]), onProgress);
        fetched.push({ file, path });
      }
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      return { bytes, putInto: (input) => putInto(input, fetched), [Symbol.asyncDispose]: remove };
    } catch (error) {
      await remove();
      throw error;
    } finally {
      limit.cancel();
    }
  }

  async function fetchOne(file: JobFile, path: string, signal: AbortSignal, onProgress: () => void): Promise<void> {
    const { policy, clock } = options;
    await using handle = await onDisk(() => open(path, "wx", 0o600));
    const part: Part = { handle, hash: createHash("sha256"), bytes: 0 };
    let best = 0;
    for (let failures = 0; part.bytes < file.bytes;) {
      try {
        await receive(file, part, signal, onProgress);
      } catch (error) {
        if (!(error instanceof RetriableError)) throw error;
        failures = part.bytes >= best + PROGRESS_BYTES ? 1 : failures + 1;
        best = Math.max(best, part.bytes);
        if (failures >= policy.maxAttempts) throw unavailable(`could not be downloaded: ${error.message}`, error);
        await clock.sleep(retryDelayMs(failures, error, policy), signal);
      }
    }
    if (part.hash.digest("hex") !== file.sha256) throw unavailable("has a SHA-256 that differs from the announced one");
  }

  /** Makes one attempt. The received bytes stay in `part`. */
  function receive(file: JobFile, part: Part, signal: AbortSignal, onProgress: () => void): Promise<void> {
    return attempt(options, signal, async (trying, watchdog) => {
      const body = await request(file, part, trying);
      watchdog.wait();
      for await (const chunk of chunksOf(body, trying)) {
        watchdog.pause();
        if (part.bytes + chunk.length > file.bytes)
          throw unavailable(`is longer than the announced ${file.bytes} bytes`);
        await onDisk(() => part.handle.write(chunk, 0, chunk.length, part.bytes));
        part.hash.update(chunk);
        part.bytes += chunk.length;
        onProgress();
        watchdog.wait();
      }
      if (part.bytes < file.bytes)
        throw new RetriableError(`the response ended after ${part.bytes} of ${file.bytes} bytes`);
    });
  }

  async function request({ address }: JobFile, part: Part, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { policy, token, clock } = options;
    const coordinator = policy.currentCoordinator();
    if (coordinator === null) throw unavailable("cannot be downloaded: the Island is not joined to a coordinator");
    const headers = { authorization: `Bearer ${token}`, "accept-encoding": "identity" };
    const range = part.bytes === 0 ? {} : { range: `bytes=${part.bytes}-` };
    const url = `${coordinator.origin}${coordinator.pathname.replace(/\/+$/, "")}${address}`;
    // A redirect would send the token to another server.
    const response = await fetch(url, { headers: { ...headers, ...range }, redirect: "error", signal }).catch(
      (cause: unknown) => {
        throw new RetriableError("the coordinator could not be reached", { cause });
      },
    );
    const { status, body } = response;
    const isContinued = status === 206 && startOf(response) === part.bytes;
    if (body !== null && (isContinued || status === 200)) {
      if (!isContinued) [part.bytes, part.hash] = [0, createHash("sha256")];
      return body;
    }
    await body?.cancel();
    if (FINAL_STATUSES.has(status)) throw unavailable(`was refused by the coordinator (HTTP ${status})`);
    const retryAfterMs = parseRetryAfterMs(response.headers.get("retry-after") ?? undefined, clock.now());
    throw new RetriableError(`the coordinator responded with status ${status}`, { retryAfterMs });
  }

  return fetchAll;
}

export type FetchJobFiles = Awaited<ReturnType<typeof openJobFiles>>;

async function putInto(
  input: RunRequest["input"],
  fetched: readonly { readonly file: JobFile; readonly path: string }[],
): Promise<RunRequest["input"]> {
  let [filled, bytes] = [input, 0];
  for (const { file, path } of fetched) {
    const content = await onDisk(() => readFile(path));
    const value = file.form === "base64" ? content.toString("base64") : textOf(content, file.at);
    bytes += file.form === "base64" ? value.length : Buffer.byteLength(JSON.stringify(value));
    if (bytes > MAX_FILLED_BYTES)
      throw new JobFailure(
        "invalid_input",
        `The files of the input together exceed ${MAX_FILLED_BYTES / MIB} MiB as JSON`,
      );
    filled = withValueAt(filled, file.at, value);
  }
  return filled;
}

function textOf(content: Uint8Array, at: readonly string[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch (cause) {
    throw new JobFailure("invalid_input", `${at.join(".")}: the file must be UTF-8 text`, { cause });
  }
}

/** Yields the chunks of a body. A broken connection is a {@link RetriableError}. */
async function* chunksOf(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await chunks.next().catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new RetriableError("the connection was interrupted", { cause });
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await chunks.return?.().catch(() => undefined);
  }
}

/** Returns the first byte position of a partial response. */
function startOf({ headers }: Response): number | null {
  const start = /^bytes (\d{1,15})-/.exec(headers.get("content-range") ?? "")?.[1];
  return start === undefined ? null : Number(start);
}

async function onDisk<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    throw unavailable("could not be stored on the Island's disk", cause);
  }
}

/** Returns a retryable failure: another Island may be able to fetch the file. */
function unavailable(what: string, cause?: unknown): JobFailure {
  return new JobFailure("file_unavailable", `A file of the job ${what}`, { retryable: true, cause });
}
