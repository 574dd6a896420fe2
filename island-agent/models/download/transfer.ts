import type { IncomingMessage } from "node:http";
import { JobFailure } from "../../../shared/errors.ts";
import { isSplitFile } from "../../../shared/model-address.ts";
import { attempt, type FetchContext } from "./download-attempt.ts";
import { describeUrl, requestModel, type ModelResponse } from "./model-request.ts";
import { type ModelSource, hubFileUrl, hubManifestUrl } from "./model-source.ts";
import type { PartFacts, PartFile } from "./part-file.ts";
import { statusError } from "./response-status.ts";
import { RetriableError } from "./retriable-error.ts";
import type { StallWatchdog } from "./stall-watchdog.ts";
import { z } from "zod";
import type { FetchPolicy } from "./fetch-policy.ts";
import { parseJson, readBody } from "./json-body.ts";

const MAX_MANIFEST_BYTES = 1_000_000;
const manifestSchema = z.object({ ggufFile: z.object({ rfilename: z.string().min(1).max(1_000) }) });

export interface DownloadProgress {
  readonly receivedBytes: number;
  readonly totalBytes: number | null;
  /** True if the bytes were on disk before the download, so that they do not count for its speed. */
  readonly isFromDisk?: boolean;
}

/** A model that is being downloaded. */
export interface Transfer {
  readonly key: string;
  readonly source: ModelSource;
  readonly expected: { readonly sha256: string | null; readonly bytes: number | null };
  /**
   * Reserves disk space for a file of `bytes`, of which `writtenBytes` are on disk. Called before the file grows beyond
   * the last call's value.
   * @throws {JobFailure}
   */
  readonly reserve: (bytes: number, writtenBytes: number) => Promise<void>;
  readonly onProgress: (progress: DownloadProgress) => void;
}

/**
 * Makes one attempt to complete `part`. The received bytes stay in the part, even on failure.
 * @throws {RetriableError} when the next attempt may succeed; {@link JobFailure} when not; `signal.reason` when
 * aborted.
 */
export async function tryTransfer(
  transfer: Transfer,
  part: PartFile,
  { policy, clock }: FetchContext,
  signal: AbortSignal,
): Promise<void> {
  await attempt({ policy, clock }, signal, async (signal, watchdog) => {
    const url = await resolveFileUrl(transfer.source, policy, clock.now(), signal);
    if (isComplete(part, url)) return;
    const offset = resumeOffset(transfer, part, url);
    const response = await requestModel(url, rangeHeaders(part, url, offset), policy, signal);
    try {
      watchdog.pause();
      if (response.status === 416) return await settleRange(response, part, url);
      if (response.status !== 200 && response.status !== 206) throw statusError(url, response, policy, clock.now());
      await prepare(transfer, part, response, url, offset);
      await receive(transfer, part, response, watchdog);
    } finally {
      response.message.destroy();
    }
  });
}

/** Returns the byte to resume from. Without a known hash, the request must name the part's exact version. */
function resumeOffset(transfer: Transfer, part: PartFile, url: URL): number {
  if (part.facts === null) return 0;
  return transfer.expected.sha256 !== null || strongEtag(part.facts, url) !== null ? part.bytes : 0;
}

function rangeHeaders(part: PartFile, url: URL, offset: number): Record<string, string> {
  if (offset === 0) return {};
  const etag = strongEtag(part.facts, url);
  return { range: `bytes=${offset}-`, ...(etag === null ? {} : { "if-range": etag }) };
}

/** Returns the etag if it is strong: If-Range forbids weak ones, which do not identify bytes. RFC 9110 §13.1.5. */
function strongEtag(facts: PartFacts | null, url: URL): string | null {
  return facts?.url === url.href && facts.etag?.startsWith('"') === true ? facts.etag : null;
}

function isComplete(part: PartFile, url: URL): boolean {
  return part.bytes > 0 && part.facts?.url === url.href && part.facts.totalBytes === part.bytes;
}

/** Handles a refused range, which means that all bytes are already here or the file has changed. */
async function settleRange({ message }: ModelResponse, part: PartFile, url: URL): Promise<void> {
  const total = /^bytes \*\/(\d{1,15})$/.exec(message.headers["content-range"] ?? "")?.[1];
  if (part.facts !== null && total !== undefined && Number(total) === part.bytes) {
    await part.describe({ ...part.facts, totalBytes: part.bytes });
    return;
  }
  if (part.facts !== null) await part.restart({ ...part.facts, etag: null, totalBytes: null });
  throw new RetriableError(`${describeUrl(url)} changed during the download`);
}

