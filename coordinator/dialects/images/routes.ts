import { ServiceError } from "../../../shared/errors.ts";
import { findModelFor } from "../../catalog/find-model.ts";
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
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { endedJob } from "../../http/streaming/whole-output.ts";
import { waitingClientOf } from "../../http/streaming/waiting-client.ts";

export const imageRoutes = routeGroup("/images", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("/generations", {
    id: "createImages",
    is: "Generate images from a text",
    about:
      "An image Cargo generates each image as a separate job, one after the other. If the client disconnects, the jobs are cancelled.",
    ...WAITS_FOR_JOBS,
    body: imagesBodySchema,
    answers: { 200: json(imagesSchema, "The images, in the order of their seeds") },
  })(async (call) => {
    const { c, identity, body } = call;
    const { slug, inputSchema } = await findModelFor("image", deps.catalog, body.model, identity.accountId);
    assertSize(body, inputSchema);
    const client = waitingClientOf(call);
    const createdMs = deps.clock.now();
    const images: DrawnImage[] = [];
    for (let index = 0; index < (body.n ?? 1); index += 1) {
      // One after the other: an account's unfinished jobs are few.
      const job = await endedJob(deps, client, { slug, input: imageInputOf(body, index), fieldOf: imageFieldOf });
      if (job === null) return null;
      const image = job.feed.items.findLast(({ type }) => type === "image");
      if (image?.type !== "image") throw new ServiceError("job_failed", "The Cargo made no picture");
      images.push({ data: image.data, usage: job.ending.usage });
    }
    return answerJson(c, identity, presentImages(images, createdMs));
  });
});
