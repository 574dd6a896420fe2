import { z } from "@hono/zod-openapi";
import { submitterOf } from "../../accounts/identity.ts";
import { routeGroup, type RouteGroup } from "../../http/route-group.ts";
import { openAiPageOf, presentOpenAiPage, queryInt } from "../../http/schemas/pagination.ts";
import { json } from "../../http/schemas/responses.ts";
import { FILE_BATCH_STATES, type FileBatch, type FileBatchState } from "../../store/files/file-batches.ts";
import { fileLifeSchema, presentUnixTime, presentUnixTimeOrNull } from "../../http/schemas/wire-units.ts";
import type { Batches } from "./open-batches.ts";

const MAX_METADATA = 16;

const metadataSchema = z
  .record(z.string().max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= MAX_METADATA, `must have at most ${MAX_METADATA} entries`);

const batchBodySchema = z
  .object({
    input_file_id: z.string().max(100).describe("Id of a JSONL file with the purpose `batch`"),
    endpoint: z
      .string()
      .max(100)
      .describe("Endpoint of every line; docs/use/files-and-batches.md lists those that batches support"),
    completion_window: z.literal("24h"),
    metadata: metadataSchema.nullish(),
    output_expires_after: z
      .object({ anchor: z.literal("created_at"), seconds: fileLifeSchema })
      .nullish()
      .describe("Lifetime of the result files, at most the coordinator's retention of files"),
  })
  .openapi("CreateFileBatch");

const batchListQuery = z.object({
  after: z.string().max(100).optional().describe("Id of the last batch of the previous page"),
  limit: queryInt(1, 100, 20),
});

const secondsSchema = z.int().nullable().describe("Unix time in seconds; null if it has not happened");
const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  line: z.int().nullable().describe("Line number, from 1; null if the error concerns the whole file"),
});

const batchSchema = z
  .object({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.string(),
    errors: z
      .object({ object: z.literal("list"), data: z.array(errorSchema) })
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

const batchListSchema = openAiPageOf(batchSchema).openapi("FileBatchList");

function presentBatch(batch: FileBatch): z.infer<typeof batchSchema> {
  const { request, progress, endedAtMs, cancellingAtMs } = batch;
  const { errors, total, completed, failed } = progress;
  const isCancelling = endedAtMs === null && cancellingAtMs !== null;
  const endedIn = (state: FileBatchState) => (progress.state === state ? presentUnixTimeOrNull(endedAtMs) : null);
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

/** Routes of OpenAI's batches, which differ from those of `POST /jobs/batch`. */
export const batchRoutes = (batches: Batches): RouteGroup =>
  routeGroup("/batches", { tag: "Files", style: "openai" }, (routes) => {
    routes.post("", {
      id: "createFileBatch",
      is: "Run every request of a JSONL file",
      about:
        "Each line of the file is a request to the endpoint and runs as its jobs. The file is validated in the background, and the results are files. To submit jobs of one Cargo directly, use `POST /jobs/batch`.",
      access: "write",
      isCompatible: true,
      body: batchBodySchema,
      responses: { 200: json(batchSchema, "The batch is stored durably") },
    })(async ({ identity, body }) => {
      const life = body.output_expires_after;
      const batch = await batches.create(identity.accountId, {
        endpoint: body.endpoint,
        inputFileId: body.input_file_id,
        completionWindow: body.completion_window,
        metadata: body.metadata ?? null,
        outputExpiresAfterMs: life == null ? null : life.seconds * 1_000,
        apiKey: submitterOf(identity).apiKey,
      });
      return presentBatch(batch);
    });

    routes.get("", {
      id: "listFileBatches",
      is: "List batches, newest first",
      access: "read",
      query: batchListQuery,
      responses: { 200: json(batchListSchema, "A page of batches") },
    })(async ({ identity, query }) => {
      const { after: afterId = null, limit } = query;
      const found = await batches.list(identity.accountId, { afterId, limit: limit + 1 });
      return presentOpenAiPage(found.map(presentBatch), limit);
    });

    routes.get("/{id}", {
      id: "getFileBatch",
      is: "Get a batch and its progress",
      access: "read",
      responses: { 200: json(batchSchema, "The batch") },
      fails: [404],
    })(async ({ identity, params }) => presentBatch(await batches.get(identity.accountId, params.id)));

    routes.post("/{id}/cancel", {
      id: "cancelFileBatch",
      is: "Cancel a batch",
      about: "Results of finished lines stay in the result files. No-op if the batch has ended.",
      access: "write",
      responses: {
        200: json(batchSchema, "The batch, whose status is `cancelling`, or its final status if it had ended"),
      },
      fails: [404],
    })(async ({ identity, params }) => presentBatch(await batches.cancel(identity.accountId, params.id)));
  });
