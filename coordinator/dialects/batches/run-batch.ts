import { createHash } from "node:crypto";
import { join } from "node:path";
import { every } from "../../../shared/async/every.ts";
import type { Clock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Env } from "../../env.ts";
import type { Files } from "../../files/open-files.ts";
import type { FileBatchError } from "../../store/files/file-batches.ts";
import { answerLines, type AskLine, type LinesInFlight } from "./answer-lines.ts";
import type { BatchLease } from "./batch-lease.ts";
import { linesOf } from "./input-lines.ts";
import { openResultFile, type ResultFile } from "./result-file.ts";

export const MAX_LINES = 50_000;
/** Longest list of errors of a batch. */
const MAX_ERRORS = 100;
/** Files that are not touched for an hour are cleared away. */
const TOUCH_EVERY_MS = 600_000;
/** A disk that coordinators share may show a file later than the coordinator that got it. */
const LATE_DISK_S = 30;
const NO_INPUT: FileBatchError = {
  code: "file_unavailable",
  message: "The disk of the coordinator does not have the content of the input file",
  param: "input_file_id",
  line: null,
};
/** What a result is refused with when the account, its file or the disk has all that it may. */
const NO_ROOM: ReadonlySet<string> = new Set(["file_budget_exceeded", "payload_too_large", "disk_full"]);
/** Of the account's files, to look for results in that a coordinator stored before it died. */
const NEWEST_FILES = 1_000;

/**
 * Runs a batch to its end, or until it is left to others. Results are written again each time: the jobs of lines that were answered
 * before are stored, and are read again.
 */
export async function runBatch(
  env: Env,
  files: Files,
  ask: AskLine,
  lease: BatchLease,
  inFlight: LinesInFlight,
): Promise<void> {
  try {
    await lease.start();
    await work(env, files, ask, lease, inFlight);
  } catch (error) {
    if (lease.stopped.aborted) return;
    const { id } = lease.batch;
    if (!(error instanceof ServiceError)) env.log.error({ err: error, file_batch_id: id }, "A batch of a file failed");
    // The coordinator that finds the lease expired tries again.
    if (error instanceof ServiceError && error.code === "storage_unavailable") return;
    await lease.end({ state: "failed", errors: [batchErrorOf(error)] }).catch(() => false);
  } finally {
    lease.stop();
  }
}

async function work(
  { clock, log }: Env,
  files: Files,
  ask: AskLine,
  lease: BatchLease,
  inFlight: LinesInFlight,
): Promise<void> {
  const { accountId, request } = lease.batch;
  const path = await inputOf(clock, files, lease);
  if (path === null) return void (await lease.end({ state: lease.early ?? "failed", errors: [NO_INPUT] }));
  const { total, errors } = await checkLines(path, lease);
  if (errors.length > 0) return void (await lease.end({ state: "failed", errors }));
  const wasFinalizing = lease.progress.state === "finalizing";
  const inProgressAtMs = lease.progress.inProgressAtMs ?? clock.now();
  await lease.save({ state: "in_progress", total, inProgressAtMs });
  // Room on the disk, and the folder.
  await files.receive(accountId, 0, () => Promise.resolve());
  using reservation = reserveResultSpace(files, accountId);
  const openResult = (kind: Kind): Promise<ResultFile> => {
    // Another name each time: a coordinator that lost its lease may still write its own.
    const name = `${lease.batch.id}-${clock.now()}-${process.pid}.${kind}`;
    return openResultFile(join(files.arriving, name), files.maxFileBytes, reservation.setAside);
  };
  await using output = await openResult("output");
  await using failures = await openResult("errors");
  every({ clock, log, stop: lease.stopped }, TOUCH_EVERY_MS, "touch the results of a batch", () =>
    Promise.all([output.touch(), failures.touch()]),
  );
  let full: FileBatchError | null = null;
  try {
    await answerLines(clock, ask, lease, { output, failures }, inFlight, linesOf(path, request.endpoint));
  } catch (error) {
    // The results before it are there, and were paid for.
    if (!(error instanceof ServiceError && NO_ROOM.has(error.code))) throw error;
    full = batchErrorOf(error);
  }
  await lease.save({ state: "finalizing", finalizingAtMs: clock.now() });
  if (wasFinalizing) await removeStored(files, lease);
  // From here on the files count.
  reservation[Symbol.dispose]();
  const outputFileId = await storeResult(files, lease, output, "output");
  const errorFileId = await storeResult(files, lease, failures, "errors");
  const state = full === null ? (lease.early ?? "completed") : "failed";
  if (await lease.end({ state, outputFileId, errorFileId, errors: full === null ? [] : [full] })) return;
  for (const id of [outputFileId, errorFileId]) {
    // Another coordinator has stored files of its own.
    if (id !== null) await files.remove(accountId, id);
  }
}

