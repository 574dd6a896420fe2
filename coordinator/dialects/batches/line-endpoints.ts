import type { z } from "@hono/zod-openapi";
import { ValidationError } from "../../../shared/errors.ts";
import type { LineEndpoints } from "./file-batch-deps.ts";
import { answerError } from "../../http/error-answers.ts";
import { assertStructure, validate } from "../../http/middleware/body.ts";
import { checkParameters } from "../../http/openai/parameters.ts";
import { answerChat } from "../../http/routes/chat.ts";
import { answerCompletion } from "../completions/routes.ts";
import { answerEmbeddings } from "../embeddings/routes.ts";
import { answerModeration } from "../moderations/routes.ts";
import { answerResponse } from "../responses/routes.ts";
import { answerReranking } from "../rerank/routes.ts";
import { chatBodySchema } from "../../http/schemas/chat-schemas.ts";
import { embeddingsBodySchema } from "../embeddings/schemas.ts";
import { responseBodySchema } from "../responses/schemas.ts";
import { moderationBodySchema } from "../moderations/schemas.ts";
import { rerankBodySchema } from "../rerank/schemas.ts";
import { textCompletionBodySchema } from "../completions/schemas.ts";
import type { AnswerDeps, WaitingClient } from "../../http/streaming/waiting-client.ts";

type Endpoint = (deps: AnswerDeps, client: WaitingClient, given: object) => Promise<object | null>;

/** By their paths, as lines of batches name them. */
const ENDPOINTS = new Map<string, Endpoint>([
  ["/v1/chat/completions", endpoint(chatBodySchema, answerChat)],
  ["/v1/completions", endpoint(textCompletionBodySchema, answerCompletion)],
  ["/v1/embeddings", endpoint(embeddingsBodySchema, answerEmbeddings)],
  ["/v1/moderations", endpoint(moderationBodySchema, answerModeration)],
  ["/v1/responses", endpoint(responseBodySchema, answerResponse, refuseForLaterUse)],
  ["/v1/rerank", endpoint(rerankBodySchema, answerReranking)],
]);

/** The endpoints that lines of batches may ask, checked and answered by the code that serves them. */
export function lineEndpoints(deps: Omit<AnswerDeps, "jobs">): LineEndpoints {
  return {
    paths: [...ENDPOINTS.keys()],
    async answer({ endpoint: path, body, submitter, jobs, gone }) {
      assertStructure(body);
      if ("stream" in body && body.stream === true) {
        throw new ValidationError([{ path: "stream", message: "answers of batches are not streamed" }]);
      }
      const answer = ENDPOINTS.get(path);
      if (answer === undefined) throw new Error(`Batches have no endpoint ${path}`);
      return answer({ ...deps, jobs }, { submitter, gone }, body);
    },
    refusalOf: (thrown, requestId) => answerError(thrown, { requestId, style: "openai", isVendorBase: true }),
  };
}

function endpoint<S extends z.ZodType>(
  schema: S,
  answer: (deps: AnswerDeps, client: WaitingClient, body: z.output<S>) => Promise<object | null>,
  refuse: (body: z.output<S>) => void = () => undefined,
): Endpoint {
  return async (deps, client, given) => {
    const body = validate(schema, given);
    const ignoredParameters = checkParameters(schema, given, "openai");
    refuse(body);
    return answer(deps, { ...client, submitter: { ...client.submitter, ignoredParameters } }, body);
  };
}

/** @throws {ValidationError} for what lines of batches cannot have, as each is by itself and is read again after a crash. */
function refuseForLaterUse(body: z.output<typeof responseBodySchema>): void {
  const refused = {
    previous_response_id: body.previous_response_id == null ? null : "lines of batches have no response before them",
    background: body.background === true ? "batches are in the background already" : null,
    store: body.store === false ? "batches read answers from storage until they have ended" : null,
  };
  const faults = Object.entries(refused).flatMap(([path, message]) => (message === null ? [] : [{ path, message }]));
  if (faults.length > 0) throw new ValidationError(faults);
}