/** Checks the response headers against the known facts, and prepares the part and the disk for the body. */
async function prepare(
  transfer: Transfer,
  part: PartFile,
  { status, message, hub }: ModelResponse,
  url: URL,
  offset: number,
): Promise<void> {
  const encoding = message.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity")
    throw new RetriableError(`${describeUrl(url)} responded with the unexpected content-encoding ${encoding}`);
  const range = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(message.headers["content-range"] ?? "");
  const isContinued = status === 206 && offset > 0 && Number(range?.[1] ?? -1) === offset;
  if (status === 206 && !isContinued)
    throw new RetriableError(`${describeUrl(url)} responded with a different range than the requested one`);
  const announced = isContinued ? range?.[2] : message.headers["content-length"];
  const totalBytes = announced === undefined || announced === "*" ? hub.bytes : Number(announced);
  const expected = transfer.expected.bytes;
  if (expected !== null && totalBytes !== null && totalBytes !== expected) {
    throw sizeMismatch(url, totalBytes, expected);
  }
  const etag = message.headers.etag ?? null;
  const facts: PartFacts = { key: transfer.key, url: url.href, etag, totalBytes, hubSha256: hub.sha256 };
  if (!isContinued) await part.restart(facts);
  else if (!isSameVersion(part.facts, facts)) {
    await part.restart(facts);
    throw new RetriableError(`${describeUrl(url)} changed during the download`);
  }
  await transfer.reserve(Math.max(totalBytes ?? 0, expected ?? 0, part.bytes), part.bytes);
}

/** Returns whether the resumed response continues the same version of the file, as far as the server reports it. */
function isSameVersion(known: PartFacts | null, now: PartFacts): boolean {
  if (known?.url !== now.url) return true;
  const agrees = (a: unknown, b: unknown): boolean => a === null || b === null || a === b;
  return agrees(known.totalBytes, now.totalBytes) && agrees(known.hubSha256, now.hubSha256);
}

async function receive(
  transfer: Transfer,
  part: PartFile,
  { message }: ModelResponse,
  watchdog: StallWatchdog,
): Promise<void> {
  const totalBytes = part.facts?.totalBytes ?? null;
  const limit = transfer.expected.bytes ?? totalBytes;
  transfer.onProgress({ receivedBytes: part.bytes, totalBytes: limit });
  watchdog.wait();
  for await (const chunk of chunksOf(message)) {
    watchdog.pause();
    const length = part.bytes + chunk.length;
    if (limit !== null && length > limit) throw await tooLong(part, limit);
    if (limit === null) await reserveMore(transfer, part, length);
    await part.append(chunk);
    transfer.onProgress({ receivedBytes: length, totalBytes: limit });
    watchdog.wait();
  }
  if (limit !== null && part.bytes < limit)
    throw new RetriableError(`the response ended after ${part.bytes} of ${limit} bytes`);
}

/** Yields the body, including bytes received before a broken connection, which the stream would drop. */
async function* chunksOf(message: IncomingMessage): AsyncGenerator<Buffer, void> {
  try {
    yield* message as AsyncIterable<Buffer>;
  } catch (error) {
    const rest = message.read() as Buffer | null;
    if (rest !== null) yield rest;
    throw error;
  }
}

/**
 * Reserves more space. Deletes a part that has outgrown the space, since it would only take the space of other files.
 * @throws {JobFailure}
 */
async function reserveMore(transfer: Transfer, part: PartFile, length: number): Promise<void> {
  try {
    await transfer.reserve(length, part.bytes);
  } catch (error) {
    await part.discard();
    throw error;
  }
}

function sizeMismatch(url: URL, actual: number, expected: number): JobFailure {
  const text = `${describeUrl(url)} has ${actual} bytes instead of the ${expected} that the Cargo specifies`;
  return new JobFailure("model_hash_mismatch", text, { retryable: true });
}

async function tooLong(part: PartFile, limit: number): Promise<JobFailure> {
  await part.discard();
  return new JobFailure("model_hash_mismatch", `The model is longer than the expected ${limit} bytes`, {
    retryable: true,
  });
}

/**
 * Returns the URL of a source's file. Asks the hub when the source names a quantization. The hub sends the full
 * response only to llama.cpp's user agent.
 * @throws {JobFailure | RetriableError}
 */
async function resolveFileUrl(
  source: ModelSource,
  policy: FetchPolicy,
  nowMs: number,
  signal: AbortSignal,
): Promise<URL> {
  if (source.kind === "file") return source.url;
  const url = hubManifestUrl(policy, source.repository, source.tag);
  const response = await requestModel(url, { "user-agent": "llama-cpp", accept: "application/json" }, policy, signal);
  try {
    if (response.status !== 200) throw statusError(url, response, policy, nowMs);
    const manifest = manifestSchema.safeParse(
      parseJson(await readBody(response.message, MAX_MANIFEST_BYTES, "The hub's manifest")),
    );
    if (!manifest.success) throw noFile(source.repository, source.tag);
    const { rfilename } = manifest.data.ggufFile;
    if (isSplitFile(rfilename)) {
      const text = `${source.repository}:${source.tag} is split into several files, which the Cargo must list in its parts`;
      throw new JobFailure("model_invalid", text);
    }
    return hubFileUrl(policy, source.repository, rfilename, "main");
  } finally {
    response.message.destroy();
  }
}

function noFile(repository: string, tag: string): JobFailure {
  return new JobFailure("model_unavailable", `The hub names no GGUF file for ${repository}:${tag}`, {
    retryable: true,
  });
}
