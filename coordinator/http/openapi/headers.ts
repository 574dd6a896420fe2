import type { HttpApp } from "../http-deps.ts";

export type HeaderRefs = Record<string, { $ref: string }>;

interface HeaderFacts {
  readonly component: string;
  readonly type: "string" | "integer";
  readonly description: string;
}

const HEADERS = {
  "X-Request-Id": {
    component: "RequestId",
    type: "string",
    description: "Id of the request in the log: the client's `X-Request-Id` if it is valid, otherwise a new one",
  },
  "X-RateLimit-Limit": {
    component: "RateLimit",
    type: "integer",
    description: "Requests that the key or session may send in a minute",
  },
  "X-RateLimit-Remaining": {
    component: "RateLimitRemaining",
    type: "integer",
    description: "Requests left in this minute",
  },
  "X-RateLimit-Reset": {
    component: "RateLimitReset",
    type: "integer",
    description: "Unix time in seconds at which the oldest counted request leaves the window",
  },
  "Atoll-Ignored": {
    component: "Ignored",
    type: "string",
    description: "Paths of the ignored parameters of the request, such as `output_config.effort, tools[8]`",
  },
  "Retry-After": {
    component: "RetryAfter",
    type: "integer",
    description: "Seconds to wait before the next attempt",
  },
  "X-Should-Retry": {
    component: "ShouldRetry",
    type: "string",
    description:
      "`false` means that the same request would fail or be charged again. OpenAI's and Anthropic's clients do not retry it",
  },
  "WWW-Authenticate": { component: "Authenticate", type: "string", description: "The authentication scheme: Bearer" },
} as const satisfies Record<string, HeaderFacts>;
type HeaderName = keyof typeof HEADERS;

const RATE: readonly HeaderName[] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/**
 * Returns the headers of a successful response.
 * @param isKnown Whether the caller has a key or session, whose requests are counted.
 * @param isCompatible Whether the parameters follow OpenAI's or Anthropic's API.
 */
export function headersOf(isKnown: boolean, isCompatible: boolean): HeaderRefs {
  const always = refs(["X-Request-Id", ...(isKnown ? RATE : [])], "");
  return isCompatible ? { ...always, ...refs(["Atoll-Ignored"], "IfKnown") } : always;
}

/** Returns the headers of a failure. `maybe` and the rate limit headers occur only if the caller is known. */
export function failureHeaders(always: readonly HeaderName[], maybe: readonly HeaderName[]): HeaderRefs {
  return { ...refs(["X-Request-Id", ...always], ""), ...refs([...maybe, ...RATE], "IfKnown") };
}

export function registerHeaders(registry: HttpApp["openAPIRegistry"]): void {
  for (const { component, type, description } of Object.values(HEADERS)) {
    const schema = { type, ...(type === "integer" ? { minimum: 0 } : {}) };
    registry.registerComponent("headers", component, { description, required: true, schema });
    registry.registerComponent("headers", `${component}IfKnown`, { description, schema });
  }
}

function refs(names: readonly HeaderName[], suffix: string): HeaderRefs {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${HEADERS[name].component}${suffix}` }]),
  );
}
