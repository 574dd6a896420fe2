import { ServiceError } from "../../../shared/errors.ts";
import { findModelFor, type ModelNeed } from "../../catalog/find-model.ts";
import { modelKindOf } from "../../catalog/model-kind.ts";
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
import { routeGroup } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { endedJob } from "../../http/streaming/whole-output.ts";
import { waitingClientOf } from "../../http/streaming/waiting-client.ts";

const DRAWS: ModelNeed = {
  isMet: (cargo) => modelKindOf(cargo) === "image",
  defaultIn: (catalog) => catalog.defaultSlug("image"),
  verb: "draw pictures",
};

export const imageRoutes = routeGroup("/images", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("/generations", {
    id: "createImages",
    is: "Draw pictures from a text",
    about:
      "In OpenAI's shape, by a Cargo that draws: one job for each picture, one after the other. Like a chat they wait for an Island and are cancelled when the client disconnects.",
    access: "write",
    isCompatible: true,
    body: imagesBodySchema,
    answers: { 200: json(imagesSchema, "The pictures, in the order of their seeds") },
    fails: [402, 404, 409],
  })(async (call) => {
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
      if (job === null) return null;
      const image = job.feed.items.findLast(({ type }) => type === "image");
      if (image?.type !== "image") throw new ServiceError("job_failed", "The Cargo made no picture");
      images.push({ data: image.data, usage: job.ending.usage });
    }
    return answerJson(c, identity, presentImages(images, createdMs));
  });
});
