import { JobFailure } from "../../../shared/errors.ts";
import type { FetchPolicy } from "./fetch-policy.ts";
import { describeUrl, type ModelResponse } from "./model-request.ts";
import { parseRetryAfterMs, RetriableError } from "./retriable-error.ts";

const BUSY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Returns the error of a status without content: {@link RetriableError} if a retry may succeed, or a failure. */
export function statusError(url: URL, response: ModelResponse, policy: FetchPolicy, nowMs: number): Error {
  const { status, message } = response;
  const where = describeUrl(url);
  if (status >= 500 || BUSY.has(status)) {
    const retryAfterMs = parseRetryAfterMs(message.headers["retry-after"], nowMs);
    return new RetriableError(`${where} responded with status ${status}`, { retryAfterMs });
  }
  return new JobFailure(
    "model_unavailable",
    `${where} responded with status ${status}${explain(status, url, policy)}`,
    {
      retryable: true,
    },
  );
}

function explain(status: number, url: URL, policy: FetchPolicy): string {
  const isHub = url.origin === policy.hub.origin;
  if (isHub && (status === 401 || status === 403)) {
    return policy.hubToken === null
      ? ": the model does not exist, or it requires a hub token. Set models.hub_token"
      : ": the hub token of this Island has no access to this model. Accept its terms on the hub, or set another models.hub_token";
  }
  if (status === 401 || status === 403) return ": access denied";
  return status === 404 || status === 410 ? ": no such file" : "";
}
