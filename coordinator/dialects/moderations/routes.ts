import type { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { taskOf } from "../../../shared/text-task.ts";
import { findModelFor, type ModelNeed } from "../../catalog/find-model.ts";
import { labelsOf, moderatedTexts, moderationBodySchema, moderationSchema, presentModeration } from "./schemas.ts";
import { routeGroup } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { waitingClientOf, type AnswerDeps, type WaitingClient } from "../../http/streaming/waiting-client.ts";
import { inTurns, MOST_AT_ONCE } from "../../http/streaming/in-turns.ts";
import { wholeOutput } from "../../http/streaming/whole-output.ts";

const CLASSIFIES: ModelNeed = {
  isMet: (cargo) => taskOf(cargo) === "text-classification",
  defaultIn: (catalog) => catalog.defaultSlug("moderation"),
  verb: "classify texts",
};

/** Labels to ask a Cargo for: all of any moderation model. The runtime gives at most 100. */
const MAX_LABELS = 100;

export const moderationRoutes = routeGroup("/moderations", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createModeration",
    is: "Classify texts by OpenAI's categories of harm",
    about:
      "By a Cargo that classifies texts: one job for each text, a few at once. Like a chat they wait for an Island and are cancelled when the client disconnects.",
    access: "write",
    isCompatible: true,
    body: moderationBodySchema,
    answers: { 200: json(moderationSchema, "One result for each text, in the same order") },
    fails: [402, 404, 409],
  })((call) => answerModeration(deps, waitingClientOf(call), call.body));
});

/** The answer, for whoever waits. Null when nobody does any more. @throws {ServiceError} as the endpoint */
export async function answerModeration(
  deps: AnswerDeps,
  client: WaitingClient,
  body: z.output<typeof moderationBodySchema>,
) {
  const { slug } = await findModelFor(CLASSIFIES, deps.catalog, body.model, client.submitter.accountId);
  const made = await inTurns(moderatedTexts(body), MOST_AT_ONCE, client.gone, async (text, number, gone) => {
    const fieldOf = (): string => (typeof body.input === "string" ? "input" : `input.${number}`);
    const waiting = { ...client, gone };
    const job = await wholeOutput(deps, waiting, { slug, input: { text, top_k: MAX_LABELS }, fieldOf });
    if (job === null) return null;
    const labels = labelsOf(job.output);
    if (labels === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a list of labels");
    return { jobId: job.jobId, result: presentModeration(labels) };
  });
  if (made === null) return null;
  return { id: made[0]?.jobId ?? "", model: slug, results: made.map(({ result }) => result) };
}
