import { createRoute, z } from "@hono/zod-openapi";
import { ISLAND_FILES_PATH } from "../../../shared/job-files.ts";
import { grantQuerySchema } from "../../files/file-grants.ts";
import type { HttpApp, HttpDeps } from "../http-deps.ts";
import { islandOwnerOf } from "../middleware/auth.ts";
import { servePublic } from "../middleware/endpoint.ts";
import { failures } from "../schemas/responses.ts";
import { sendFile } from "../server/send-file.ts";

const binary = { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } };

const islandFileRoute = createRoute({
  operationId: "getIslandFile",
  method: "get",
  path: `${ISLAND_FILES_PATH}{id}`,
  summary: "A file of a job, for the Island that runs it",
  description:
    "`assign` has the whole address, signed for one attempt on one Island. Needs the token of its owner in place of a key: `Authorization: Bearer it_…`. With Range.",
  request: { params: z.object({ id: z.string() }), query: grantQuerySchema },
  responses: {
    200: { description: "The content", content: binary },
    206: { description: "The part that Range names", content: binary },
    304: { description: "Of If-None-Match or If-Modified-Since: the client has it already" },
    412: { description: "If-Match or If-Unmodified-Since does not hold" },
    416: { description: "No part of the content is in Range" },
    ...failures(401, 404, 503),
  },
});

export function serveIslandFiles(app: HttpApp, { accounts, files }: HttpDeps): void {
  servePublic(app, islandFileRoute, async ({ c, params, query }) => {
    const { accountId } = await islandOwnerOf(c.env.incoming, accounts.islandTokens);
    const { job: jobId, attempt, host_id: hostId, expires: expiresAtMs, signature } = query;
    const grant = { fileId: params.id, jobId, attempt, hostId, accountId, expiresAtMs };
    const { file, root, name } = await files.grantedContent(grant, signature);
    return sendFile(c.env, {
      root,
      name,
      headers: {
        ETag: `"${file.sha256}"`,
        // Not that of the content, which another account may have brought before.
        "Last-Modified": new Date(file.createdAtMs).toUTCString(),
        "Content-Type": "application/octet-stream",
        "Cache-Control": "private, no-store",
      },
      missing: "No job has the file for this Island now",
    });
  });
}
