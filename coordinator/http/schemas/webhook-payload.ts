import { z } from "@hono/zod-openapi";
import { KIB } from "../../../shared/format-bytes.ts";
import type { BatchStore } from "../../store/jobs/batches.ts";
import type { JobStore } from "../../store/jobs/jobs.ts";
import { LargeJson } from "../../store/jobs/large-json.ts";
import type { WebhookRecord } from "../../store/jobs/webhooks.ts";
import { batchSchema, presentBatch } from "./batch-schemas.ts";
import type { HttpApp } from "../http-deps.ts";
import { detailSchema, presentDetail } from "./job-schemas.ts";
import { bodyWithExample, type Tag } from "../openapi/documented-route.ts";
import { presentTime, timeSchema } from "./wire-units.ts";

/** Maximum output in a webhook, as JSON. The receiver fetches a larger one by the job's id. */
const MAX_WEBHOOK_OUTPUT_BYTES = 256 * KIB;

const jobEventSchema = z
  .object({
    type: z.enum(["job.completed", "job.failed", "job.cancelled", "job.timeout"]),
    timestamp: timeSchema,
    data: detailSchema.omit({ input: true, webhook: true, waiting: true, placement: true, verification: true }).extend({
      output_omitted: z.boolean().describe("The output is too large for a webhook; read it from GET /jobs/{id}"),
    }),
  })
  .openapi("JobWebhook");

const batchEventSchema = z
  .object({ type: z.literal("batch.finished"), timestamp: timeSchema, data: batchSchema.omit({ webhook: true }) })
  .openapi("BatchWebhook");

/** Returns a function that makes a webhook's body from the stored job or batch: the same for each delivery attempt. */
export function webhookPayload(stores: {
  readonly jobs: Pick<JobStore, "get">;
  readonly batches: Pick<BatchStore, "get">;
}): (webhook: WebhookRecord) => Promise<string> {
  return async ({ id, subjectKind, subjectId, endedAtMs }) => {
    const timestamp = presentTime(endedAtMs ?? 0);
    if (subjectKind === "batch") {
      const batch = await stores.batches.get(subjectId);
      if (batch === undefined) throw new Error(`Webhook ${id}: batch ${subjectId} does not exist`);
      const { webhook: _, ...data } = presentBatch({ ...batch, webhook: null });
      return JSON.stringify({ type: "batch.finished", timestamp, data } satisfies z.infer<typeof batchEventSchema>);
    }
    const job = await stores.jobs.get(subjectId);
    if (job === undefined) throw new Error(`Webhook ${id}: job ${subjectId} does not exist`);
    const view = { ...job, waiting: null, webhook: null, placement: null, audit: null };
    const {
      input: _,
      webhook: __,
      waiting: ___,
      placement: ____,
      verification: _____,
      ...detail
    } = presentDetail(view, false);
    const output = await sendableOutput(detail.output);
    const data = { ...detail, output: output ?? null, output_omitted: output === undefined };
    return JSON.stringify({ type: `job.${job.state}`, timestamp, data });
  };
}

/** Returns an output for a webhook; undefined for an output that is too large. */
async function sendableOutput(output: unknown): Promise<unknown> {
  if (output instanceof LargeJson && output.chars > MAX_WEBHOOK_OUTPUT_BYTES) return undefined;
  const value = output instanceof LargeJson ? await output.value() : output;
  return Buffer.byteLength(JSON.stringify(value)) > MAX_WEBHOOK_OUTPUT_BYTES ? undefined : value;
}

export function documentWebhooks(app: HttpApp): void {
  const events = [
    ["job-ended", "jobEnded", "A job with a webhook_url ended", jobEventSchema],
    ["batch-finished", "batchFinished", "All jobs of a batch with a webhook_url ended", batchEventSchema],
  ] as const;
  for (const [name, operationId, summary, schema] of events) {
    app.openAPIRegistry.registerWebhook({
      operationId,
      tags: ["Webhooks" satisfies Tag],
      method: "post",
      path: name,
      summary,
      description:
        "The request is signed according to Standard Webhooks and delivered at least once; a repeat has the same `webhook-id`. Delivery is retried for a day, unless the receiver returns 2xx or 410.",
      request: {
        headers: z.object({
          "webhook-id": z.string(),
          "webhook-timestamp": z.string().describe("Unix time of this delivery attempt, in seconds"),
          "webhook-signature": z.string().describe("`v1,` followed by the HMAC-SHA256 in base64"),
        }),
        body: bodyWithExample({ "application/json": { schema } }, operationId),
      },
      responses: {
        200: { description: "Event received. Any 2xx counts" },
        410: { description: "The receiver wants no further attempts" },
      },
    });
  }
}
