import { submitterOf } from "../../accounts/identity.ts";
import type { FileBatchApi } from "./file-batch-service.ts";
import {
  fileBatchBodySchema,
  fileBatchListQuery,
  fileBatchListSchema,
  fileBatchSchema,
  presentFileBatch,
} from "./schemas.ts";
import { routeGroup, type RouteGroup } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";

/** OpenAI's batches, beside those of `POST /jobs/batch`. */
export const batchRoutes = (fileBatches: FileBatchApi): RouteGroup =>
  routeGroup("/batches", { tag: "Files", style: "openai" }, (routes) => {
    routes.post("", {
      id: "createFileBatch",
      is: "Answer every request of a JSONL file",
      about:
        "As OpenAI's clients do. The file is checked in the background. Each line is a request of the endpoint and becomes its jobs, which wait for Islands as other batch jobs do; results are files. `POST /jobs/batch` submits jobs of one Cargo at once instead.",
      access: "write",
      isCompatible: true,
      body: fileBatchBodySchema,
      answers: { 200: json(fileBatchSchema, "The batch is durable") },
    })(async ({ identity, body }) => {
      const life = body.output_expires_after;
      const batch = await fileBatches.create(identity.accountId, {
        endpoint: body.endpoint,
        inputFileId: body.input_file_id,
        completionWindow: body.completion_window,
        metadata: body.metadata ?? null,
        outputExpiresAfterMs: life == null ? null : life.seconds * 1_000,
        apiKey: submitterOf(identity).apiKey,
      });
      return presentFileBatch(batch);
    });

    routes.get("", {
      id: "listFileBatches",
      is: "List batches over files, newest first",
      access: "read",
      query: fileBatchListQuery,
      answers: { 200: json(fileBatchListSchema, "A page of batches") },
    })(async ({ identity, query }) => {
      const { after: afterId = null, limit } = query;
      // One more tells whether there are more.
      const found = await fileBatches.list(identity.accountId, { afterId, limit: limit + 1 });
      const data = found.slice(0, limit).map(presentFileBatch);
      const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
      return { object: "list" as const, data, first_id, last_id, has_more: found.length > limit };
    });

    routes.get("/{id}", {
      id: "getFileBatch",
      is: "A batch over a file, and how far it is",
      access: "read",
      answers: { 200: json(fileBatchSchema, "The batch") },
      fails: [404],
    })(async ({ identity, params }) => presentFileBatch(await fileBatches.get(identity.accountId, params.id)));

    routes.post("/{id}/cancel", {
      id: "cancelFileBatch",
      is: "Cancel a batch over a file",
      about: "Lines that were answered stay in its files. One that has ended stays as it is.",
      access: "write",
      answers: { 200: json(fileBatchSchema, "The batch, which soon ends") },
      fails: [404],
    })(async ({ identity, params }) => presentFileBatch(await fileBatches.cancel(identity.accountId, params.id)));
  });
