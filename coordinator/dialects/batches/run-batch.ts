import { createHash } from "node:crypto";
import { join } from "node:path";
import { every } from "../../../shared/async/every.ts";
import type { Clock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Env } from "../../env.ts";
import type { Files } from "../../files/open-files.ts";
import type { FileBatchError } from "../../store/files/file-batches.ts";
import type { BatchLease } from "./batch-lease.ts";
import { readLines } from "./input-lines.ts";
import { openResultFile, type ResultFile } from "./result-file.ts";
import { runLines, type CallEndpoint, type LinesInFlight } from "./run-lines.ts";

export const MAX_LINES = 50_000;
const MAX_ERRORS = 100;
/** Interval of touching the result files. A file that is not touched for an hour is removed. */
const TOUCH_EVERY_MS = 600_000;
/** Maximum wait for the input in seconds: a shared disk may show a file later at other coordinators. */
const MAX_DISK_DELAY_S = 30;
const NO_INPUT: FileBatchError = {
  code: "file_unavailable",
  message: "The coordinator's disk does not have the content of the input file. Upload it again",
  param: "input_file_id",
  line: null,
};
const DOES_NOT_FIT: ReadonlySet<string> = new Set(["file_budget_exceeded", "payload_too_large", "disk_full"]);
/** Number of the account's newest files that are searched for results stored before a crash of a coordinator. */
const NEWEST_FILES = 1_000;

/**
 * Runs a batch until it ends or is left to another coordinator. Each run writes the results from the beginning, and
 * reads the stored jobs of lines that an earlier run submitted.
 */
export async function runBatch(
  env: Env,
  files: Files,
  call: CallEndpoint,
  lease: BatchLease,
  inFlight: LinesInFlight,
): Promise<void> {
  try {
    await lease.start();
    await work(env, files, call, lease, inFlight);
  } catch (error) {
    if (lease.stopped.aborted) return;
    const { id } = lease.batch;
    if (!(error instanceof ServiceError)) env.log.error({ err: error, file_batch_id: id }, "A file batch failed");
    // The batch stays open. The coordinator that finds its lease expired runs it again.
    if (error instanceof ServiceError && error.code === "storage_unavailable") return;
    await lease.end({ state: "failed", errors: [batchErrorOf(error)] }).catch(() => false);
  } finally {
    lease.stop();
  }
}

async function work(
  { clock, log }: Env,
  files: Files,
  call: CallEndpoint,
  lease: BatchLease,
  inFlight: LinesInFlight,
): Promise<void> {
  const { accountId, request } = lease.batch;
  const path = await findInput(clock, files, lease);
  if (path === null) return void (await lease.end({ state: lease.abortReason ?? "failed", errors: [NO_INPUT] }));
  const { total, errors } = await checkLines(path, lease);
  if (errors.length > 0) return void (await lease.end({ state: "failed", errors }));
  const wasFinalizing = lease.progress.state === "finalizing";
  const inProgressAtMs = lease.progress.inProgressAtMs ?? clock.now();
  await lease.save({ state: "in_progress", total, inProgressAtMs });
  // Receiving 0 bytes checks the free space and creates the folder.
  await files.receive(accountId, 0, () => Promise.resolve());
  using reservation = reserveResultSpace(files, accountId);
  const openResult = (kind: Kind): Promise<ResultFile> => {
    // Each run uses another file name, because a coordinator that lost its lease may still write its own file.
    const name = `${lease.batch.id}-${clock.now()}-${process.pid}.${kind}`;
    return openResultFile(join(files.arriving, name), files.maxFileBytes, reservation.reserve);
  };
  await using output = await openResult("output");
  await using failures = await openResult("errors");
  every({ clock, log, stop: lease.stopped }, TOUCH_EVERY_MS, "touch the results of a batch", () =>
    Promise.all([output.touch(), failures.touch()]),
  );
  let full: FileBatchError | null = null;
  try {
    await runLines(clock, call, lease, { output, failures }, inFlight, readLines(path, request.endpoint));
  } catch (error) {
    // The results so far are complete and were charged, so they are kept.
    if (!(error instanceof ServiceError && DOES_NOT_FIT.has(error.code))) throw error;
    full = batchErrorOf(error);
  }
  await lease.save({ state: "finalizing", finalizingAtMs: clock.now() });
  if (wasFinalizing) await removeStored(files, lease);
  // The reservation ends here: the stored files count for the budget instead.
  reservation[Symbol.dispose]();
  const outputFileId = await storeResult(files, lease, output, "output");
  const errorFileId = await storeResult(files, lease, failures, "errors");
  const state = full === null ? (lease.abortReason ?? "completed") : "failed";
  if (await lease.end({ state, outputFileId, errorFileId, errors: full === null ? [] : [full] })) return;
  for (const id of [outputFileId, errorFileId]) {
    // Another coordinator ended the batch and has stored its own files.
    if (id !== null) await files.remove(accountId, id);
  }
}

