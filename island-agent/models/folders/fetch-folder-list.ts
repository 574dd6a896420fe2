import { createHash } from "node:crypto";
import { z } from "zod";
import { modelRefSchema, type ModelRef } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { hubFileAddress, isHubAddress } from "../../../shared/model-address.ts";
import { type FetchContext, attempt } from "../download/download-attempt.ts";
import { assertSafePaths } from "./folder-files.ts";
import { parseJson, readBody } from "../download/json-body.ts";
import { describeUrl, requestModel } from "../download/model-request.ts";
import { hubRevisionUrl, hubTreeUrl, parseHubFolder, parseModelSource } from "../download/model-source.ts";
import type { IncomingHttpHeaders } from "node:http";
import { statusError } from "../download/response-status.ts";
import { RetriableError, retryDelayMs } from "../download/retriable-error.ts";

/** Maximum length of a document. */
const MAX_BYTES = 8_000_000;

/** A file of a model's folder. `path` is below the folder, with `/`. */
export interface FolderFile {
  readonly path: string;
  /** Reference to the file, whose `sizeBytes` is always set. */
  readonly ref: ModelRef & { readonly sizeBytes: number };
}

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** Maximum pages of a repository's list. The hub has about 1,000 files per page. */
const MAX_PAGES = 50;

const sizeSchema = z.number().int().nonnegative();
const revisionSchema = z.object({ sha: z.string().regex(COMMIT) });
const treeSchema = z.array(
  z.object({
    type: z.string(),
    path: z.string(),
    size: sizeSchema,
    /** Present only for large files. The hub has no SHA-256 of the others. */
    lfs: z.object({ oid: z.string(), size: sizeSchema }).optional(),
  }),
);
/** `files.json`, which an operator writes to serve a folder from any web server. */
const fileListSchema = z.object({
  files: z.array(z.object({ path: z.string(), bytes: sizeSchema, sha256: modelRefSchema.shape.sha256.unwrap() })),
});

/**
 * Lists all files of the folder that a Cargo's model names. A folder of the hub is pinned to the current commit of its
 * revision; a `files.json` is checked against the model's hash.
 * @throws {JobFailure} or `signal.reason`.
 */
export async function fetchFolderList(
  model: ModelRef,
  context: FetchContext,
  signal: AbortSignal,
): Promise<FolderFile[]> {
  return isHubAddress(model.url) ? hubFiles(model, context, signal) : listedFiles(model, context, signal);
}

async function hubFiles({ url, sha256 }: ModelRef, context: FetchContext, signal: AbortSignal): Promise<FolderFile[]> {
  const { repository, revision } = parseHubFolder(url);
  if (sha256 !== null) {
    throw new JobFailure(
      "model_invalid",
      "The model is a folder of the hub, which has no SHA-256. Remove sha256, and pin a commit as the revision of the URL",
    );
  }
  const commit = COMMIT.test(revision) ? revision : await commitOf(repository, revision, context, signal);
  const files: FolderFile[] = [];
  let page: URL | null = hubTreeUrl(context.policy, repository, commit);
  for (let pages = 0; page !== null; pages += 1) {
    if (pages === MAX_PAGES)
      throw new JobFailure("model_invalid", `${repository} has more than ${MAX_PAGES} pages of files`);
    const { body, headers } = await fetchDocument(page, context, signal);
    const parsed = treeSchema.safeParse(parseJson(body));
    if (!parsed.success) throw unreadable(page);
    for (const { type, path, size, lfs } of parsed.data) {
      if (type !== "file") continue;
      const hash = lfs !== undefined && /^[0-9a-f]{64}$/.test(lfs.oid) ? lfs.oid : null;
      files.push({
        path,
        ref: { url: hubFileAddress(repository, path, commit), sha256: hash, sizeBytes: lfs?.size ?? size },
      });
    }
    page = nextPage(page, headers.link);
  }
  return files;
}

async function commitOf(
  repository: string,
  revision: string,
  context: FetchContext,
  signal: AbortSignal,
): Promise<string> {
  const url = hubRevisionUrl(context.policy, repository, revision);
  const parsed = revisionSchema.safeParse(parseJson((await fetchDocument(url, context, signal)).body));
  if (!parsed.success) throw unreadable(url);
  return parsed.data.sha;
}

/**
 * Returns the URL of the next page (RFC 8288). Uses only the link's query, because a mirror may send the original hub's
 * address.
 */
function nextPage(page: URL, link: string | string[] | undefined): URL | null {
  const target = /<([^<>]*)>\s*;[^<]*\brel="?next\b/.exec([link ?? []].flat().join(", "))?.[1];
  const next = target === undefined ? null : URL.parse(target, page.href);
  if (next === null) return null;
  const following = new URL(page);
  following.search = next.search;
  return following;
}

async function listedFiles(model: ModelRef, context: FetchContext, signal: AbortSignal): Promise<FolderFile[]> {
  const source = parseModelSource(model.url, context.policy);
  if (source.kind !== "file") throw new JobFailure("model_invalid", `${model.url} is not the URL of a list of files`);
  const { body } = await fetchDocument(source.url, context, signal);
  const actual = createHash("sha256").update(body).digest("hex");
  if (model.sha256 !== null && actual !== model.sha256) {
    const text = `${describeUrl(source.url)} has the SHA-256 ${actual} instead of ${model.sha256}`;
    throw new JobFailure("model_hash_mismatch", text, { retryable: true });
  }
  const parsed = fileListSchema.safeParse(parseJson(body));
  if (!parsed.success) throw unreadable(source.url);
  assertSafePaths(parsed.data.files.map(({ path }) => path));
  const base = model.url.slice(0, model.url.lastIndexOf("/") + 1);
  return parsed.data.files.map(({ path, bytes, sha256 }) => {
    const encoded = path.split("/").map((segment) => encodeURIComponent(segment));
    return { path, ref: { url: `${base}${encoded.join("/")}`, sha256, sizeBytes: bytes } };
  });
}

function unreadable(url: URL): JobFailure {
  return new JobFailure("model_unavailable", `${describeUrl(url)} did not return a list of files`, {
    retryable: true,
  });
}

interface FetchedDocument {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Fetches a small document, with the same retries as a model.
 * @throws {JobFailure} or `signal.reason`.
 */
async function fetchDocument(url: URL, context: FetchContext, signal: AbortSignal): Promise<FetchedDocument> {
  const { policy, clock } = context;
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt(context, signal, (trying, watchdog) => {
        return readDocument(url, context, trying, () => watchdog.wait());
      });
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error;
      if (failures >= policy.maxAttempts) throw givenUp(url, failures, error);
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
    const body = await readBody(withByteCallback(message, onBytes), MAX_BYTES, describeUrl(url));
    return { body, headers: message.headers };
  } finally {
    message.destroy();
  }
}

async function* withByteCallback(body: AsyncIterable<Buffer>, onBytes: () => void): AsyncGenerator<Buffer, void> {
  for await (const chunk of body) {
    onBytes();
    yield chunk;
  }
}

function givenUp(url: URL, failures: number, cause: RetriableError): JobFailure {
  const message = `${describeUrl(url)} could not be read after ${failures} attempts: ${cause.message}`;
  return new JobFailure("model_unavailable", message, { retryable: true, cause });
}
