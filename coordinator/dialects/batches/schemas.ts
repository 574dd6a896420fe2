import { z } from "@hono/zod-openapi";
import { FILE_BATCH_STATES, type FileBatch, type FileBatchState } from "../../store/files/file-batches.ts";
import { openAiPageOf, queryInt } from "../../http/schemas/pagination.ts";
import { fileLifeSchema, presentUnixTime, presentUnixTimeOrNull } from "../../http/schemas/wire-units.ts";

const MAX_METADATA = 16;
const MAX_METADATA_KEY_CHARS = 64;
const MAX_METADATA_VALUE_CHARS = 512;
const MAX_BATCHES_OF_PAGE = 100;
const DEFAULT_BATCHES_OF_PAGE = 20;

const metadataSchema = z
  .record(z.string().max(MAX_METADATA_KEY_CHARS), z.string().max(MAX_METADATA_VALUE_CHARS))
  .refine((value) => Object.keys(value).length <= MAX_METADATA, `must have at most ${MAX_METADATA} entries`);

export const batchBodySchema = z
  .object({
    input_file_id: z.string().max(100).describe("Id of a JSONL file with the purpose `batch`"),
    endpoint: z.string().max(100).describe("Endpoint of every line"),
    completion_window: z.literal("24h"),
    metadata: metadataSchema.nullish(),
    output_expires_after: z
      .object({ anchor: z.literal("created_at"), seconds: fileLifeSchema })
      .nullish()
      .describe("Lifetime of the result files, at most the coordinator's retention of files"),
  })
  .openapi("CreateFileBatch");

export const batchListQuery = z.object({
  after: z.string().max(100).optional().describe("Id of the last batch of the previous page"),
  limit: queryInt(1, MAX_BATCHES_OF_PAGE, DEFAULT_BATCHES_OF_PAGE),
});

const secondsSchema = z.int().nullable().describe("Unix time in seconds; null if it has not happened");

export const batchSchema = z
  .object({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.string(),
    errors: z
      .object({
        object: z.literal("list"),
        data: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            param: z.string().nullable(),
            line: z.int().nullable().describe("Line number, from 1; null if the error concerns the whole file"),
          }),
        ),
      })
      .nullable()
      .describe("Why the batch failed"),
    input_file_id: z.string(),
    completion_window: z.literal("24h"),
    status: z.enum(FILE_BATCH_STATES),
    output_file_id: z.string().nullable().describe("File of the lines that succeeded"),
    error_file_id: z.string().nullable().describe("File of the lines that failed"),
    created_at: z.int(),
    in_progress_at: secondsSchema,
    expires_at: z.int(),
    finalizing_at: secondsSchema,
    completed_at: secondsSchema,
    failed_at: secondsSchema,
    expired_at: secondsSchema,
    cancelling_at: secondsSchema,
    cancelled_at: secondsSchema,
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    metadata: z.record(z.string(), z.string()).nullable(),
  })
  .openapi("FileBatch");

export const batchListSchema = openAiPageOf(batchSchema).openapi("FileBatchList");

export function presentBatch(batch: FileBatch): z.infer<typeof batchSchema> {
  const { request, progress, endedAtMs, cancellingAtMs } = batch;
  const { errors, total, completed, failed } = progress;
  const isCancelling = endedAtMs === null && cancellingAtMs !== null;
  const endedIn = (state: FileBatchState): number | null =>
    progress.state === state ? presentUnixTimeOrNull(endedAtMs) : null;
  return {
    id: batch.id,
    object: "batch",
    endpoint: request.endpoint,
    errors: errors.length === 0 ? null : { object: "list", data: [...errors] },
    input_file_id: request.inputFileId,
    completion_window: request.completionWindow,
    status: isCancelling ? "cancelling" : progress.state,
    output_file_id: progress.outputFileId,
    error_file_id: progress.errorFileId,
    created_at: presentUnixTime(batch.createdAtMs),
    in_progress_at: presentUnixTimeOrNull(progress.inProgressAtMs),
    expires_at: presentUnixTime(batch.expiresAtMs),
    finalizing_at: presentUnixTimeOrNull(progress.finalizingAtMs),
    completed_at: endedIn("completed"),
    failed_at: endedIn("failed"),
    expired_at: endedIn("expired"),
    cancelling_at: presentUnixTimeOrNull(cancellingAtMs),
    cancelled_at: endedIn("cancelled"),
    request_counts: { total, completed, failed },
    metadata: request.metadata,
  };
}
