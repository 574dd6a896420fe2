import { createHash } from "node:crypto";
import { join } from "node:path";
import { ServiceError } from "../../shared/errors.ts";
import type { FileBatchError, FileBatchProgress } from "../store/files/file-batches.ts";
import type { BatchHold } from "./batch-hold.ts";
import { linesOf } from "./batch-lines.ts";
import type { FileBatchDeps } from "./file-batch-deps.ts";
import { LinePool, type UnderWay } from "./line-pool.ts";
import { ResultRoom } from "./result-room.ts";
import { ResultFile } from "./result-file.ts";

export const MAX_LINES = 50_000;
/** Longest list of errors of a batch. */
const MAX_ERRORS = 100;
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
 * Runs a batch to its end, or until it is left to others. Results are written anew each time: the jobs of lines that were answered before
 * are there, and are read again.
 */
export async function runBatch(deps: FileBatchDeps, hold: BatchHold, underWay: UnderWay): Promise<void> {
  try {
    await hold.start();
    await work(deps, hold, underWay);
  } catch (error) {
    if (hold.stopped.aborted) return;
    const { id } = hold.batch;
    if (!(error instanceof ServiceError)) deps.log.error({ err: error, file_batch_id: id }, "A batch of a file failed");
    // Who finds the lease over tries again.
    if (error instanceof ServiceError && error.code === "storage_unavailable") return;
    await end(deps, hold, { state: "failed", errors: [batchErrorOf(error)] }).catch(() => false);
  } finally {
    hold.stop();
  }
}

async function work(deps: FileBatchDeps, hold: BatchHold, underWay: UnderWay): Promise<void> {
  const { batch } = hold;
  const { accountId, request } = batch;
  const path = await inputOf(deps, hold);
  if (path === null) return void (await end(deps, hold, { state: hold.early ?? "failed", errors: [NO_INPUT] }));
  const { total, errors } = await checkLines(path, hold);
  if (errors.length > 0) return void (await end(deps, hold, { state: "failed", errors }));
  const wasFinalizing = hold.progress.state === "finalizing";
  const inProgressAtMs = hold.progress.inProgressAtMs ?? deps.clock.now();
  await hold.save({ state: "in_progress", total, inProgressAtMs });
  // Room on the disk, and the folder.
  await deps.files.receive(accountId, 0, () => Promise.resolve());
  using room = new ResultRoom(deps.files, accountId);
  await using output = await openResult(deps, hold, room, "output");
  await using failures = await openResult(deps, hold, room, "errors");
  const pool = new LinePool(deps, hold, { output, failures }, underWay);
  const full = await answerLines(pool, linesOf(path, request.endpoint));
  await hold.save({ state: "finalizing", finalizingAtMs: deps.clock.now() });
  if (wasFinalizing) await removeStored(deps, hold);
  // From here on the files count.
  room[Symbol.dispose]();
  const outputFileId = await storeResult(deps, hold, output, "output");
  const errorFileId = await storeResult(deps, hold, failures, "errors");
  const state = full === null ? (hold.early ?? "completed") : "failed";
  if (await end(deps, hold, { state, outputFileId, errorFileId, errors: full === null ? [] : [full] })) return;
  for (const id of [outputFileId, errorFileId]) {
    // Another coordinator has stored files of its own.
    if (id !== null) await deps.files.remove(accountId, id);
  }
}

/** What there was no room for, if anything: the results before it are there, and were paid for. */
async function answerLines(pool: LinePool, lines: ReturnType<typeof linesOf>): Promise<FileBatchError | null> {
  try {
    for await (const line of lines) {
      if ("error" in line) throw new Error(`Line ${line.error.line} of a file has changed`);
      await pool.add(line);
    }
    await pool.finished();
    return null;
  } catch (error) {
    if (error instanceof ServiceError && NO_ROOM.has(error.code)) return batchErrorOf(error);
    throw error;
  } finally {
    await pool.settled();
  }
}

function batchErrorOf(error: unknown): FileBatchError {
  const [code, message] = error instanceof ServiceError ? [error.code, error.message] : ["internal", "Internal error"];
  return { code, message, param: null, line: null };
}

/** False when another coordinator has the batch. */
async function end(
  { countEnd }: FileBatchDeps,
  hold: BatchHold,
  changes: Partial<FileBatchProgress>,
): Promise<boolean> {
  const isEnded = await hold.end(changes);
  if (isEnded) countEnd({ ...hold.progress, ...changes });
  return isEnded;
}

/** Where the input is; null when the disk of this coordinator does not have it. */
async function inputOf({ files, clock }: FileBatchDeps, { batch, stopped }: BatchHold): Promise<string | null> {
  const hold = { jobId: batch.id, fileId: batch.request.inputFileId };
  for (let seconds = 0; seconds < LATE_DISK_S; seconds += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const { root, name, isHere } = await files.heldContent(hold);
    if (isHere) return join(root, name);
    // oxlint-disable-next-line no-await-in-loop
    await clock.sleep(1_000, stopped);
  }
  return null;
}

/** Every line, before the first becomes a job. */
async function checkLines(path: string, hold: BatchHold): Promise<{ total: number; errors: FileBatchError[] }> {
  const errors: FileBatchError[] = [];
  const ids = new Set<string>();
  for await (const line of linesOf(path, hold.batch.request.endpoint)) {
    hold.stopped.throwIfAborted();
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

async function openResult(
  deps: FileBatchDeps,
  { batch }: BatchHold,
  room: ResultRoom,
  kind: Kind,
): Promise<ResultFile> {
  // Another name each time: a coordinator that lost its lease may still write its own.
  const name = `${batch.id}-${deps.clock.now()}-${process.pid}.${kind}`;
  const { arriving, maxFileBytes: maxBytes } = deps.files;
  return ResultFile.open(join(arriving, name), { maxBytes, setAside: (bytes) => room.setAside(bytes) });
}

/** Null for a file without lines. */
async function storeResult(
  { files }: FileBatchDeps,
  { batch }: BatchHold,
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
async function removeStored({ files }: FileBatchDeps, { batch }: BatchHold): Promise<void> {
  const list = { afterId: null, limit: NEWEST_FILES, isNewestFirst: true, purpose: "batch_output" } as const;
  const names = new Set((["output", "errors"] as const).map((kind) => filenameOf(batch.id, kind)));
  for (const { id, filename } of await files.list(batch.accountId, list)) {
    if (names.has(filename)) await files.remove(batch.accountId, id);
  }
}

function filenameOf(batchId: string, kind: Kind): string {
  return `${batchId}_${kind}.jsonl`;
}
