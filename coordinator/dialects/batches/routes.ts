import { submitterOf } from "../../accounts/identity.ts";
import type { Batches } from "./open-batches.ts";
import { batchBodySchema, batchListQuery, batchListSchema, batchSchema, presentBatch } from "./schemas.ts";
import { routeGroup, type RouteGroup } from "../../http/route-group.ts";
import { presentOpenAiPage } from "../../http/schemas/pagination.ts";
import { json } from "../../http/schemas/responses.ts";

/** OpenAI's batches, beside those of `POST /jobs/batch`. */
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
      answers: { 200: json(batchSchema, "The batch is stored durably") },
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
      answers: { 200: json(batchListSchema, "A page of batches") },
    })(async ({ identity, query }) => {
      const { after: afterId = null, limit } = query;
      // One more tells whether there are more.
      const found = await batches.list(identity.accountId, { afterId, limit: limit + 1 });
      return presentOpenAiPage(found.map(presentBatch), limit);
    });

    routes.get("/{id}", {
      id: "getFileBatch",
      is: "Get a batch and its progress",
      access: "read",
      answers: { 200: json(batchSchema, "The batch") },
      fails: [404],
    })(async ({ identity, params }) => presentBatch(await batches.get(identity.accountId, params.id)));

    routes.post("/{id}/cancel", {
      id: "cancelFileBatch",
      is: "Cancel a batch",
      about: "Results of finished lines stay in the result files. No-op if the batch has ended.",
      access: "write",
      answers: {
        200: json(batchSchema, "The batch, whose status is `cancelling`, or its final status if it had ended"),
      },
      fails: [404],
    })(async ({ identity, params }) => presentBatch(await batches.cancel(identity.accountId, params.id)));
  });
