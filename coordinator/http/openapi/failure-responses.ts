import { z, type RouteConfig } from "@hono/zod-openapi";
import { ERROR_STATUS, LIMIT_NAMES, type ErrorCode } from "../../../shared/errors.ts";
import { anthropicType, codeIn, openAiType, type ErrorStyle } from "../error-responses.ts";
import type { HttpApp } from "../http-deps.ts";
import { failureHeaders, type HeaderRefs } from "./headers.ts";

export type FailureStatus = (typeof ERROR_STATUS)[ErrorCode] | 409;

const MEANINGS: Readonly<Record<FailureStatus, string>> = {
  400: "The request cannot be read",
  401: "The API key or session token is missing or invalid",
  402: "The account does not have enough credits, or the API key has reached its monthly limit",
  403: "The key lacks the scope or may not run the Cargo, the caller is not an operator, or the operator disabled the operation or suspended the account",
  404: "The object does not exist, or belongs to another account",
  409: "The job was cancelled while its client waited",
  410: "The content was permanently removed, by its owner or at the end of the operator's retention period",
  413: "The body is larger than 1 MB, a file is too large, or the account's file budget is used up",
  422: "A field is invalid (`details` names each), or the current state does not allow the request",
  429: "Rate limit exceeded; `limit` names the limit and `retry_after` gives the seconds to wait",
  500: "Internal error, or the job failed",
  503: "Temporarily unavailable",
  507: "The coordinator's disk is full; the operator must free space",
};
/** Error codes of a status that usually have another one: the job was cancelled, or its model could not be fetched. */
const MORE_CODES: Readonly<Partial<Record<FailureStatus, readonly ErrorCode[]>>> = {
  409: ["job_failed"],
  503: ["job_failed"],
};
const PREFIXES: Readonly<Record<ErrorStyle, string>> = { plain: "", openai: "OpenAi", anthropic: "Anthropic" };
const STYLES = Object.keys(PREFIXES) as ErrorStyle[];
const STATUSES = Object.keys(MEANINGS).map(Number) as FailureStatus[];

const fieldErrorSchema = z.object({
  path: z.string().describe('Path of the field, such as "messages.0.role"; empty for the whole body'),
  message: z.string(),
});
const retryAfterSchema = z.int().min(1).describe("Seconds to wait, as in `Retry-After`");

const JOB_FAILURE = {
  job_error: z.string().optional().describe("`error.code` of the job, if a job failed"),
  retryable: z.boolean().optional().describe("Whether another attempt may succeed, if a job failed"),
};

/** Members of `error` besides message and code, by status. */
const EXTRAS: Readonly<Partial<Record<FailureStatus, z.ZodRawShape>>> = {
  402: {
    required_credits: z.number().optional().describe("Total cost of the request's jobs"),
    balance_credits: z.number().optional().describe("Credits that the account may spend"),
    remaining_credits: z
      .number()
      .optional()
      .describe("Credits that the API key may still spend this month; only with `key_credits_exceeded`"),
    renews_at: z.iso
      .datetime()
      .optional()
      .describe("When the API key's next month begins; only with `key_credits_exceeded`"),
  },
  409: JOB_FAILURE,
  422: { details: z.array(fieldErrorSchema).optional() },
  429: { retry_after: retryAfterSchema, limit: z.enum(LIMIT_NAMES) },
  500: {
    request_id: z.string().optional().describe("Id of the request in the operator's log, for an internal error"),
    ...JOB_FAILURE,
  },
  503: { retry_after: retryAfterSchema.optional(), ...JOB_FAILURE },
};

const FINAL = failureHeaders(["X-Should-Retry"], []);
/** Headers of a failure by status. Default: {@link FINAL}. */
const HEADERS: Readonly<Partial<Record<FailureStatus, HeaderRefs>>> = {
  401: failureHeaders(["WWW-Authenticate", "X-Should-Retry"], []),
  429: failureHeaders(["Retry-After"], []),
  500: failureHeaders([], ["X-Should-Retry"]),
  503: failureHeaders([], ["Retry-After", "X-Should-Retry"]),
  507: failureHeaders([], []),
};

/** Returns references to the components that {@link registerFailures} registers. */
export function failureResponses(statuses: readonly FailureStatus[], style: ErrorStyle): RouteConfig["responses"] {
  return Object.fromEntries(
    [...new Set(statuses)]
      .sort((a, b) => a - b)
      .map((status) => [status, { $ref: `#/components/responses/${nameOf(status, style)}` }]),
  );
}

export function registerFailures(registry: HttpApp["openAPIRegistry"]): void {
  for (const style of STYLES) {
    for (const status of STATUSES) {
      const name = nameOf(status, style);
      registry.register(name, errorSchema(status, style));
      registry.registerComponent("responses", name, {
        description: `${MEANINGS[status]}. Codes: ${codesOf(status, style).join(", ")}`,
        headers: { ...(HEADERS[status] ?? FINAL) },
        content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } },
      });
    }
  }
}

function nameOf(status: FailureStatus, style: ErrorStyle): string {
  return `${PREFIXES[style]}Error${status}`;
}

function codesOf(status: FailureStatus, style: ErrorStyle): ErrorCode[] {
  const all = (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => ERROR_STATUS[code] === status);
  const codes = all.filter((code) => codeIn(style, code) === code && (style !== "plain" || code !== "model_not_found"));
  return [...codes, ...(MORE_CODES[status] ?? [])];
}

function errorSchema(status: FailureStatus, style: ErrorStyle) {
  const error = z.object({
    message: z.string(),
    ...(style === "openai" ? { type: z.literal(openAiType(status)), param: z.string().nullable() } : {}),
    ...(style === "anthropic" ? { type: z.literal(anthropicType(status)) } : {}),
    code: z.enum(codesOf(status, style)),
    ...EXTRAS[status],
  });
  return style === "anthropic"
    ? z.object({ type: z.literal("error"), error, request_id: z.string() })
    : z.object({ error });
}
