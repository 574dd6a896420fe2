import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { findModelFor, type ModelNeed } from "../../catalog/find-model.ts";
import { modelKindOf } from "../../catalog/model-kind.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../../http/http-deps.ts";
import { serveCompatible } from "../../http/middleware/endpoint.ts";
import { answerJson } from "../../http/middleware/json-answer.ts";
import {
  assertSize,
  imageFieldOf,
  imageInputOf,
  imagesBodySchema,
  imagesSchema,
  presentImages,
  type DrawnImage,
} from "./schemas.ts";
import { failures, json, jsonBody } from "../../http/schemas/responses.ts";
import { endedJob } from "../../http/streaming/whole-output.ts";
import { waitingClientOf } from "../../http/streaming/waiting-client.ts";

const DRAWS: ModelNeed = {
  isMet: (cargo) => modelKindOf(cargo) === "image",
  defaultIn: (catalog) => catalog.defaultSlug("image"),
  verb: "draw pictures",
};

const imagesRoute = createRoute({
  operationId: "createImages",
  method: "post",
  path: `${API_BASE}/images/generations`,
  summary: "Draw pictures from a text",
  description:
    "In OpenAI's shape, by a Cargo that draws: one job for each picture, one after the other. Like a chat they wait for an Island and are cancelled when the client disconnects.",
  request: jsonBody(imagesBodySchema),
  responses: { 200: json(imagesSchema, "The pictures, in the order of their seeds"), ...failures(402, 404, 409) },
});

export function serveImages(app: HttpApp, deps: HttpDeps): void {
  serveCompatible(app, deps, imagesRoute, async (call) => {
    const { c, identity, body } = call;
    const { slug, inputSchema } = await findModelFor(DRAWS, deps.catalog, body.model, identity.accountId);
    assertSize(body, inputSchema);
    const client = waitingClientOf(call);
    const createdMs = deps.clock.now();
    const images: DrawnImage[] = [];
    for (let index = 0; index < (body.n ?? 1); index += 1) {
      // One after the other: an account's unfinished jobs are few.
      // oxlint-disable-next-line no-await-in-loop
      const job = await endedJob(deps, client, { slug, input: imageInputOf(body, index), fieldOf: imageFieldOf });
      if (job === null) return RESPONSE_ALREADY_SENT;
      const image = job.feed.items.findLast(({ type }) => type === "image");
      if (image?.type !== "image") throw new ServiceError("job_failed", "The Cargo made no picture");
      images.push({ data: image.data, usage: job.ending.usage });
    }
    return answerJson(c, identity, presentImages(images, createdMs));
  });
}