function batchErrorOf(error: unknown): FileBatchError {
  const [code, message] = error instanceof ServiceError ? [error.code, error.message] : ["internal", "Internal error"];
  return { code, message, param: null, line: null };
}

/** Returns the path of the input file; null if this coordinator's disk does not have it in time. */
async function findInput(clock: Clock, files: Files, { batch, stopped }: BatchLease): Promise<string | null> {
  const hold = { jobId: batch.id, fileId: batch.request.inputFileId };
  for (let seconds = 0; seconds < MAX_DISK_DELAY_S; seconds += 1) {
    const { root, name, isHere } = await files.heldContent(hold);
    if (isHere) return join(root, name);
    await clock.sleep(1_000, stopped);
  }
  return null;
}

/** Validates all lines before the first becomes a job. Returns their number and the errors. */
async function checkLines(path: string, lease: BatchLease): Promise<{ total: number; errors: FileBatchError[] }> {
  const errors: FileBatchError[] = [];
  const ids = new Set<string>();
  const wrong = (code: string, message: string): void => void errors.push({ code, message, param: null, line: null });
  for await (const line of readLines(path, lease.batch.request.endpoint)) {
    lease.stopped.throwIfAborted();
    if ("error" in line) errors.push(line.error);
    else if (ids.has(digestOf(line.customId))) {
      const message = `Each custom_id must be unique; an earlier line has "${line.customId}"`;
      errors.push({ code: "duplicate_custom_id", message, param: "custom_id", line: line.number });
    } else ids.add(digestOf(line.customId));
    if (ids.size > MAX_LINES)
      wrong("too_many_requests", `The file has more than ${MAX_LINES} requests. Split it into several batches`);
    if (errors.length >= MAX_ERRORS || ids.size > MAX_LINES) return { total: ids.size, errors };
  }
  if (ids.size === 0 && errors.length === 0)
    wrong("empty_file", "The file has no requests. Write one JSON object in each line");
  return { total: ids.size, errors };
}

/** Returns a hash of bounded length: 50,000 of them are in memory. */
function digestOf(customId: string): string {
  return createHash("sha256").update(customId).digest("base64");
}

type Kind = "output" | "errors";

/** Reserves space in the account's budget until the results are stored as files. Disposing of it releases the space. */
function reserveResultSpace(files: Files, accountId: string) {
  const disposed = Promise.withResolvers<void>();
  return {
    /** Resolves when `bytes` more are reserved. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
    reserve: (bytes: number) =>
      new Promise<void>((resolve, reject) => {
        const held = files.receive(accountId, bytes, () => {
          resolve();
          return disposed.promise;
        });
        held.catch(reject);
      }),
    [Symbol.dispose]: () => disposed.resolve(),
  };
}

/** Stores a result as a file of the account and returns its id; null for a result without lines. */
async function storeResult(
  files: Files,
  { batch }: BatchLease,
  result: ResultFile,
  kind: Kind,
): Promise<string | null> {
  const { path } = result;
  const { sizeBytes, sha256 } = await result.close();
  if (sizeBytes === 0) return null;
  const { accountId, request } = batch;
  const life = { purpose: "batch_output" as const, expiresAfterMs: request.outputExpiresAfterMs };
  const file = { path, filename: filenameOf(batch.id, kind), sizeBytes, sha256, ...life };
  const { id } = await files.receive(accountId, sizeBytes, () => files.add(accountId, file));
  return id;
}

/** Removes result files of the batch that a coordinator stored before it crashed. */
async function removeStored(files: Files, { batch }: BatchLease): Promise<void> {
  const list = { afterId: null, limit: NEWEST_FILES, isNewestFirst: true, purpose: "batch_output" } as const;
  const names = new Set((["output", "errors"] as const).map((kind) => filenameOf(batch.id, kind)));
  for (const { id, filename } of await files.list(batch.accountId, list)) {
    if (names.has(filename)) await files.remove(batch.accountId, id);
  }
}

function filenameOf(batchId: string, kind: Kind): string {
  return `${batchId}_${kind}.jsonl`;
}