function batchErrorOf(error: unknown): FileBatchError {
  const [code, message] = error instanceof ServiceError ? [error.code, error.message] : ["internal", "Internal error"];
  return { code, message, param: null, line: null };
}

/** Where the input is; null when the disk of this coordinator does not have it. */
async function inputOf(clock: Clock, files: Files, { batch, stopped }: BatchLease): Promise<string | null> {
  const hold = { jobId: batch.id, fileId: batch.request.inputFileId };
  for (let seconds = 0; seconds < LATE_DISK_S; seconds += 1) {
    const { root, name, isHere } = await files.heldContent(hold);
    if (isHere) return join(root, name);
    await clock.sleep(1_000, stopped);
  }
  return null;
}

/** Every line, before the first becomes a job. */
async function checkLines(path: string, lease: BatchLease): Promise<{ total: number; errors: FileBatchError[] }> {
  const errors: FileBatchError[] = [];
  const ids = new Set<string>();
  for await (const line of linesOf(path, lease.batch.request.endpoint)) {
    lease.stopped.throwIfAborted();
    if ("error" in line) errors.push(line.error);
    else if (ids.has(digestOf(line.customId))) {
      const message = `The custom_id is that of an earlier line: ${line.customId}`;
      errors.push({ code: "duplicate_custom_id", message, param: "custom_id", line: line.number });
    } else ids.add(digestOf(line.customId));
    if (ids.size > MAX_LINES) {
      errors.push({
        code: "too_many_requests",
        message: `A batch has at most ${MAX_LINES} requests`,
        param: null,
        line: null,
      });
    }
    if (errors.length >= MAX_ERRORS || ids.size > MAX_LINES) return { total: ids.size, errors };
  }
  if (ids.size === 0 && errors.length === 0) {
    errors.push({ code: "empty_file", message: "The file has no requests", param: null, line: null });
  }
  return { total: ids.size, errors };
}

/** Short, whatever clients choose: 50,000 of them are in memory. */
function digestOf(customId: string): string {
  return createHash("sha256").update(customId).digest("base64");
}

type Kind = "output" | "errors";

/** Room of an account that the results of a batch grow into, until they are files. Disposing of it gives the room back. */
function reserveResultSpace(files: Files, accountId: string) {
  const disposed = Promise.withResolvers<void>();
  return {
    /** Resolves when so many bytes more are set aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
    setAside: (bytes: number) =>
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

/** Null for a file without lines. */
async function storeResult(
  files: Files,
  { batch }: BatchLease,
  result: ResultFile,
  kind: Kind,
): Promise<string | null> {
  const { sizeBytes, sha256 } = await result.close();
  if (sizeBytes === 0) return null;
  const { accountId, request } = batch;
  const { id } = await files.receive(accountId, sizeBytes, () =>
    files.add(accountId, {
      path: result.path,
      filename: filenameOf(batch.id, kind),
      purpose: "batch_output",
      sizeBytes,
      sha256,
      expiresAfterMs: request.outputExpiresAfterMs,
    }),
  );
  return id;
}

/** Files of the batch that a coordinator stored and then died. */
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
