import { ServiceError } from "../../../shared/errors.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import {
  labelsOf,
  moderatedTexts,
  moderationBodySchema,
  moderationSchema,
  presentModeration,
  type ModerationBody,
} from "./schemas.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import { mapWithConcurrency, MAX_CONCURRENCY } from "../../http/streaming/map-with-concurrency.ts";
import { runForOutput } from "../../http/streaming/whole-output.ts";

/** Number of labels to request: all labels of any moderation model. The runtime returns at most 100. */
const MAX_LABELS = 100;

export const moderationRoutes = routeGroup("/moderations", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createModeration",
    is: "Classify texts by OpenAI's moderation categories",
    about:
      "A text classification Cargo scores each text. Each text is a job, and four run at once. If the client disconnects, the jobs are cancelled.",
    ...WAITS_FOR_JOBS,
    body: moderationBodySchema,
    responses: { 200: json(moderationSchema, "One result for each text, in the same order") },
  })((call) => answerModeration(deps, requestContextOf(call), call.body));
});

/**
 * Runs a moderation and returns the response. Null if the client has disconnected.
 * @throws {ServiceError} as the endpoint
 */
export async function answerModeration(deps: JobRunDeps, client: RequestContext, body: ModerationBody) {
  const { slug } = await findModelFor("moderation", deps.catalog, body.model, client.submitter.accountId);
  const made = await mapWithConcurrency(
    moderatedTexts(body),
    MAX_CONCURRENCY,
    client.signal,
    async (text, number, signal) => {
      const fieldOf = (): string => (typeof body.input === "string" ? "input" : `input.${number}`);
      const waiting = { ...client, signal };
      const job = await runForOutput(deps, waiting, { slug, input: { text, top_k: MAX_LABELS }, fieldOf });
      if (job === null) return null;
      const labels = labelsOf(job.output);
      if (labels === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a list of labels");
      return { jobId: job.jobId, result: presentModeration(labels) };
    },
  );
  if (made === null) return null;
  return { id: made[0]?.jobId ?? "", model: slug, results: made.map(({ result }) => result) };
}
