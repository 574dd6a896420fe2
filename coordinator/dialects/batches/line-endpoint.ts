import type { z } from "@hono/zod-openapi";
import { ValidationError } from "../../../shared/errors.ts";
import { assertStructure, validate } from "../../http/middleware/body.ts";
import { checkParameters } from "../../http/openai/parameters.ts";
import type { AnswerDeps, WaitingClient } from "../../http/streaming/waiting-client.ts";

type Answer<Body> = (deps: AnswerDeps, client: WaitingClient, body: Body) => Promise<object | null>;

/** An endpoint as lines of batches ask it: the body of its answer, or null when the line is left. @throws {ServiceError} as the endpoint does */
export type LineEndpoint = Answer<object>;

/** The code that serves an endpoint, for lines of batches. */
export function lineEndpoint<S extends z.ZodType>(schema: S, answer: Answer<z.output<S>>): LineEndpoint {
  return async (deps, client, given) => {
    assertStructure(given);
    if ("stream" in given && given.stream === true) {
      throw new ValidationError([{ path: "stream", message: "answers of batches are not streamed" }]);
    }
    const body = validate(schema, given);
    const ignoredParameters = checkParameters(schema, given, "openai");
    return answer(deps, { ...client, submitter: { ...client.submitter, ignoredParameters } }, body);
  };
}
